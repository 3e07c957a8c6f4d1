#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Python package on a GPU: prints a line per claim, and fails if one does not hold.

  PYTHONPATH=PACKAGE check.py [--only SECTION[,SECTION...]] [--rounds N] [--honest-rounds N]

PACKAGE: folder that contains attnscope/. Sections: law, times, triton, extension, naive, cheats, failures, honest.
Needs PyTorch; `triton` needs Triton, `extension` a CUDA toolkit.
"""
import argparse
import functools
import itertools
import statistics
import sys

import torch

import attnscope
import cheats
import failures
import functions
import honest

FEW_ROUNDS = 3
LAW_TOLERANCE = 5e-7      # prints as 0.0000%
SPILL_TOLERANCE = 1e-4    # of a kernel that reloads spilled registers
TIME_TOLERANCE = 0.01
MIN_NS = 50_000           # shorter times are not compared
GRAPH_LAUNCH_NS = 2_000   # of a graph with several nodes
SAMPLES = 30
PAIRS = 5
PAUSE_CYCLES = 4_000_000
FLUSH_BYTES = 1 << 29
BACKENDS = (functions.flash, functions.efficient, functions.cudnn, functions.math_backend)
SHAPE = dict(batch=1, heads=16, d=128)


class Claims:
    def __init__(self):
        self.failed = 0

    def check(self, name, figure, holds):
        self.failed += not holds
        print("%s  %s: %s" % ("PASS" if holds else "FAIL", name, figure), flush=True)


def points_of(rows, kernel):
    return [row for row in rows if row["algorithm"] == kernel.name]


def outcome(rows):
    """Returns "3 ok, 1 timeout: reason"."""
    counts = {}
    for row in rows:
        text = row["disposition"] + (": " + row["reason"] if row["reason"] else "")
        counts[text] = counts.get(text, 0) + 1
    return "; ".join("%d %s" % (count, text) for text, count in counts.items()) or "no points"


def all_ok(rows):
    return bool(rows) and all(row["disposition"] == "ok" for row in rows)


def check_law(claims, title, rows, tolerance=LAW_TOLERANCE):
    """Loads from L2 against the law."""
    if not all_ok(rows) or any(not row["l2_to_sm_bytes"] or not row["model_l2_to_sm_bytes"] for row in rows):
        claims.check(title, outcome(rows), False)
        return
    worst = max(abs(row["l2_to_sm_bytes"] / row["model_l2_to_sm_bytes"] - 1) for row in rows)
    claims.check(title, "%d points, at most %.4f%% off" % (len(rows), 100 * worst), worst < tolerance)


def law(claims, options):
    runs = attnscope.collect(*BACKENDS, N=[1024, 2048, 4096], mask=["full", "causal"], pass_=["fwd", "bwd"],
                             rounds=options.rounds, **SHAPE)
    rows = runs.rows()
    check_law(claims, "flash forward loads the bytes of FA2's law",
              [row for row in points_of(rows, functions.flash) if row["pass"] == "fwd"], SPILL_TOLERANCE)
    for backend in BACKENDS:
        measured = points_of(rows, backend)
        counted = all(row["l2_to_sm_bytes"] and row["dram_read_bytes"] for row in measured)
        claims.check(backend.name + " forward and backward are measured with bytes", outcome(measured),
                     all_ok(measured) and counted)


def event_ns(call, warm):
    """Median time between events around a call that is queued behind a pause."""
    flush = None if warm else torch.zeros(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    times = []
    call()
    for _ in range(SAMPLES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(PAUSE_CYCLES)
        if warm:
            call()
        else:
            flush.sum()
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(1e6 * begin.elapsed_time(end))
    return statistics.median(times)


def call_of(backend, row):
    shape = row["batch"], row["heads_q"], row["n_q"], row["d"]
    backward = row["pass"] == "bwd"
    q, k, v = (torch.randn(shape, dtype=torch.float16, device="cuda", requires_grad=backward) for _ in range(3))
    causal = row["mask"] == "causal"
    if not backward:
        return lambda: backend(q, k, v, causal=causal)
    o = backend(q, k, v, causal=causal)
    dout = torch.randn_like(o)
    return lambda: torch.autograd.grad(o, (q, k, v), dout, retain_graph=True)


def replay_of(call):
    """The call as a CUDA graph of PyTorch's own. In eager mode kernels of a call of many are up to 1 us apart."""
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def paired_times(backend, axes):
    """Returns the medians of alternating measurements in ns: Attnscope's, and by events."""
    pairs = []
    for _ in range(PAIRS):
        row = attnscope.collect(backend, rounds=1, counters=False, verify=False, process="here", **axes).rows()[0]
        if row["disposition"] != "ok":
            raise RuntimeError(outcome([row]))
        call = call_of(backend, row)
        call = replay_of(call) if row["pass"] == "fwd" else call
        pairs.append((row["time_median_ns"], event_ns(call, row["cache"] == "warm")))
    return [statistics.median(each) for each in zip(*pairs)]


