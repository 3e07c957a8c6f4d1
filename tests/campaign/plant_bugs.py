#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of planted_bugs.txt in a copy of the tree and reports which of them no test detects.

All bugs are compiled at once; an environment variable selects one at run time, so that each bug costs one run of its
tests. `--check` only checks that the list matches the tree."""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).resolve().with_name("planted_bugs.txt")
SWITCH = """#pragma once
#include <cstdlib>
#include <type_traits>
inline unsigned long attnscope_planted_bug() {
  static const unsigned long bug = [] {
    const char* text = std::getenv("ATTNSCOPE_PLANTED_BUG");
    return text == nullptr ? 0UL : std::strtoul(text, nullptr, 10);
  }();
  return bug;
}
constexpr bool attnscope_planted(unsigned long bug) {
  return !std::is_constant_evaluated() && attnscope_planted_bug() == bug;
}
"""


@dataclasses.dataclass
class Bug:
    file: str
    text: str  # the code to replace is between « and »
    wrong: str
    programs: list  # test programs, most specific first
    filter: str  # tests of the first program to run first
    built_separately: bool  # neither expression nor statement: built separately
    list_line: int
    begin: int = 0
    end: int = 0
    line: int = 0

    @property
    def id(self):
        return zlib.crc32(f"{self.file}\n{self.text}\n{self.wrong}".encode())

    @property
    def location(self):
        return f"{self.file}:{self.line}"

    @property
    def description(self):
        return f"{re.search('«(.*)»', self.text).group(1)}  ->  {self.wrong}"


def read_list(path=LIST):
    bugs, programs, built_separately, file, tests, text = [], [], False, None, "", None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(("== ", "=! ")):
            programs, built_separately = line[3:].split(), line.startswith("=!")
        elif not line.startswith(" "):
            file, _, tests = line.partition(" ")
        elif text is None:
            text = line.strip()
        else:
            bugs.append(Bug(file, text, line.strip(), programs, tests.strip(), built_separately, number - 1))
            text = None
    return bugs


def make_pattern(text):
    """Returns a pattern that ignores line breaks."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


def find_all(bugs, list_name=LIST.name):
    """Locates each bug in the sources; returns the errors of the list."""
    wrong, sources, seen = [], {}, set()
    for bug in bugs:
        def add_error(problem):
            wrong.append(f"{list_name}:{bug.list_line}: {bug.file}: {problem}: {bug.text}")
        if bug.text.count("«") != 1 or bug.text.count("»") != 1:
            add_error("needs one piece between « and »")
            continue
        if bug.id in seen:
            add_error("planted twice")
        seen.add(bug.id)
        path = ROOT / bug.file
        if bug.file not in sources:
            sources[bug.file] = path.read_text(encoding="utf-8") if path.is_file() else None
        source = sources[bug.file]
        if source is None:
            add_error("file not found")
            continue
        before, piece, after = re.split("[«»]", bug.text)
        found = list(re.finditer(f"{make_pattern(before)}({make_pattern(piece)}){make_pattern(after)}", source))
        if len(found) != 1:
            add_error(f"the text is found {len(found)} times")
            continue
        bug.begin, bug.end = found[0].span(1)
        bug.line = source.count("\n", 0, bug.begin) + 1
    return wrong


def add_switches(source, bugs):
    """Returns the source with all bugs of the file, each behind a switch."""
    last = len(source)
    for bug in sorted(bugs, key=lambda bug: -bug.begin):
        if bug.end > last:
            sys.exit(f"{bug.location}: overlaps the next bug: {bug.text}")
        original, ask = source[bug.begin:bug.end], f"::attnscope_planted({bug.id}UL)"
        if original.endswith(";"):
            both = f"if ({ask}) {{ {bug.wrong} }} else {{ {original} }}"
        else:
            both = f"({ask} ? ({bug.wrong}) : ({original}))"
        source, last = source[:bug.begin] + both + source[bug.end:], bug.begin
    return '#include "planted.h"  ' + source


