#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of planted_in_kernels.txt in copies of the program and says which of them it does not call incorrect.

usage: plant_in_kernels.py ATTNSCOPE [--only TEXT] [--jobs N] [--check | --compile]

The program carries its kernels as text and compiles them when it runs: wrong text no longer than the right one goes in
its place, and nothing is built. First all points run without a bug and must be ok. A bug is found where each of its
points ends as incorrect: one that is refused, crashes or hangs proves nothing. Needs a GPU of compute capability 9.0.
"""
import argparse
import collections
import concurrent.futures
import csv
import functools
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "campaign"))
import plant_bugs

LIST = pathlib.Path(__file__).resolve().with_name("planted_in_kernels.txt")
SHAPE = ["batch=2", "heads_q=4", "heads_kv=2"]  # so that a wrong entry, head or group is another one
LIMIT = 600  # seconds of one call


def too_long(bugs):
    return [f"{LIST.name}:{bug.list_line + 1}: longer than what it replaces: {bug.wrong}" for bug in bugs
            if len(bug.wrong) > bug.end - bug.begin]


def planted(program, bug):
    """The program with the bug; none where it was not built of this tree."""
    right = (ROOT / bug.file).read_text(encoding="utf-8")
    wrong = right[:bug.begin] + bug.wrong.ljust(bug.end - bug.begin) + right[bug.end:]
    return program.replace(right.encode(), wrong.encode()) if program.count(right.encode()) == 1 else None


def call(folder, *arguments):
    """The table that the program in the folder prints, and its last complaint."""
    done = subprocess.run([folder / "attnscope", *arguments], cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                          env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")})
    return list(csv.DictReader(io.StringIO(done.stdout))), " ".join(done.stderr.strip().splitlines()[-1:])


def ends(path, compiling, axes, bug=None):
    """How each of the points ended; compiling, the digests of their kernels. One line where there are none."""
    program = path.read_bytes()
    if bug and not (program := planted(program, bug)):
        return "the program has another text of this file: build it anew"
    axes = [word for axis in SHAPE + axes.split() for word in ("-a", axis)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "attnscope").write_bytes(program)
        (folder / "attnscope").chmod(0o755)
        try:
            if compiling:
                rows, complaint = call(folder, "kernels", "build", "-j", "1", "--format", "csv", *axes)
                errors = [row["error"] for row in rows if row["error"]]
                kernels = (hashlib.sha256(cubin.read_bytes()).hexdigest() for cubin in folder.rglob("*.cubin"))
                return errors[0] if errors else collections.Counter(kernels) or complaint
            _, complaint = call(folder, "collect", "--device", "gpu", "--no-counters", "--min-samples", "1",
                                "--max-noise", "1", "--quiet", "-o", "run.attnscope", *axes)
            rows, _ = call(folder, "export", "run.attnscope", "--format", "csv")
        except subprocess.TimeoutExpired:
            return f"took longer than {LIMIT} s"
    return collections.Counter(row["disposition"] for row in rows if row["kernel"] == "all") or complaint


def judge(compiling, sound, found):
    """Whether the bug was found (compiling: it changes a kernel), and how."""
    if isinstance(found, str):
        return False, found
    if compiling:
        return bool(found - sound), f"{len(found - sound)} of {len(found)} cubins changed"
    return found == {"incorrect": sound["ok"]}, ", ".join(f"{count} {word}" for word, count in found.items())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("attnscope", type=pathlib.Path, nargs="?")
    arguments.add_argument("--only", default="", metavar="TEXT", help="bugs whose file, axes or text has TEXT in it")
    arguments.add_argument("--jobs", type=int, default=8, help="programs at work at once: most of it is compiling")
    arguments.add_argument("--check", action="store_true", help="only look that the list fits the tree")
    arguments.add_argument("--compile", action="store_true", help="only look that each bug compiles; needs no GPU")
    options = arguments.parse_args()
    bugs = plant_bugs.read_list(LIST)
    if wrong := plant_bugs.find_all(bugs, LIST.name) or too_long(bugs):
        print("\n".join(wrong), file=sys.stderr)
        return 2
    if options.check:
        print(f"{len(bugs)} bugs, each found once")
        return 0
    bugs = [bug for bug in bugs if options.only in " ".join([bug.file, bug.filter, bug.text])]
    if not bugs or options.attnscope is None:
        sys.exit("no program is named" if bugs else "no such bug")
    begin, missed = time.monotonic(), 0
    run = functools.partial(ends, options.attnscope, options.compile)
    every = list(dict.fromkeys(bug.filter for bug in bugs))
    # Processes: a thread that starts a program keeps another's copy open for writing, which then cannot be started.
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        sound = dict(zip(every, pool.map(run, every)))
        for axes, found in sound.items():
            if isinstance(found, str) or not options.compile and list(found) != ["ok"]:
                sys.exit(f"without a bug: {axes}: {found}")
        for bug, found in zip(bugs, pool.map(run, (bug.filter for bug in bugs), bugs)):
            good, how = judge(options.compile, sound[bug.filter], found)
            missed += not good
            print(f"{bug.place}: {bug.words}\n    {'' if good else 'MISSED: '}{how}", flush=True)
    print(f"\n{len(bugs)} planted, {len(bugs) - missed} found, in {time.monotonic() - begin:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
