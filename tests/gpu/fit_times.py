#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the timing constants of the kernels (KernelTiming, kernels/*/) to measured times.

    attnscope model --against FILE... --per-launch --csv > launches.csv
    tests/gpu/fit_times.py launches.csv            fits; prints the errors of both halves and the constants
    tests/gpu/fit_times.py launches.csv --judge    evaluates the constants in the sources
    tests/gpu/fit_times.py launches.csv --on OTHER.csv    fits to one GPU, evaluates on the launches of another

A row of the table is a launch: measured time, load, device rates and the constants of its kernel. This script reimplements
the model (kernels/model/pipeline_model.h) on columns and checks that both agree on every row before fitting. Constants
are fitted to the launches of one half of the problems and evaluated on the other half, like `attnscope model --against`.
Needs numpy and scipy.
"""
import argparse
import csv
import heapq
import sys

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import spearmanr

UNITS = ("tensor", "exponential", "fp32", "shared", "l2")
NAMES = (["block_latency", "step_latency", "round_latency", "mask_read_latency", "refill_latency"] + [f"alone_{unit}" for unit in UNITS] + [f"busy_{unit}" for unit in UNITS]
         + ["skew", "overlap", "launch_ns"])
#          latencies          alone                    busy                     skew, overlap, launch
MIN_VALUES = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 500]
MAX_VALUES = [20000, 8000, 8000, 4000, 8000, 6, 6, 6, 8, 8, 4, 4, 4, 4, 4, 2, 8, 9000]
TYPICAL = [1500, 300, 500, 100, 1500, 0.5, 0.5, 0.5, 0.5, 0.5, 1.1, 0.5, 0.5, 1, 1, 0.1, 2, 5000]
PRIOR_WEIGHT = 0.1  # weight of the typical values, for constants that few launches determine
MIN_LAUNCHES = 4    # per half, for a fit
MIN_TILES = 12      # per problem, for a rank correlation
MAX_DEALT = 2048    # blocks assigned one by one; see block_deal.cpp


def read(*paths):
    csv.field_size_limit(10**9)  # the order column is long
    rows = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            of_file = list(csv.DictReader(file))
        if not of_file:
            sys.exit(f"{path}: no launches")
        for row in of_file:  # points are numbered per table, and a problem on two GPUs counts twice
            row["point"] = f"{path} {row['point']}"
            row["problem"] += f" {row['sm_count']} SMs"
        rows += of_file
    text_columns = ("point", "algorithm", "pass", "launch", "entry", "half", "problem", "tile", "order")
    missing = [name for name in text_columns + tuple(NAMES) if name not in rows[0]]
    if missing:
        sys.exit(f"{paths[0]}: no column {missing[0]}: create it with `attnscope model --against FILE --per-launch --csv`")
    table = {name: np.array([row[name] for row in rows]) for name in text_columns}
    for name in rows[0]:
        if name not in text_columns:
            table[name] = np.array([float(row[name]) for row in rows])
    table["tensor_flops"] /= table["relative_throughput"]  # peaks are for 16-bit operands
    split_entries(table)
    return table


def split_entries(table):
    """Names the 8-bit variant of a kernel separately ("attn_fa3_forward fp8") if it has constants of its own."""
    fp8 = np.char.startswith(table["problem"], "fp8")
    constants = np.array([table[name] for name in NAMES])
    for entry in np.unique(table["entry"]):
        of_entry = table["entry"] == entry
        if (constants[:, of_entry] != constants[:, of_entry][:, :1]).any():
            table["entry"] = np.where(of_entry & fp8, np.char.add(table["entry"], " fp8"), table["entry"])


def select_rows(table, which):
    return {name: column[which] for name, column in table.items()}


def divide_or_zero(amount, rate):
    return np.divide(amount, rate, out=np.zeros_like(amount), where=rate > 0)


def norm(a, b, exponent):
    most = np.maximum(np.maximum(a, b), 1e-300)
    return most * ((a / most) ** exponent + (b / most) ** exponent) ** (1 / exponent)


class Sm:
    """Class Sm of pipeline_model.cpp, for all launches."""

    def __init__(self, t, constants):
        self.t = t
        self.c = dict(zip(NAMES, constants))
        self.blocks = np.maximum(1, t["blocks"])
        self.warps = np.maximum(1, t["warps"])
        work = {"tensor": t["tensor_flops"], "exponential": t["exponentials"], "fp32": t["fp32_values"],
                "shared": t["shared_bytes"], "l2": t["l2_sm_bytes"]}
        peak = {unit: divide_or_zero(work[unit] / self.blocks, t[f"peak_{unit}"]) for unit in UNITS}
        fitted = {unit: divide_or_zero(work[unit] / self.blocks, t[f"fitted_peak_{unit}"]) for unit in UNITS}
        self.alone = 4 / self.warps * sum(self.c[f"alone_{unit}"] * fitted[unit] for unit in UNITS)
        self.busy = {unit: self.c[f"busy_{unit}"] * peak[unit] for unit in UNITS}
        self.busy["tensor"] = (np.minimum(self.c["busy_tensor"], 1) * peak["tensor"]
                               + np.maximum(self.c["busy_tensor"] - 1, 0) * fitted["tensor"])
        self.fitted_busy = {unit: self.c[f"busy_{unit}"] * fitted[unit] for unit in UNITS}
        self.steps = t["steps"] / self.blocks
        self.rounds = t["rounds"] / self.blocks
        self.mask_reads = t["mask_reads"] / self.blocks

    def busiest_units(self, busy, count):
        dealt = np.where(self.warps > 4, self.warps, self.warps * count)
        scheduler_work = busy["tensor"] + busy["exponential"] + busy["fp32"]
        return np.maximum(scheduler_work * np.ceil(dealt / 4) / (dealt / 4), busy["shared"] + busy["l2"])

    def cycles(self, count, steps=None, rounds=None, squares=None):
        """Cycles of a block with the given steps, rounds and squares (mean block by default) if `count` blocks start together."""
        c = self.c
        share = 1.0
        if steps is None:
            steps, rounds, squares = self.steps, self.rounds, self.mask_reads
        else:
            share = np.where(self.rounds > 0, divide_or_zero(rounds, self.rounds), divide_or_zero(steps, self.steps))
        latency = c["block_latency"] + c["round_latency"] * rounds + c["mask_read_latency"] * squares + self.alone * share
        work = share * self.busiest_units(self.busy, count)
        waits = c["step_latency"] * steps / self.t["concurrent_steps"]
        at_once = self.t["concurrent_load_bytes"]
        fills = np.where(at_once > 0, count / self.t["l1_bytes"] - divide_or_zero(np.ones_like(at_once), at_once), 0)
        from_dram = np.minimum(1, divide_or_zero(self.t["dram_bytes"], self.t["l2_sm_bytes"]))
        refills = from_dram * share * self.t["register_bytes"] / self.blocks * np.maximum(0, fills)
        return (norm(latency, count * work, c["overlap"]) + np.maximum(0, waits - (count - 1) * work)
                + c["refill_latency"] * refills + c["skew"] * share * self.busiest_units(self.fitted_busy, count) / count)


def parse_order(order):
    """Parses "times*blocks:steps:rounds:squares,...;...": groups of block runs."""
    groups = []
    for group in order.split(";"):
        times, runs = group.split("*")
        groups.append((int(times), [(int(n), *map(float, of_each))
                                   for n, *of_each in (run.split(":") for run in runs.split(","))]))
    return groups


def runs_after(groups, skipped):
    """Returns the runs without the first `skipped` blocks."""
    for times, runs in groups:
        for _ in range(times):
            for blocks, *of_each in runs:
                omitted = min(blocks, skipped)
                skipped -= omitted
                if omitted < blocks:
                    yield blocks - omitted, *of_each


def rest_of_sm(left, cycles):
    """Last blocks of an SM: (remaining share, steps, rounds, squares)."""
    rest = 0
    while left:
        lengths = [cycles(len(left), *block) for _, *block in left]
        until = [share * length for (share, *_), length in zip(left, lengths)]
        step = min(until)
        rest += step
        left = [(share - step / length, *block)
                for (share, *block), length, end in zip(left, lengths, until) if share - step / length > 1e-12]
    return rest


def dealt_cycles(order, sms, places, cycles):
    """Equals dealt_cycles().all of block_deal.cpp: assigns each block to the slot that is free first."""
    groups = parse_order(order)
    skipped = max(0, sum(times * run[0] for times, runs in groups for run in runs) - MAX_DEALT)
    begin = 0
    if skipped:
        of_all = [sum(times * run[0] * run[i] for times, runs in groups for run in runs) for i in (1, 2, 3)]
        of_last = [sum(run[0] * run[i] for run in runs_after(groups, skipped)) for i in (1, 2, 3)]
        mean = [(a - b) / skipped for a, b in zip(of_all, of_last)]
        begin = round(skipped * cycles(places, *mean) / (sms * places))
    taken = []
    given_out = begin
    for blocks, *block in runs_after(groups, skipped):
        length = round(cycles(places, *block))
        for _ in range(blocks):
            if len(taken) < sms * places:
                taken.append((begin + length, len(taken), length, block))
                if len(taken) == sms * places:
                    heapq.heapify(taken)
            else:
                given_out, place, *_ = taken[0]
                heapq.heapreplace(taken, (given_out + length, place, length, block))
    by_sm = {}
    for end, place, length, block in taken:
        if end > given_out:
            by_sm.setdefault(place % sms, []).append(((end - given_out) / length, *block))
    return given_out + max(rest_of_sm(left, cycles) for left in by_sm.values())


def dealt(t, constants_of):
    """Cycles of launches with a block order relative to mean blocks that share an SM; 0 without an order.
    The ratio is fixed during a fit and recomputed afterwards."""
    found = np.zeros(len(t["order"]))
    for i in np.flatnonzero(t["order"] != ""):
        sm = Sm(select_rows(t, slice(i, i + 1)), constants_of[t["entry"][i]])
        lengths = {}

        def cycles(count, *block):
            if (count, *block) not in lengths:
                lengths[count, *block] = sm.cycles(float(count), *(np.array([each]) for each in block)).item()
            return lengths[count, *block]

        places = int(max(1, t["blocks_per_sm"][i]))
        found[i] = dealt_cycles(t["order"][i], int(t["sm_count"][i]), places, cycles) / sm.cycles(float(places)).item()
    return found


def launch_ns(t, constants, clock):
    """Equals launch_time().ns of pipeline_model.cpp for all launches."""
    sm = Sm(t, constants)
    each = np.maximum(1, t["blocks_per_sm"])
    sms = t["sm_count"]
    wave = sm.cycles(each)
    full = np.floor(sm.blocks / (sms * each))
    rest = np.ceil((sm.blocks - full * sms * each) / sms)
    in_waves = full * wave + np.where(rest > 0, sm.cycles(np.maximum(rest, 1)), 0)
    sm_ns = np.where(t["dealt"] > 0, t["dealt"] * wave, in_waves) * 1e9 / clock
    l2_ns = 1e9 * divide_or_zero(t["l2_sm_bytes"], t["l2_rate"])
    dram_ns = 1e9 * divide_or_zero(t["dram_bytes"], t["dram_rate"])
    return norm(norm(sm_ns, l2_ns, 4), dram_ns, 4) + sm.c["launch_ns"]


def held_clock(t, ns_at):
    """Equals held_clock_hz() for the points of the launches; `ns_at(clock)` returns their launch times."""
    boost = t["boost_hz"]
    _, point = np.unique(t["point"], return_inverse=True)
    total = lambda values: np.bincount(point, values)[point]
    tensor = total(1e9 * divide_or_zero(t["tensor_flops"], t["peak_tensor"] * t["sm_count"] * boost))
    dram = total(1e9 * divide_or_zero(t["dram_bytes"], t["dram_rate"]))

    def can_hold(share):
        ns = total(ns_at(share * boost))
        below = t["clock_load"] + t["clock_tensor_slope"] * np.maximum(0, tensor / share / ns - t["clock_tensor_threshold"])
        added = t["power_tensor"] * tensor / ns * share ** t["power_exponent"] + t["power_dram"] * dram / ns
        power = t["power_idle"] + (1 - np.exp(-5 * ns / np.maximum(t["power_averaging_ns"], 1))) * added
        return (share <= 1 - below * (1 - np.exp(-ns / np.maximum(t["clock_load_ns"], 1)))) & (power <= 1)

    within, above = np.full_like(boost, 0.3), np.ones_like(boost)
    free = can_hold(above)
    for _ in range(24):
        middle = (within + above) / 2
        fits = can_hold(middle)
        within, above = np.where(fits, middle, within), np.where(fits, above, middle)
    return np.where(t["clock_fixed"] > 0, t["clock_fixed"], np.where(free, boost, within * boost))


def predict(t, constants_of, clock=None):
    """Predicted times of launches of several kernels; `constants_of` maps entry to constants."""
    columns = np.array([constants_of[entry] for entry in t["entry"]]).T
    ns_at = lambda hz: launch_ns(t, columns, hz)
    return ns_at(held_clock(t, ns_at) if clock is None else clock)


def error_statistics(t, ns):
    """Median and 95th percentile of the error over problems, the median ratio, and tile-map rank correlations."""
    ratio = ns / t["measured_ns"]
    errors, ratios, ranks = [], [], []
    names = np.char.add(np.char.add(t["entry"], " "), t["problem"])
    for name in np.unique(names):
        which = names == name
        errors.append(np.median(np.abs(ratio[which] - 1)))
        ratios.append(np.median(ratio[which]))
        if which.sum() >= MIN_TILES:
            measured = t["measured_ns"][which]
            ranks.append((spearmanr(measured, ns[which])[0], measured[np.argmin(ns[which])] / measured.min()))
    return {"launches": len(ns), "problems": len(errors), "median": np.median(errors),
            "p95": np.quantile(errors, 0.95), "ratio": np.median(ratios), "ranks": ranks}


def report(t, ns):
    for half in ("fitted", "held out"):
        which = t["half"] == half
        if not which.any():
            continue
        f = error_statistics(select_rows(t, which), ns[which])
        ranks = "".join(f" {rank:.3f}/{chosen:.3f}" for rank, chosen in f["ranks"])
        print(f"  {half:8}  {f['launches']:4} launches, {f['problems']:3} problems: median {100 * f['median']:.1f}%, "
              f"95th percentile {100 * f['p95']:.1f}%, ratio {f['ratio']:.3f}"
              + (f"; ranks, chosen/fastest:{ranks}" if ranks else ""))


def fit(t, clock, before, starts):
    """Fits one kernel to the logarithms of its times. The weight of a problem grows sublinearly with its launches."""
    _, which, counts = np.unique(t["problem"], return_inverse=True, return_counts=True)
    weight = counts[which] ** -0.35
    goal = np.log(t["measured_ns"])
    lowest, highest = np.array(MIN_VALUES, float), np.array(MAX_VALUES, float)
    work = {"tensor": "tensor_flops", "exponential": "exponentials", "fp32": "fp32_values", "shared": "shared_bytes",
            "l2": "l2_sm_bytes"}
    used = np.array([t[work[name.split("_")[1]]].any() if name.split("_")[0] in ("alone", "busy")
                     else t["mask_reads"].any() if name == "mask_read_latency"
                     else t["register_bytes"].any() if name == "refill_latency" else True for name in NAMES])
    typical = np.array(TYPICAL, float)

    def residuals(x):
        deviation = (x - typical) / typical
        return np.concatenate(((np.log(launch_ns(t, x, clock)) - goal) * weight, PRIOR_WEIGHT * weight.mean() * deviation * used))

    random = np.random.default_rng(1)
    best = None
    for i in range(starts):
        start = lowest + (highest - lowest) * random.random(len(lowest)) ** 1.5
        start = typical if i == 0 else before if i == 1 else start
        result = least_squares(residuals, np.clip(start, lowest + 1e-6, highest - 1e-6), bounds=(lowest, highest),
                               loss="soft_l1", f_scale=0.1, max_nfev=150)
        if best is None or result.cost < best.cost:
            best = result
    return np.where(used, best.x, 0)


def round_digits(value):
    return 0.0 if value < 1e-3 else float(f"{value:.3g}")


def format_constants(constants):
    c = dict(zip(NAMES, constants))

    def format_number(value):
        return f"{round_digits(value):g}"

    def format_costs(name):
        parts = [f".{unit} = {format_number(c[f'{name}_{unit}'])}" for unit in UNITS]
        return f"    .{name} = {{{', '.join(parts)}}},\n"

    return (f"{{\n    .block_latency = {format_number(c['block_latency'])},\n    .step_latency = {format_number(c['step_latency'])},\n    .round_latency = {format_number(c['round_latency'])},\n"
            + "".join(f"    .{name} = {format_number(c[name])},\n" for name in ("mask_read_latency", "refill_latency") if c[name] > 0)
            + format_costs("alone") + format_costs("busy") + f"    .skew = {format_number(c['skew'])},\n    .overlap = {format_number(c['overlap'])},\n"
            f"    .launch_ns = {format_number(c['launch_ns'])},\n    // .use: see fit_use.py\n}}")


def check_models_agree(t, constants_of):
    t["dealt"] = dealt(t, constants_of)
    predicted = predict(t, constants_of)
    difference = np.abs(predicted / t["predicted_ns"] - 1)
    if difference.max() > 1e-4:
        worst = int(np.argmax(difference))
        sys.exit(f"this model and pipeline_model.cpp differ by {100 * difference[worst]:.2f}%: {t['entry'][worst]}, "
                 f"{t['problem'][worst]}, {t['tile'][worst]}: {predicted[worst]:.1f} and {t['predicted_ns'][worst]:.1f} ns")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tables", nargs="+", metavar="table",
                        help="output of `attnscope model --against FILE... --per-launch --csv` or of `model --published --per-launch --csv`")
    parser.add_argument("--judge", action="store_true", help="evaluate the constants of the table without fitting")
    parser.add_argument("--on", metavar="OTHER.csv", help="evaluate on these launches of another GPU")
    parser.add_argument("--entry", action="append", help="only the kernel with this entry name")
    parser.add_argument("--starts", type=int, default=10, help="fits per kernel from different start values (default: 10)")
    arguments = parser.parse_args()

    t = read(*arguments.tables)
    entries = list(dict.fromkeys(t["entry"]))
    constants_of = {e: np.array([t[name][t["entry"] == e][0] for name in NAMES]) for e in entries}
    check_models_agree(t, constants_of)
    selected = [e for e in entries if not arguments.entry or e in arguments.entry]
    if not arguments.judge:
        for _ in range(3):  # clock and block assignment depend on the times, and vice versa
            columns = np.array([constants_of[entry] for entry in t["entry"]]).T
            clock = held_clock(t, lambda hz: launch_ns(t, columns, hz))
            # Starts with the clock that follows from the measured times.
            if _ == 0:
                clock = held_clock(t, lambda hz: t["measured_ns"])
            for entry in selected:
                which = (t["entry"] == entry) & (t["half"] == "fitted")
                if which.sum() < MIN_LAUNCHES:
                    print(f"{entry}: {which.sum()} launches in the fitted half, too few for a fit", file=sys.stderr)
                    continue
                constants_of[entry] = np.array([round_digits(x) for x in fit(select_rows(t, which), clock[which], constants_of[entry],
                                                                       arguments.starts)])
            t["dealt"] = dealt(t, constants_of)
    if arguments.on:
        t = read(arguments.on)
        t = select_rows(t, np.isin(t["entry"], entries))
        selected = [e for e in selected if e in t["entry"]]
        t["dealt"] = dealt(t, constants_of)
    ns = predict(t, constants_of)
    for entry in selected:
        which = t["entry"] == entry
        print(entry)
        report(select_rows(t, which), ns[which])
        if not arguments.judge:
            print(format_constants(constants_of[entry]))
    print("all launches")
    report(t, ns)


if __name__ == "__main__":
    main()