def times(claims, options):
    """Four heads leave SMs idle, so that the power limit does not lower the clock. At full power the time depends on
    the pauses between the calls."""
    shape = dict(SHAPE, heads=4, N=4096)
    for backend in BACKENDS:
        for cache, pass_, mask in itertools.product(("cold", "warm"), ("fwd", "bwd"), ("full", "causal")):
            ours, expected = paired_times(backend, dict(shape, cache=cache, pass_=pass_, mask=mask))
            claims.check("%s %s %s %s: time is that of events" % (backend.name, cache, pass_, mask),
                         "%.1f us, events %.1f us, %+.2f%%" % (ours / 1e3, expected / 1e3, 100 * (ours / expected - 1)),
                         expected >= MIN_NS and abs(ours - expected) < TIME_TOLERANCE * expected + GRAPH_LAUNCH_NS)


def triton(claims, options):
    import triton_attention
    runs = attnscope.collect(triton_attention.triton_attention, N=[1024, 2048, 4096], mask=["full", "causal"],
                             rounds=options.rounds, timeout=60, **SHAPE)
    rows = runs.rows()
    check_law(claims, "Triton's attention loads the bytes of the law", rows)
    tiles = sorted({(int(row["tuned_br"] or 0), int(row["tuned_bc"] or 0)) for row in rows})
    claims.check("the tile is the autotuner's", ", ".join("%sx%s" % tile for tile in tiles),
                 bool(tiles) and set(tiles) <= set(triton_attention.TILES))


def extension(claims, options):
    functions.extension_module()  # compiles it before the worker's time limit counts
    runs = attnscope.collect(functions.extension, N=[512, 1000, 2048], mask=["full", "causal"], dtype="fp32", d=64,
                             heads=16, rounds=options.rounds, timeout=60)
    rows = runs.rows()
    claims.check("the extension is measured unchanged", outcome(rows), all_ok(rows))
    check_law(claims, "the extension loads at most the bytes of the law (L1 serves some)", rows, 0.5)


def naive(claims, options):
    runs = attnscope.collect(functions.three_calls, N=[1024, 2048], rounds=options.rounds, **SHAPE)
    rows, kernels = runs.rows(), runs.kernels()
    names = sorted({each["kernel"] for each in kernels})
    claims.check("each kernel of three calls has its name", "; ".join(names) or outcome(rows),
                 len(names) >= 3 and any("softmax" in name.lower() for name in names))
    sums = {}
    for each in kernels:
        sums[each["point"]] = sums.get(each["point"], 0) + (each["l2_to_sm_bytes"] or 0)
    worst = max((abs(sums.get(row["point"], 0) / row["l2_to_sm_bytes"] - 1) for row in rows if row["l2_to_sm_bytes"]),
                default=1.0)
    claims.check("the kernels' loads add up to the call's", "at most %.3f%% off" % (100 * worst), worst < 0.001)
    ratios = [(row["l2_to_sm_bytes"] + row["sm_to_l2_bytes"]) / row["model_compulsory_bytes"] for row in rows
              if row["l2_to_sm_bytes"] and row["model_compulsory_bytes"]]
    claims.check("three calls move more than the compulsory bytes",
                 ", ".join("%.1f times" % ratio for ratio in ratios) or outcome(rows),
                 len(ratios) == len(rows) > 0 and min(ratios) > 1)


