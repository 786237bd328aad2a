"""Parses the files of a grammar's corpus for ci/corpus, which describes the options."""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

GRAMJET = os.environ["GRAMJET"]
# The files of one process: the system limits the length of its arguments.
AT_A_TIME = 500
# A file that is not parsed has a line that begins with its path and a place, or with its path in a failure.
WRONG = re.compile(rb"(?:gramjet: )?(?:cannot read `)?(/.+?)(?::\d+:\d+)?`?: ")


def grammar(name):
    """The grammar of this tree with a name, as an argument of the command."""
    shipped = pathlib.Path("grammars", f"{name}.ebnf")
    return str(shipped if shipped.exists() else name)


def batches(files):
    return [files[first : first + AT_A_TIME] for first in range(0, len(files), AT_A_TIME)]


def spread(files, most):
    """At most this number of files, at equal distances."""
    if most is None or len(files) <= most:
        return files
    return [files[index * len(files) // most] for index in range(most)]


def parse(of, files):
    """The messages about files that do not parse, and the user CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    messages = b""
    for batch in batches(files):
        run = subprocess.run([GRAMJET, "parse", of, *batch], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if run.returncode not in (0, 1):
            sys.exit(f"{of}: gramjet parse failed with status {run.returncode}\n{run.stderr.decode(errors='replace')}")
        messages += run.stderr
    return messages, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def unlike(of, files):
    """The files whose choice bytes do not give them again, and the number of files that have choice bytes."""
    wrong, replayed = [], 0
    for batch in batches(files):
        with tempfile.TemporaryDirectory() as folder:
            # Links with numbers for names, so that the name of each file of choice bytes is known.
            links = [pathlib.Path(folder, str(index)) for index in range(len(batch))]
            for link, file in zip(links, batch):
                link.symlink_to(file)
            command = [GRAMJET, "parse", of, *links, "--choices", "-o", f"{folder}/"]
            if subprocess.run(command, stderr=subprocess.DEVNULL).returncode not in (0, 1):
                sys.exit(f"{of}: gramjet parse --choices failed")
            for link in links:
                choices = link.with_name(link.name + ".choices")
                if choices.exists():
                    replayed += 1
                    run = subprocess.run([GRAMJET, "render", of, choices], stdout=subprocess.PIPE)
                    if run.returncode != 0 or run.stdout != link.read_bytes():
                        wrong.append(str(link.readlink()))
    return wrong, replayed


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("name")
    arguments.add_argument("root", type=pathlib.Path)
    arguments.add_argument("--least", type=float, required=True)
    arguments.add_argument("--errors", type=int, default=3)
    arguments.add_argument("--most", type=int)
    arguments.add_argument("--table", action="store_true")
    arguments.add_argument("--replay", action="store_true")
    args = arguments.parse_args()

    files = spread((args.root / f"{args.name}.list").read_text().splitlines(), args.most)
    if not files:
        sys.exit(f"{args.name}: there are no files")
    size = sum(os.path.getsize(file) for file in files) / 1e6
    messages, took = parse(grammar(args.name), files)
    (args.root / f"{args.name}.errors").write_bytes(messages)
    lines = [line for line in messages.splitlines() if WRONG.match(line)]
    good = len(files) - len(lines)
    share = 100 * good / len(files)
    speed = f"{size / took:.1f}" if size >= 0.1 else ""
    if args.table:
        print(f"| `{args.name}` | {len(files)} | {size:.2f} | {share:.1f} % | {speed} |", flush=True)
    else:
        speed = speed and f" ({speed} MB/s)"
        print(f"{args.name}: {good} of {len(files)} files parse ({share:.1f} %), {size:.2f} MB in {took:.2f} s{speed}", flush=True)
        for line in messages.splitlines()[: args.errors]:
            print(line[:300].decode(errors="replace"))
    is_wrong = share < args.least
    if is_wrong:
        print(f"{args.name}: {share:.1f} % of the files parse, and {args.least:g} % should", file=sys.stderr)
    if args.replay:
        wrong, replayed = unlike(grammar(args.name), files)
        if replayed != good:
            is_wrong = True
            print(f"{args.name}: {good} files parse, and {replayed} have choice bytes", file=sys.stderr)
        for file in wrong:
            is_wrong = True
            print(f"{args.name}: the choice bytes do not give the file again: {file}", file=sys.stderr)
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
