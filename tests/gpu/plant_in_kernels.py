#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of planted_in_kernels.txt in copies of the program and reports which ones verification misses.

usage: plant_in_kernels.py ATTNSCOPE [--only TEXT] [--jobs N] [--check | --compile]

The program embeds its kernels as source text and compiles them at run time, so a bug is patched into the binary (text no
longer than the original) without a build. First all points run without a bug and must be ok. A bug is found if all of its
points are incorrect; an infeasible point, a crash or a hang does not count. Needs a GPU of compute capability 9.0.
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
SHAPE = ["batch=2", "heads_q=4", "heads_kv=2"]  # so that a wrong batch entry, head or group changes the result
LIMIT = 600  # seconds per call


def find_oversized(bugs):
    return [f"{LIST.name}:{bug.list_line + 1}: longer than the text that it replaces: {bug.wrong}" for bug in bugs
            if len(bug.wrong) > bug.end - bug.begin]


def patch_program(program, bug):
    """Returns the program with the bug, or None if it was not built from this tree."""
    original = (ROOT / bug.file).read_text(encoding="utf-8")
    wrong = original[:bug.begin] + bug.wrong.ljust(bug.end - bug.begin) + original[bug.end:]
    return program.replace(original.encode(), wrong.encode()) if program.count(original.encode()) == 1 else None


def run_program(folder, *arguments):
    """Returns the table that the program prints and the last line of its stderr."""
    done = subprocess.run([folder / "attnscope", *arguments], cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                          env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")})
    return list(csv.DictReader(io.StringIO(done.stdout))), " ".join(done.stderr.strip().splitlines()[-1:])


def run_points(path, compiling, axes, bug=None):
    """Returns the dispositions of the points (with --compile: the digests of their cubins), or an error line."""
    program = path.read_bytes()
    if bug and not (program := patch_program(program, bug)):
        return "the program embeds another version of this file (rebuild it)"
    axes = [word for axis in SHAPE + axes.split() for word in ("-a", axis)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "attnscope").write_bytes(program)
        (folder / "attnscope").chmod(0o755)
        try:
            if compiling:
                rows, error = run_program(folder, "kernels", "build", "-j", "1", "--format", "csv", *axes)
                errors = [row["error"] for row in rows if row["error"]]
                kernels = (hashlib.sha256(cubin.read_bytes()).hexdigest() for cubin in folder.rglob("*.cubin"))
                return errors[0] if errors else collections.Counter(kernels) or error
            _, error = run_program(folder, "collect", "--device", "gpu", "--no-counters", "--min-samples", "1",
                                "--max-noise", "1", "--quiet", "-o", "run.attnscope", *axes)
            rows, _ = run_program(folder, "export", "run.attnscope", "--format", "csv")
        except subprocess.TimeoutExpired:
            return f"took longer than {LIMIT} s"
    return collections.Counter(row["disposition"] for row in rows if row["kernel"] == "all") or error


def evaluate(compiling, baseline, found):
    """Returns whether the bug was found (with --compile: changed a cubin), and a description."""
    if isinstance(found, str):
        return False, found
    if compiling:
        return bool(found - baseline), f"{len(found - baseline)} of {len(found)} cubins changed"
    return found == {"incorrect": baseline["ok"]}, ", ".join(f"{count} {word}" for word, count in found.items())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("attnscope", type=pathlib.Path, nargs="?")
    arguments.add_argument("--only", default="", metavar="TEXT", help="only bugs whose file, axes or text contains TEXT")
    arguments.add_argument("--jobs", type=int, default=8, help="parallel programs (default: 8); most of the time is compilation")
    arguments.add_argument("--check", action="store_true", help="only check that the list matches the tree")
    arguments.add_argument("--compile", action="store_true", help="only check that each bug compiles; needs no GPU")
    options = arguments.parse_args()
    bugs = plant_bugs.read_list(LIST)
    if wrong := plant_bugs.find_all(bugs, LIST.name) or find_oversized(bugs):
        print("\n".join(wrong), file=sys.stderr)
        return 2
    if options.check:
        print(f"{len(bugs)} bugs, each found once")
        return 0
    bugs = [bug for bug in bugs if options.only in " ".join([bug.file, bug.filter, bug.text])]
    if not bugs or options.attnscope is None:
        sys.exit("no program given" if bugs else "no bug matches --only")
    begin, missed = time.monotonic(), 0
    run = functools.partial(run_points, options.attnscope, options.compile)
    all_axes = list(dict.fromkeys(bug.filter for bug in bugs))
    # Uses processes: with threads, a fork may inherit a program file open for writing, which then cannot be executed.
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        baseline = dict(zip(all_axes, pool.map(run, all_axes)))
        for axes, found in baseline.items():
            if isinstance(found, str) or not options.compile and list(found) != ["ok"]:
                sys.exit(f"without a bug: {axes}: {found}")
        for bug, found in zip(bugs, pool.map(run, (bug.filter for bug in bugs), bugs)):
            detected, how = evaluate(options.compile, baseline[bug.filter], found)
            missed += not detected
            print(f"{bug.location}: {bug.description}\n    {'' if detected else 'MISSED: '}{how}", flush=True)
    print(f"\n{len(bugs)} planted, {len(bugs) - missed} found, in {time.monotonic() - begin:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