def check_cheats(claims, options):
    runs = attnscope.collect(*cheats.CHEATS, N=[512, 2048], heads=8, d=64, rounds=FEW_ROUNDS)
    for cheat in cheats.CHEATS:
        rows = points_of(runs.rows(), cheat)
        claims.check(cheat.name + " is incorrect", outcome(rows),
                     bool(rows) and all(row["disposition"] == "incorrect" for row in rows))


# Disposition and words of the reason at N = 512.
FAILURES = [(failures.raises, "crashed", "no tile for 512 rows"),
            (failures.wrong_shape, "crashed", "shape"),
            (failures.aborts, "crashed", ""),
            (failures.exits, "crashed", "SystemExit"),
            (failures.hangs_in_python, "timeout", ""),
            (failures.hangs_on_gpu, "timeout", ""),
            (failures.faults_on_gpu, "crashed", ""),
            (failures.temporary_too_large, "out-of-memory", "")]


def check_failures(claims, options):
    sweep = dict(N=[256, failures.FAILING_N, 1024], heads=8, d=64, rounds=1, timeout=5)
    for function, disposition, words in FAILURES:
        rows = attnscope.collect(function, **sweep).rows()
        failed = [row for row in rows if row["n_q"] == failures.FAILING_N]
        others = [row for row in rows if row not in failed]
        as_expected = [row["disposition"] == disposition and words in (row["reason"] or "") for row in failed]
        claims.check("%s is %s, and the sweep continues" % (function.name, disposition), outcome(rows),
                     as_expected == [True] and len(others) == 2 and all_ok(others))
    rows = attnscope.collect(failures.leaks, **sweep).rows()
    claims.check("leaks is incorrect", outcome(rows), any(row["disposition"] == "incorrect" for row in rows)
                 and all("leak" in row["reason"] for row in rows if row["disposition"] == "incorrect"))
    rows = attnscope.collect(failures.temporary_20_gb, **sweep).rows()
    used = max((row["memory_bytes"] or 0 for row in rows), default=0)
    claims.check("20 GB of temporary memory are reported", "%s; %.3g GB" % (outcome(rows), used / 1e9),
                 all_ok(rows) and used >= 20e9)
    rows = attnscope.collect(failures.item, **sweep).rows()
    stated = [row for row in rows if any("captured" in str(value) for value in row.values())]
    claims.check(".item() is measured, and its points state that it was not captured",
                 "%s; stated in %d" % (outcome(rows), len(stated)), all_ok(rows) and len(stated) == len(rows))


def check_honest(claims, options):
    points, accused = 0, 0
    for kernel, axes in honest.HONEST:
        given = {name: value for name, value in axes.items() if value is not None}
        rows = attnscope.collect(kernel, rounds=options.honest_rounds, timeout=60, **given).rows()
        points += len(rows)
        print("      %s: %s" % (kernel.name, outcome(rows)), flush=True)
        accused += not all_ok(rows)
    claims.check("no honest function is accused",
                 "%d functions, %d points, %d rounds, %d accused" % (len(honest.HONEST), points, options.honest_rounds,
                                                                     accused), not accused)


SECTIONS = {"law": law, "times": times, "triton": triton, "extension": extension, "naive": naive,
            "cheats": check_cheats, "failures": check_failures, "honest": check_honest}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas (default: all)")
    parser.add_argument("--rounds", type=int, default=6, help="rounds of points that are compared (default: 6)")
    parser.add_argument("--honest-rounds", type=int, default=FEW_ROUNDS,
                        help="rounds per honest function (default: %d)" % FEW_ROUNDS)
    options = parser.parse_args()
    attnscope.collect = functools.partial(attnscope.collect, progress=False)
    claims = Claims()
    for name in options.only.split(","):
        if name not in SECTIONS:
            parser.error("unknown section %r (accepted: %s)" % (name, ", ".join(SECTIONS)))
        try:
            SECTIONS[name](claims, options)
        except Exception as error:  # the other sections still run
            claims.check(name, "%s: %s" % (type(error).__name__, error), False)
    print("%d failed" % claims.failed)
    sys.exit(1 if claims.failed else 0)


if __name__ == "__main__":
    main()
