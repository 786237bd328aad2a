"""Java parsers of ANTLR 4 grammars: ANTLR's tool generates them, the Java compiler compiles them together with the grammars' own
base classes, which the collection keeps in a folder `Java` beside each grammar. Those of an earlier run are kept."""

import hashlib
import re
import select
import shutil
import subprocess
import tempfile

from g4_sample import base_classes


def fresh(folder):
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Builder:
    """A process that makes parsers (G4Build.java), begun when one is needed."""

    # The tool takes seconds for most grammars.
    SECONDS = 300

    def __init__(self, jar, classes, work):
        self.jar, self.classes, self.work = jar, classes, work
        self.process = None

    def start(self):
        # Its messages go to a file: a pipe would not be read while it works.
        self.process = subprocess.Popen(
            ["java", "-Xmx2g", "-Xss256m", "-XX:+UseSerialGC", "-cp", f"{self.jar}:{self.classes}", "G4Build"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=tempfile.TemporaryFile(), text=True)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, fields):
        """The answer to a request."""
        if not self.process:
            self.start()
        self.process.stdin.write("\t".join(str(field) for field in fields) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return line.strip()
        self.stop()
        return "the tool ends" if ready else f"the tool takes more than {self.SECONDS} seconds"

    def digest(self, files, bases):
        """What a parser is made of: the tool, which files it is given, all that they may import, and the base classes."""
        sources = sorted(file for file in files[-1].parent.iterdir() if file.suffix in (".g4", ".tokens"))
        texts = [(file.name, file in files, file.read_bytes()) for file in sources]
        texts += [(file.name, file.read_bytes()) for file in sorted(bases.glob("*.java"))]
        return hashlib.sha256(repr((self.jar.name, texts)).encode()).hexdigest()

    def parser(self, name, files):
        """The folder of the classes, the names of the lexer and of the parser; or None and why there are none."""
        out, bases = self.work / name, base_classes(files[-1].parent)
        made_of, current = out / "digest", self.digest(files, bases)
        if not made_of.exists() or made_of.read_text() != current:
            fresh(out)
            (out / "problem").write_text(self.ask([out, files[-1].parent, bases, *files]))
            made_of.write_text(current)
        problem = (out / "problem").read_text()
        return (None, problem) if problem else ((out / "classes", *recognizers(out / "classes", files)), "")


def recognizers(classes, files):
    """The names of the lexer and of the parser: a combined grammar makes both, others are named by their files."""
    stem = files[-1].stem
    if (classes / f"{stem}.class").exists():
        vocabulary = re.search(r"\btokenVocab\s*=\s*'?(\w+)", files[-1].read_text(encoding="utf-8", errors="replace"))
        lexers = [file.stem for file in files[:-1]]
        named = vocabulary and vocabulary.group(1) in lexers
        return vocabulary.group(1) if named else lexers[0], stem
    return f"{stem}Lexer", f"{stem}Parser"