def write_if_changed(path, content):
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy_tree(tree, bugs):
    """Copies all files of the working tree with the bugs; unchanged files keep their time stamps."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.splitlines()
    names = {name for name in names if (ROOT / name).is_file()}
    for name in names:
        here = [bug for bug in bugs if bug.file == name and not bug.built_separately]
        content = (ROOT / name).read_bytes()
        write_if_changed(tree / name, add_switches(content.decode(), here).encode() if here else content)
    write_if_changed(tree / "planted.h", SWITCH.encode())
    for path in tree.rglob("*"):
        name = str(path.relative_to(tree))
        if path.is_file() and not name.startswith("build/") and name not in names | {"planted.h"}:
            path.unlink()


def build(tree, objects, programs, jobs):
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    if not (objects / "build.ninja").is_file():
        subprocess.run(["cmake", "-S", tree, "-B", objects, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DATTNSCOPE_TESTS=ON"], **quiet)
    subprocess.run(["cmake", "--build", objects, "-j", str(jobs), "--target", *sorted(programs)], check=True,
                   stdout=sys.stderr)


class TestRunner:
    def __init__(self, objects, timeout, named):
        self.objects, self.timeout, self.named, self.passes_unmodified = objects, timeout, named, {}

    def run(self, program, tests, bug):
        """Returns the exit status (None after a timeout) and the first failed test."""
        [path] = [path for path in (self.objects / "tests").rglob(program) if path.is_file()]
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "ATTNSCOPE_PLANTED_BUG": str(bug)}
        command = [path, "--gtest_fail_fast", "--gtest_brief=1", "--gtest_color=no"]
        if tests:
            command.append(f"--gtest_filter={tests}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.timeout)
            except subprocess.TimeoutExpired:
                return None, ""
        failed = re.search(r"\[  FAILED  \] ([\w/]+\.[\w/]+)", done.stdout.decode(errors="replace"))
        return done.returncode, failed.group(1) if failed else ""

    @staticmethod
    def all_tests(bug):
        return [(program, "") for program in bug.programs]

    def find_detecting_test(self, bug):
        """Returns the test that detects the bug; empty if none does."""
        named = [(bug.programs[0], bug.filter)] if bug.filter else []
        for program, tests in named or self.all_tests(bug) if self.named else [*named, *self.all_tests(bug)]:
            status, failed = self.run(program, tests, bug.id)
            if status == 0:
                continue
            key = (program, failed or tests)
            if key not in self.passes_unmodified:
                self.passes_unmodified[key] = self.run(*key, 0)[0] == 0
            if not self.passes_unmodified[key]:
                sys.exit(f"{program} {key[1]}: fails without a bug or exceeds --limit")
            return failed or f"{program} ({'too long' if status is None else f'status {status}'})"
        return ""


def report(bug, detected_by, seconds):
    how = f"killed by {detected_by}" if detected_by else "SURVIVED"
    print(f"{bug.location}: {bug.description}\n    {how} ({seconds:.1f} s)", flush=True)


def test_bugs(bugs, bugs_to_build, options):
    tree, jobs = options.build.resolve(), options.jobs
    objects = tree / "build" / "objects"  # same depth as other builds, for ccache
    begin = time.monotonic()
    copy_tree(tree, bugs_to_build)
    build(tree, objects, {program for bug in bugs for program in bug.programs}, jobs)
    print(f"built in {time.monotonic() - begin:.0f} s", flush=True)
    runner, survivors = TestRunner(objects, options.limit, options.named), []

    def test_bug(bug):
        begin = time.monotonic()
        detected_by = runner.find_detecting_test(bug)
        report(bug, detected_by, time.monotonic() - begin)
        if not detected_by:
            survivors.append(bug)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(test_bug, [bug for bug in bugs if not bug.built_separately]))
    for bug in [bug for bug in bugs if bug.built_separately]:
        path = tree / bug.file
        content = path.read_text(encoding="utf-8")
        before, piece, after = re.split("[«»]", bug.text)
        path.write_text(re.sub(f"({make_pattern(before)}){make_pattern(piece)}({make_pattern(after)})",
                               lambda found: found[1] + bug.wrong + found[2], content), encoding="utf-8")
        try:
            build(tree, objects, bug.programs, jobs)
            test_bug(bug)
        finally:
            path.write_text(content, encoding="utf-8")
    return survivors


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="only check that each text occurs once in the tree")
    arguments.add_argument("--only", default="", metavar="TEXT", help="bugs whose file, text or program contains TEXT")
    arguments.add_argument("--named", action="store_true", help="run only the tests named in the list")
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "planted", metavar="FOLDER")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="time limit of a test program")
    arguments.add_argument("--least", type=float, default=85, metavar="PERCENT", help="minimum share of detected bugs")
    options = arguments.parse_args()
    bugs = read_list()
    if wrong := find_all(bugs):
        print("\n".join(wrong), file=sys.stderr)
        return 2
    if options.check:
        print(f"{len(bugs)} bugs, each found once")
        return 0
    all_bugs = bugs
    bugs = [bug for bug in bugs if options.only in " ".join([bug.file, bug.text, bug.programs[0]])]
    if not bugs:
        sys.exit("no matching bug")
    if not shutil.which("ninja"):
        sys.exit("ninja not found")
    begin = time.monotonic()
    survivors = test_bugs(bugs, all_bugs, options)
    killed = 100 * (len(bugs) - len(survivors)) / len(bugs)
    print(f"\n{len(bugs)} planted, {len(bugs) - len(survivors)} killed ({killed:.1f}%), {len(survivors)} survived, "
          f"in {time.monotonic() - begin:.0f} s")
    for bug in survivors:
        print(f"survived: {bug.location}: {bug.description}")
    return 0 if killed >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
