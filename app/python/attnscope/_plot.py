# SPDX-License-Identifier: Apache-2.0
"""Plot of points with matplotlib."""
import importlib

from ._errors import Error

# Okabe and Ito's colors, which color-blind readers distinguish.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
LABELS = {"n_k": "N", "n_q": "N (queries)", "d": "d", "dram_bytes": "DRAM bytes", "l2_sm_bytes": "SM<->L2 bytes",
          "time_median_ns": "Time, ns", "tflops": "TFLOP/s", "host_call_ns": "Host time, ns"}
LAWS = {"l2_sm_bytes": ("model_l2_sm_bytes", "law"), "dram_bytes": ("model_compulsory_bytes", "compulsory"),
        "l2_to_sm_bytes": ("model_l2_to_sm_bytes", "law"), "sm_to_l2_bytes": ("model_sm_to_l2_bytes", "law")}


def _series(rows, x, y, group):
    """Returns {label: rows sorted by x} of the points with both values."""
    series = {}
    for row in rows:
        if row["disposition"] in ("ok", "no-counters") and row[x] and row.get(y):
            series.setdefault(" ".join(str(row.get(name)) for name in group), []).append(row)
    return {label: sorted(points, key=lambda row: row[x]) for label, points in series.items()}


def draw(rows, x, y, group, spreads, title):
    """Returns a figure: marks with spread, and the law as a line. `spreads`: {point: (low, high)}."""
    try:
        plots = importlib.import_module("matplotlib.figure")
    except ImportError:
        raise Error("matplotlib is not installed (install it, or use rows())") from None
    series = _series(rows, x, y, group)
    if not series:
        raise Error("no point has values of %s and %s" % (x, y))
    figure = plots.Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    law, law_label = LAWS.get(y, (None, None))
    for index, (label, points) in enumerate(series.items()):
        color, mark = COLORS[index % len(COLORS)], MARKS[index % len(MARKS)]
        across, up = [row[x] for row in points], [row[y] for row in points]
        ends = [spreads.get(row["point"], (row[y], row[y])) for row in points]
        errors = [[max(0, value - low) for value, (low, _) in zip(up, ends)],
                  [max(0, high - value) for value, (_, high) in zip(up, ends)]]
        filled = all(row["provenance"] == "measured" for row in points)
        axes.errorbar(across, up, yerr=errors if spreads else None, fmt=mark, color=color, capsize=3, label=label,
                      markerfacecolor=color if filled else "none")
        modeled = [(row[x], row[law]) for row in points if law and row.get(law)]
        if modeled:
            axes.plot(*zip(*modeled), color=color if law_label == "law" else "gray", linewidth=1)
    if law:
        axes.plot([], [], color="gray", linewidth=1, label=law_label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(LABELS.get(x, x))
    axes.set_ylabel(LABELS.get(y, y))
    axes.set_title(title, fontsize="small", wrap=True)
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(bbox_to_anchor=(1.02, 1), loc="upper left", borderaxespad=0, fontsize="small")
    return figure
