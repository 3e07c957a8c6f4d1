#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets Nsight Compute judge our counters: the same launches under ncu, bytes and occupancy side by side.

usage: ncu_judge.py ATTNSCOPE DATABASE [--per-algorithm N] [--min-mib 64] [--csv OUT]

Picks ok points of DATABASE that move more than --min-mib MiB between SM and L2, spread over their sizes, runs each again
under `ncu --clock-control none` (counters of our own off), and prints the relative differences; ncu's side is the median
over the launches of a kernel. Exit status 1 when DRAM bytes (read and written) or SM<->L2 bytes of a kernel that moves
that much differ by more than 1%, or its occupancy by more than 1 point; the two directions of DRAM traffic are
listed beside their sum. Needs a GPU, ncu and counter permission.
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
JUDGED = {**dict.fromkeys(SUMS, 1.0), "achieved_occupancy_pct": 1.0}
# The kernels that measuring itself launches (kernels/device/measurement.cuh).
SERVICE = {"attn_fill_l2", "attn_discard_l2", "attn_delay", "attn_count_nonfinite", "attn_row_statistics"}
MIB = 1024 * 1024


def exported_rows(attnscope, database):
    text = subprocess.run([attnscope, "export", database, "--format", "csv"], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(text.stdout)))


AXES = ("algorithm", "pass", "dtype", "batch", "heads_q", "heads_kv", "n_q", "n_k", "d", "mask", "br", "bc", "raster")
# Axes that say nothing at this value: they are left to the program.
OPTIONAL = {"splits": "0", "warps": "0", "stages": "0", "dropout": "0", "page": "0", "deterministic": "0"}


def point_key(row):
    return tuple(row[name] for name in AXES) + tuple(row.get(name, value) for name, value in OPTIONAL.items())


def spread(items, count):
    """`count` of the items, evenly over their order, the last always among them."""
    if len(items) <= count:
        return items
    step = (len(items) - 1) / (count - 1) if count > 1 else 0
    return [items[len(items) - 1 - round(i * step)] for i in range(count)]


def with_sums(values):
    return {**values, **{name: sum(values[part] for part in parts) for name, parts in SUMS.items()}}


def under_ncu(attnscope, row, kernels, device):
    """One dictionary of medians for each of the point's `kernels` measured kernels, in launch order."""
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
        if line["Kernel Name"].split("(")[0] not in SERVICE:
            launches.setdefault(int(line["ID"]), {})[line["Metric Name"]] = float(line["Metric Value"].replace(",", ""))
    # The measured launches come again and again, in order; what sets them up came before.
    ordered = [launches[number] for number in sorted(launches)]
    cycles = min(3, len(ordered) // kernels)
    last = ordered[len(ordered) - cycles * kernels:]
    return [with_sums({key: statistics.median(launch[counter] for launch in last[place::kernels])
                       for key, counter in METRICS.items()}) for place in range(kernels)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("database")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--per-algorithm", type=int, default=4)
    parser.add_argument("--min-mib", type=float, default=64)
    parser.add_argument("--csv", help="write every comparison there")
    arguments = parser.parse_args()

    rows = exported_rows(arguments.attnscope, arguments.database)
    parts = {}
    for row in rows:
        if row["kernel"] != "all":
            parts.setdefault(point_key(row), []).append(row)
    chosen = []
    for algorithm in sorted({row["algorithm"] for row in rows}):
        candidates = [row for row in rows
                      if row["algorithm"] == algorithm and row["kernel"] == "all" and row["disposition"] == "ok"
                      and row["provenance"] == "measured" and row["l2_to_sm_bytes"]
                      and float(row["l2_to_sm_bytes"]) + float(row["sm_to_l2_bytes"]) > arguments.min_mib * MIB]
        unique = {point_key(row): row for row in candidates}
        candidates = sorted(unique.values(), key=lambda row: float(row["l2_to_sm_bytes"]))
        chosen += spread(candidates, arguments.per_algorithm)

    table, worst = [], {}
    for row in chosen:
        # A point collected more than once has its kernels more than once: the first of each is compared.
        ours = list({part["kernel"]: part for part in reversed(parts.get(point_key(row), [row]))}.values())[::-1]
        judged = under_ncu(arguments.attnscope, row, len(ours), arguments.device)
        for mine, ncu in zip(ours, judged):
            own = with_sums({key: float(mine[key]) for key in METRICS})
            if own["l2_sm_bytes"] < arguments.min_mib * MIB:
                continue  # too few bytes for a relative difference to mean anything
            for key, value in own.items():
                difference, unit = value - ncu[key], "points"
                if not key.endswith("_pct"):
                    if ncu[key] < arguments.min_mib * MIB:
                        continue
                    difference, unit = 100 * (value / ncu[key] - 1), "%"
                worst[key] = max(worst.get(key, 0.0), abs(difference))
                table.append([row["algorithm"], row["pass"], mine["kernel"], row["n_k"], row["d"], f'{row["br"]}x{row["bc"]}', key,
                              f"{value:.6g}", f"{ncu[key]:.6g}", f"{difference:+.3f}", unit])

    header = ["algorithm", "pass", "kernel", "N", "d", "tile", "metric", "attnscope", "ncu", "difference", "unit"]
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            csv.writer(out).writerows([header] + table)
    widths = [max(len(str(line[i])) for line in [header] + table) for i in range(len(header))]
    for line in [header] + table:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip())
    print("largest difference: " + ", ".join(f"{key} {value:.3f}" for key, value in worst.items()))
    return 0 if worst and all(worst.get(key, 0.0) <= bound for key, bound in JUDGED.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
