#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the unit utilization of the kernels (KernelUse, kernels/*/) to the counters of `collect --utilization`.

    attnscope model --against FILE... --per-launch --csv > launches.csv
    tests/gpu/fit_use.py launches.csv

Prints per kernel the tensor-core busy cycles per operation relative to the peak (1.5 for mma.sync on Hopper, 1 for wgmma;
given, not fitted), XU instructions per exponential, and shared-memory wavefronts. Fits to the half of the problems that
half_of() assigns to fitting and prints the errors on the other half, in percentage points of the cycles with resident warps.
`attnscope model --against FILE` evaluates the constants in the sources. Needs numpy and scipy.
"""
import argparse
import sys

import numpy as np
from scipy.optimize import nnls

from fit_times import round_digits, read, select_rows

WORK = {"shared": ("shared_bytes", 128), "l2": ("l2_sm_bytes", 128), "exponential": ("exponentials", 32),
        "fp32": ("fp32_values", 32)}
MIN_LAUNCHES = 4


def busy_cycles(t, unit):
    """Busy cycles of the unit over all SMs."""
    return t[f"counted_{unit}_pct"] / 100 * t["counted_cycles"] * t["sm_count"]


def errors(t, fitted_cycles, unit):
    points = np.abs(fitted_cycles - busy_cycles(t, unit)) / (t["counted_cycles"] * t["sm_count"]) * 100
    return f"{np.median(points):.1f} (p95 {np.quantile(points, 0.95):.1f})"


def fit_relative(columns, goal):
    weight = 1 / np.maximum(goal, 1e-9)
    return np.array([round_digits(x) for x in nnls(columns * weight[:, None], goal * weight)[0]])


def report(entry, t):
    fitted, held_out = (select_rows(t, t["half"] == half) for half in ("fitted", "held out"))
    if min(len(fitted["half"]), len(held_out["half"])) < MIN_LAUNCHES:
        fitted = held_out = t
    work = lambda of: np.array([of[name] / size for name, size in WORK.values()]).T
    parts_of_line = [f"{entry}: {len(t['half'])} launches"]
    if t["tensor_flops"].all():
        parts_of_line.append(f"tensor {np.median(busy_cycles(t, 'tensor') * t['peak_tensor'] / t['tensor_flops']):.3f}")
    if t["exponentials"].all():
        each = round_digits(np.median(busy_cycles(fitted, "xu") * fitted["peak_exponential"] / fitted["exponentials"]))
        error = errors(held_out, each * held_out["exponentials"] / held_out["peak_exponential"], "xu")
        parts_of_line.append(f".exponentials = {each:g}, error {error}")
    wavefronts = fit_relative(work(fitted), busy_cycles(fitted, "shared"))
    parts = ", ".join(f".{name} = {value:g}" for name, value in zip(WORK, wavefronts) if value)
    parts_of_line.append(f".wavefronts = {{{parts}}}, error {errors(held_out, work(held_out) @ wavefronts, 'shared')}")
    print("; ".join(parts_of_line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("table", help="output of `attnscope model --against FILE... --per-launch --csv`")
    t = read(parser.parse_args().table)
    t = select_rows(t, t["counted_cycles"] > 0)
    if not len(t["half"]):
        sys.exit("no launch has unit counters (record with `attnscope collect --utilization`)")
    for entry in dict.fromkeys(t["entry"]):
        report(entry, select_rows(t, t["entry"] == entry))


if __name__ == "__main__":
    main()
