"""Judges mutants of real files for ci/mutants, which describes the options."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from corpus_parse import WRONG, parse, spread
from corpus_parse import grammar as grammar_of

GRAMJET = os.environ["GRAMJET"]
ROOT = pathlib.Path(__file__).resolve().parents[1]
LEAST = 95

# The judge's options: of mutants only the syntax is asked.
OPTIONS = {
    "c": ["--syntax"],
    "cookie": ["--loose"],
    "cron": ["--syntax"],
    "css": ["--syntax"],
    "csv": ["--syntax"],
    "date_time": ["--syntax"],
    "diff": ["--hunks"],
    "glob": ["--syntax"],
    "http": ["--llhttp"],
    "imf": ["--structure"],
    "ini": ["--syntax"],
    "java": ["--syntax"],
    "javascript": ["--syntax"],
    "latex_math": ["--loose"],
    "nginx": ["--syntax"],
    "protobuf": ["--syntax"],
    "python": ["--syntax"],
    "sql": ["--syntax"],
    "svg": ["--form"],
    "toml": ["--syntax"],
    "wkt": ["--syntax"],
    "xml": ["--no-namespaces"],
    "xpath": ["--syntax"],
}
# Files that have a NUL cannot be judged.
BINARY = {"zip"}
PROGRAMS = {".py": ["python3"], ".mjs": ["node"], ".lua": ["lua5.4"], ".scm": ["guile", "--no-auto-compile", "-s"]}


def command(name):
    """The command of the judge."""
    judges = ROOT / "tests" / "judges"
    script = next(path for ending in PROGRAMS if (path := judges / f"{name}_judge{ending}").exists())
    return [*PROGRAMS[script.suffix], str(script), *OPTIONS.get(name, [])]


def judged(name, documents):
    """How many of the documents, NUL-separated, the judge accepts; how many there are; what it says."""
    run = subprocess.run(command(name), input=documents, stdout=subprocess.PIPE)
    said = run.stdout.decode(errors="replace")
    verdict = re.match(r"accepted (\d+) of (\d+)", said)
    if not verdict:
        sys.exit(f"{name}: the judge says nothing of what it accepts: {said}")
    return int(verdict[1]), int(verdict[2]), said


def accepted(name, files):
    """The files that the judge accepts. Those that have a NUL cannot be judged."""
    texts = {file: pathlib.Path(file).read_bytes() for file in files}
    return halves(name, [file for file in files if b"\0" not in texts[file]], texts)


def halves(name, files, texts):
    if not files:
        return []
    good, _, _ = judged(name, b"".join(texts[file] + b"\0" for file in files))
    if good in (0, len(files)):
        return files if good else []
    middle = len(files) // 2
    return halves(name, files[:middle], texts) + halves(name, files[middle:], texts)


def conforming(name, grammar, most):
    """Files of the corpus that conform and are accepted."""
    run = subprocess.run([str(ROOT / "ci" / "corpus"), "--files", name], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{name}: ci/corpus --files failed")
    # Some are not accepted, so a few more are asked about.
    files = spread(run.stdout.splitlines(), most + most // 5)
    messages, _ = parse(grammar, files)
    wrong = {found[1].decode() for line in messages.splitlines() if (found := WRONG.match(line))}
    return spread(accepted(name, [file for file in files if file not in wrong]), most)


def mutants(grammar, files, count, seed):
    with tempfile.NamedTemporaryFile() as output:
        options = ["-n", str(count), "--seed", str(seed), "--separator", "nul", "-o", output.name]
        subprocess.run([GRAMJET, "mutate", grammar, *files, *options], check=True)
        return output.read()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--grammar")
    arguments.add_argument("--files", type=int, default=100)
    arguments.add_argument("--count", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--show", type=int, default=0)
    arguments.add_argument("--table", action="store_true")
    args = arguments.parse_args()
    is_low = False
    corpora = {path.name for path in (ROOT / "ci" / "corpus.d").iterdir()}
    for name in args.names or sorted(corpora - BINARY):
        grammar = args.grammar or grammar_of(name)
        files = conforming(name, grammar, args.files)
        if not files:
            sys.exit(f"{name}: no file conforms and is accepted")
        good, count, said = judged(name, mutants(grammar, files, args.count, args.seed))
        share = 100 * good / count
        is_low |= share < LEAST
        line = f"| `{name}` | {len(files)} | {count} | {share:.1f} % |" if args.table else (
            f"{name}: {good} of {count} mutants of {len(files)} files are accepted ({share:.1f} %)")
        print(line, flush=True)
        for rejection in said.split("\n--- ")[1 : args.show + 1]:
            print(rejection, flush=True)
    sys.exit(is_low)


if __name__ == "__main__":
    main()
