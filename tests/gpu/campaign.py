#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stress test of `attnscope collect` on a GPU:
  tests/gpu/campaign.py ATTNSCOPE [--minutes 5] [--seed N] [--keep FOLDER]
Covers kills at random times (every printed point is in the file, and a resumed run is complete), launches that time out,
points that exceed device memory, two collectors on one file, and two that use counters concurrently. Failing cases are
listed with their seed and their files are kept; exit status 1. Needs a GPU, and counters if permitted."""
import argparse
import csv
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SWEEP = ["--algorithms", "naive,fa1,fa2", "-a", "N=[256,512,1024,2048]", "-a", "d=[64,128]", "-a", "heads=16", "--no-verify"]
SWEEP_POINTS = 24
OK, ERROR, PARTIAL = 0, 1, 5


class Failure(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failure(message)


class Campaign:
    def __init__(self, program, folder, random_numbers):
        self.program = program
        self.folder = folder
        self.random = random_numbers

    def command(self, file, *arguments):
        return [self.program, "collect", "--device", "gpu", "-o", str(file), *arguments]

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def points(self, file):
        """Returns the rows of the whole points in the file."""
        done = self.run("export", file, "--format", "csv")
        require(done.returncode == OK, f"export ended with {done.returncode}: {done.stderr.strip()}")
        return [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["kernel"] == "all"]

    def check_file(self, file):
        checked = self.run("check", file)
        require(checked.returncode == OK and checked.stdout.strip().endswith(": ok"), f"check failed: {checked.stdout}{checked.stderr}")

    def start(self, file, *arguments):
        return subprocess.Popen(self.command(file, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, start_new_session=True)

    def run_until_killed(self, file, seconds, *arguments):
        """Returns the points that a collector printed before it was killed after `seconds`, and its exit code."""
        collector = self.start(file, *SWEEP, "--jsonl", *arguments)
        try:
            out, _ = collector.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(collector.pid, signal.SIGKILL)  # kills the whole process group
            out, _ = collector.communicate()
        # The last line may be incomplete.
        events = [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]
        return [event for event in events if event["event"] == "point"], collector.returncode

    def kill_and_resume(self, file, usual_seconds):
        printed = 0
        resume = []
        while True:
            points, code = self.run_until_killed(file, self.random.uniform(0, usual_seconds), *resume)
            printed += len(points)
            if file.exists():
                stored = len(self.points(file))
                require(stored >= printed, f"{printed} points were printed, but {stored} are in the file")
                resume = ["--resume"]
            if code == OK:
                break
            require(code == -signal.SIGKILL, f"a collector that was not killed ended with {code}")
        require(len(self.points(file)) == SWEEP_POINTS, "the resumed run is incomplete")
        self.check_file(file)

    def launch_timeouts(self, file, _):
        """Launches that exceed a timeout of 1 ms: the points time out, and the sweep continues."""
        done = subprocess.run(self.command(file, "--algorithms", "naive,fa2", "-a", "N=[256,16384]", "-a", "heads=64", "-a", "d=128",
                                           "--timeout", "0.001", "--no-verify", "--no-counters", "-q"),
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        require(done.returncode == PARTIAL, f"ended with {done.returncode}: {done.stderr}")
        points = self.points(file)
        require(len(points) == 4, f"{len(points)} of 4 points")
        slow = [point for point in points if point["n_q"] == "16384"]
        require(all(point["disposition"] == "timeout" for point in slow), f"slow points are {[point['disposition'] for point in slow]}")
        require(all(not point["device"].lower().startswith("sim") and point["provenance"] == "measured" for point in points),
                "a point was not measured on the GPU")
        self.check_file(file)

    def out_of_memory(self, file, _):
        done = subprocess.run(self.command(file, "--algorithms", "naive,fa2", "-a", "N=[512,65536]", "-a", "heads=128", "--no-verify",
                                           "--no-counters", "-q"), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        require(done.returncode in (OK, PARTIAL), f"ended with {done.returncode}: {done.stderr}")
        found = {(point["algorithm"], point["n_q"]): point for point in self.points(file)}
        require(found["naive", "65536"]["disposition"] == "out-of-memory", "naive did not run out of memory for S of 1 TiB")
        require(found["fa2", "65536"]["disposition"] == "ok" and found["naive", "512"]["disposition"] == "ok", "other points failed as well")
        require("GiB" in found["naive", "65536"]["reason"] or "TiB" in found["naive", "65536"]["reason"], "the reason lacks the size")
        self.check_file(file)

    def two_on_one_file(self, file, _):
        first = self.start(file, *SWEEP, "--jsonl")
        for line in first.stdout:
            if json.loads(line)["event"] == "point":
                break
        second = self.run("collect", "--device", "gpu", "-o", file, *SWEEP, "-q")
        out, err = first.communicate()
        require(second.returncode == ERROR and len(second.stderr.strip().splitlines()) == 1, f"second collector: exit code {second.returncode}: {second.stderr}")
        require(first.returncode in (OK, PARTIAL), f"first collector: exit code {first.returncode}: {err}")
        require(len(self.points(file)) == SWEEP_POINTS or first.returncode == PARTIAL, "first collector: missing points")
        self.check_file(file)

    def two_with_counters(self, file, _):
        """One of them may be denied counters; counted values equal those of a single collector."""
        other = file.with_suffix(".other.attnscope")
        both = [subprocess.Popen(self.command(each, *SWEEP, "-q"), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for each in (file, other)]
        for collector in both:
            _, err = collector.communicate()
            require(collector.returncode in (OK, PARTIAL), f"ended with {collector.returncode}: {err}")
        for each in (file, other):
            points = self.points(each)
            require(len(points) == SWEEP_POINTS, f"{len(points)} points")
            for point in points:
                if point["disposition"] != "ok" or not point["l2_to_sm_bytes"]:
                    continue
                ratio = float(point["l2_to_sm_bytes"]) / float(point["model_l2_to_sm_bytes"])
                require(abs(ratio - 1) < 0.01, f"{point['algorithm']} N {point['n_q']}: {ratio:.4f} x model while another collector counts")
            self.check_file(each)
        other.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("kept-cases"))
    options = parser.parse_args()
    numbers = random.Random(options.seed)
    end = time.monotonic() + 60 * options.minutes
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        campaign = Campaign(options.program, folder, numbers)
        # The first run fills the kernel cache; the duration of the second sets the kill times.
        for attempt in ("warm", "usual"):
            begin = time.monotonic()
            _, code = campaign.run_until_killed(folder / f"{attempt}.attnscope", 600)
            usual = time.monotonic() - begin
            if code != OK:
                sys.exit(f"campaign: a run without kills ended with {code}")
        parts = [campaign.launch_timeouts, campaign.out_of_memory, campaign.two_on_one_file, campaign.two_with_counters]
        done = {}
        for case in range(10**9):
            if case >= len(parts) and time.monotonic() > end:
                break
            part = parts[case] if case < len(parts) else campaign.kill_and_resume
            file = folder / f"{case}.attnscope"
            try:
                part(file, usual)
            except (Failure, KeyError, ValueError) as failure:
                failures += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                for left in folder.glob(f"{case}.*"):
                    shutil.copy(left, options.keep / f"{options.seed}-{left.name}")
                print(f"{part.__name__}, seed {options.seed}, case {case}: {failure}")
            done[part.__name__] = done.get(part.__name__, 0) + 1
            for left in folder.glob(f"{case}.*"):
                left.unlink()
    for part, count in done.items():
        print(f"{part:16} {count}")
    print(f"seed {options.seed}: {sum(done.values())} cases, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
