#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates Attnscope's counters against Nsight Compute: bytes and occupancy of the same launches under ncu.

usage: ncu_judge.py ATTNSCOPE DATABASE... [--per-algorithm N] [--min-mib 64] [--csv OUT]

Selects ok points of the databases that move more than --min-mib MiB between SM and L2, evenly over their sizes, repeats each
under `ncu --clock-control none` (without Attnscope's counters), and prints the relative differences. Both sides are medians:
ncu's over the launches of a kernel, Attnscope's over the recordings of the point. Each direction (L2 to SM, SM to L2, DRAM
read, DRAM write) is compared separately, so that misattributed bytes are detected; the sums are listed as well. Exit status 1
if a direction or sum of more than --min-mib MiB differs by more than 1%, or occupancy by more than 1 percentage point, or if
a direction or an algorithm was never compared. The dirty bytes left in L2 at the end of a kernel vary between runs, so DRAM
writes and their sum may also differ by --dram-slack-mib. ncu itself leaves about 2.5 MB dirty in L2, which a kernel that
sweeps L2 evicts (a kernel that stores 0.5 MB appears to write 2.9 MB on an H200), so ncu's value may exceed Attnscope's by
--ncu-own-mib. Needs a GPU, ncu and counter permission.
"""
import argparse
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile

METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_to_sm_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "sm_to_l2_bytes": "l1tex__m_l1tex2xbar_write_bytes.sum",
    "achieved_occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
SUMS = {"dram_bytes": ("dram_read_bytes", "dram_write_bytes"), "l2_sm_bytes": ("l2_to_sm_bytes", "sm_to_l2_bytes")}
DIRECTIONS = [part for parts in SUMS.values() for part in parts]
TOLERANCE = 1.0  # percent of bytes, percentage points of occupancy
# Helper kernels of the measurement (kernels/device/measurement.cuh).
HELPER_KERNELS = {"attn_digest", "attn_fill_l2", "attn_discard_l2", "attn_delay", "attn_count_nonfinite", "attn_row_statistics",
           "attn_read_noise", "attn_stamp_clocks"}
MIB = 1024 * 1024


def exported_rows(attnscope, database):
    text = subprocess.run([attnscope, "export", database, "--format", "csv"], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(text.stdout)))


AXES = ("algorithm", "pass", "dtype", "batch", "heads_q", "heads_kv", "n_q", "n_k", "d", "mask", "br", "bc", "raster")
# Axes that are omitted at these default values.
OPTIONAL = {"splits": "0", "warps": "0", "stages": "0", "dropout": "0", "page": "0", "deterministic": "0"}


def point_key(row):
    return tuple(row[name] for name in AXES) + tuple(row.get(name, value) for name, value in OPTIONAL.items())


def pick_evenly(items, count):
    """Returns `count` items evenly spaced in order, always including the last."""
    if len(items) <= count:
        return items
    step = (len(items) - 1) / (count - 1) if count > 1 else 0
    return [items[len(items) - 1 - round(i * step)] for i in range(count)]


def our_kernels(rows):
    """Returns {kernel: medians} over all recordings of one point, in launch order."""
    kernels = {}
    for row in rows:
        kernels.setdefault(row["kernel"], []).append(row)
    return {name: {key: statistics.median(float(row[key]) for row in of) for key in METRICS} for name, of in kernels.items()}


def with_sums(values):
    return {**values, **{name: sum(values[part] for part in parts) for name, parts in SUMS.items()}}


def compare(own, ncu, min_bytes, write_slack, ncu_own=0):
    """Returns [key, own, ncu, difference, unit, verdict] for each metric with enough bytes to compare.

    The difference is in percent of ncu's value, or in percentage points. Verdict: "ok" or "differs".
    """
    rows = []
    for key, value in with_sums(own).items():
        other = with_sums(ncu)[key]
        if key.endswith("_pct"):
            difference, unit = value - other, "points"
        elif max(value, other) < min_bytes:
            continue  # too few bytes for a meaningful relative difference
        else:
            difference, unit = 100 * (value / other - 1) if other > 0 else float("inf"), "%"
        within = abs(difference) <= TOLERANCE
        if key in ("dram_write_bytes", "dram_bytes"):
            within = within or -write_slack - ncu_own <= value - other <= write_slack
        rows.append([key, value, other, difference, unit, "ok" if within else "differs"])
    return rows


def never_compared(table, algorithms):
    """Returns directions and algorithms that have no row in the table."""
    seen = {(algorithm, key) for algorithm, key in table}
    missing = [key for key in DIRECTIONS if not any(key == of for _, of in seen)]
    return missing + [name for name in algorithms if not any(name == by and key in DIRECTIONS for by, key in seen)]


def run_under_ncu(attnscope, row, kernels, device):
    """Returns a dictionary of medians per measured kernel of the point, in launch order."""
    axes = [f"{name}={row[name]}" for name in AXES]
    for name, default in OPTIONAL.items():
        value = row.get(name, default)
        if value not in ("", default, "0.0", "false"):
            axes.append(f"{name}={'yes' if name == 'deterministic' else value}")
    with tempfile.TemporaryDirectory() as folder:
        command = ["ncu", "--clock-control", "none", "--cache-control", "all", "--csv", "--print-units", "base",
                   "--kernel-name", "regex:^attn_", "--metrics", ",".join(METRICS.values()),
                   attnscope, "collect", "--device", device, "--no-counters", "--no-verify", "--min-samples", "3",
                   "--max-noise", "10", "--quiet", "--output", os.path.join(folder, "judge.attnscope")]
        for axis in axes:
            command += ["-a", axis]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    launches = {}
    for line in csv.DictReader(io.StringIO("\n".join(lines))):
        if line["Kernel Name"].split("(")[0] not in HELPER_KERNELS:
            launches.setdefault(int(line["ID"]), {})[line["Metric Name"]] = float(line["Metric Value"].replace(",", ""))
    # Set-up launches come first, then the measured launches repeat in order.
    ordered = [launches[number] for number in sorted(launches)]
    cycles = min(3, len(ordered) // kernels)
    last = ordered[len(ordered) - cycles * kernels:]
    return [{key: statistics.median(launch[counter] for launch in last[place::kernels])
             for key, counter in METRICS.items()} for place in range(kernels)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("databases", nargs="+", metavar="database")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--per-algorithm", type=int, default=4)
    parser.add_argument("--min-mib", type=float, default=64)
    parser.add_argument("--dram-slack-mib", type=float, default=2)
    parser.add_argument("--ncu-own-mib", type=float, default=2.5)
    parser.add_argument("--csv", help="write all comparisons to this file")
    arguments = parser.parse_args()

    rows = [row for database in arguments.databases for row in exported_rows(arguments.attnscope, database)]
    parts, wholes = {}, {}
    for row in rows:
        if row["disposition"] == "ok" and row["provenance"] == "measured" and row["l2_to_sm_bytes"]:
            (wholes if row["kernel"] == "all" else parts).setdefault(point_key(row), []).append(row)
    chosen = []
    for algorithm in sorted({row["algorithm"] for row in rows}):
        candidates = [of[0] for of in wholes.values() if of[0]["algorithm"] == algorithm and
                      float(of[0]["l2_to_sm_bytes"]) + float(of[0]["sm_to_l2_bytes"]) > arguments.min_mib * MIB]
        candidates.sort(key=lambda row: float(row["l2_to_sm_bytes"]))
        chosen += pick_evenly(candidates, arguments.per_algorithm)

    table, worst = [], {}
    for row in chosen:
        # A point with one kernel has no separate kernel rows.
        ours = our_kernels(parts.get(point_key(row), wholes[point_key(row)]))
        measured = run_under_ncu(arguments.attnscope, row, len(ours), arguments.device)
        if len(measured) != len(ours):
            raise RuntimeError(f"ncu reported {len(measured)} of {len(ours)} kernels: {point_key(row)}")
        for (kernel, own), ncu in zip(ours.items(), measured):
            if own["l2_to_sm_bytes"] + own["sm_to_l2_bytes"] < arguments.min_mib * MIB:
                continue
            for key, value, other, difference, unit, verdict in compare(own, ncu, arguments.min_mib * MIB,
                                                                        arguments.dram_slack_mib * MIB,
                                                                        arguments.ncu_own_mib * MIB):
                worst[key] = max(worst.get(key, 0.0), abs(difference))
                table.append([row["algorithm"], row["pass"], kernel, row["n_q"], row["n_k"], row["d"], row["mask"],
                              f'{row["br"]}x{row["bc"]}', key, f"{value:.6g}", f"{other:.6g}", f"{difference:+.3f}",
                              unit, verdict])

    header = ["algorithm", "pass", "kernel", "n_q", "n_k", "d", "mask", "tile", "metric", "attnscope", "ncu", "difference",
              "unit", "verdict"]
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            csv.writer(out).writerows([header] + table)
    widths = [max(len(str(line[i])) for line in [header] + table) for i in range(len(header))]
    for line in [header] + table:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip())
    print("largest difference: " + ", ".join(f"{key} {value:.3f}" for key, value in worst.items()))
    place = header.index("metric")
    missing = never_compared([(line[0], line[place]) for line in table], sorted({row["algorithm"] for row in rows}))
    if missing:
        print("never compared: " + ", ".join(missing))
    differing = sum(line[-1] != "ok" for line in table)
    print(f"{len(table)} comparisons of {len(chosen)} points, {differing} differ")
    return 1 if missing or differing else 0


if __name__ == "__main__":
    sys.exit(main())
