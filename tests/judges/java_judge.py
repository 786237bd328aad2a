"""Judges Java compilation units by javac, which parses and attributes each (`JavaJudge.java`).

With `--syntax`, it parses them only.
"""

import pathlib
import shutil
import subprocess
import sys

from judging import not_installed

if not shutil.which("javac"):
    not_installed("javac (Debian: default-jdk-headless)")
# Units are small: what compiles them need not be compiled well.
OPTIONS = ["-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]

judge = pathlib.Path(__file__).with_name("JavaJudge.java")
sys.exit(subprocess.run(["java", *OPTIONS, str(judge), *sys.argv[1:]]).returncode)
