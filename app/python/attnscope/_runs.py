# SPDX-License-Identifier: Apache-2.0
"""Recorded runs: points of a results file as rows, text, HTML, data frame and plot."""
import html
import importlib
import json
import os
import statistics
import subprocess
import urllib.parse

from . import _plot, _program
from ._errors import Error, UsageError
from ._format import aligned, bytes_text, change_text, printable, spread_text, time_text, visible_pairs
from ._kernel import as_kernel

PROBLEM = ("pass", "dtype", "batch", "heads_q", "heads_kv", "n_q", "n_k", "d", "mask")
OTHERS = ("tile", "cache", "dropout", "page", "deterministic", "gpus", "gpu_order", "device", "provenance", "run")


def quantile(ordered, fraction):
    """Linear interpolation between the values of a sorted list."""
    position = fraction * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _sum(row, *names):
    values = [row.get(name) for name in names]
    return None if any(value is None for value in values) else sum(values)


class Runs:
    """Points of one run, or of all runs of a results file. print() shows a table; see also rows() and to_pandas()."""

    def __init__(self, path, run=None):
        self.path = os.path.abspath(os.fspath(path))
        self.run = None if run is None else int(run)
        if not os.path.isfile(self.path):
            raise Error("%s does not exist" % path)
        self._rows = None

    # Data

    def _query(self, text):
        sqlite3 = importlib.import_module("sqlite3")
        where = "" if self.run is None else " WHERE run = %d" % self.run
        connection = None
        try:
            connection = sqlite3.connect("file:%s?mode=ro" % urllib.parse.quote(self.path), uri=True)
            cursor = connection.execute(text + where)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, values)) for values in cursor]
        except sqlite3.Error as error:
            raise Error("%s is not a readable results file: %s" % (self.path, error)) from None
        finally:
            if connection is not None:
                connection.close()

    def _load(self):
        if self._rows is None:
            try:
                self._rows = self._read()
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise Error("%s is damaged or of another version (%s: %s); see `attnscope check`"
                            % (self.path, type(error).__name__, error)) from error
        return self._rows

    def _read(self):
        """Rows of all kernels: the columns of v_points, one column per knob and further metric, derived values."""
        rows = self._query("SELECT * FROM v_points")
        metrics, samples = {}, {}
        for each in self._query("SELECT * FROM v_metrics"):
            metrics.setdefault((each["point"], each["kernel"]), {}).setdefault(each["metric"], []).append(each["value"])
        for each in self._query("SELECT * FROM v_timing_samples"):
            samples.setdefault((each["point"], each["kernel"]), []).append(each["ns"])
        for row in rows:
            key = row["point"], row["kernel"]
            knobs = json.loads(row.pop("knobs") or "{}")
            row.update((name, value) for name, value in knobs.items() if name not in row)
            for name, values in metrics.get(key, {}).items():
                row.setdefault(name, statistics.median(values))
            self._derive(row, sorted(samples.get(key, ())), list(knobs))
        return rows

    @staticmethod
    def _derive(row, samples, knobs):
        row["knob_names"] = knobs
        row["tile"] = "%dx%d" % (row["br"], row["bc"]) if row["br"] else ""
        row["dram_bytes"] = _sum(row, "dram_read_bytes", "dram_write_bytes")
        row["l2_sm_bytes"] = _sum(row, "l2_to_sm_bytes", "sm_to_l2_bytes")
        row["model_l2_sm_bytes"] = _sum(row, "model_l2_to_sm_bytes", "model_sm_to_l2_bytes")
        measured, law = row["l2_sm_bytes"], row["model_l2_sm_bytes"]
        row["l2_sm_over_model"] = measured / law if measured and law else None
        # Linear attention and the like store their own FLOPs.
        flops = row.get("model_flops") if row["kernel"] == "all" else None
        if flops is None and row["kernel"] == "all":
            pairs = visible_pairs(row["mask"], row["n_q"], row["n_k"])
            products = {"fwd": 4, "bwd": 10}.get(row["pass"])
            if pairs is not None and products is not None:
                flops = products * row["d"] * row["batch"] * row["heads_q"] * pairs
        time = row["time_median_ns"]
        row["tflops"] = flops / time / row["gpus"] / 1e3 if flops and time else None
        row["time_q1_ns"], row["time_q3_ns"] = (
            (quantile(samples, 0.25), quantile(samples, 0.75)) if len(samples) > 1 else (None, None))

    def rows(self):
        """One dict per point: the whole call. Base units (bytes, ns)."""
        return [_public(row) for row in self._load() if row["kernel"] in ("all", None)]

    def kernels(self):
        """One dict per kernel of each point."""
        return [_public(row) for row in self._load() if row["kernel"] not in ("all", None)]

    def __len__(self):
        return len(self.rows())

    def samples(self):
        """All timing samples: dicts with run, point, algorithm, kernel, round, sample, ns."""
        names = {row["point"]: row["algorithm"] for row in self._load()}
        return [dict(each, algorithm=names[each["point"]]) for each in self._query("SELECT * FROM v_timing_samples")]

    def quantiles(self, q=(0.2, 0.5, 0.8)):
        """One dict per point with times: the columns that vary and, in ns, a column per quantile, such as "q0.2"."""
        times = {}
        for each in self.samples():
            if each["kernel"] == "all":
                times.setdefault(each["point"], []).append(each["ns"])
        names = ["point", "algorithm"] + self._varying()
        found = []
        for row in self.rows():
            ordered = sorted(times.get(row["point"], ()))
            if ordered:
                found.append({**{name: row.get(name) for name in names},
                              **{"q%g" % each: quantile(ordered, each) for each in q}})
        return found

    def to_pandas(self, kernels=False):
        """Returns rows(), or kernels(), as a data frame."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise Error("pandas is not installed (install it, or use rows())") from None
        return pandas.DataFrame(self.kernels() if kernels else self.rows())

    # Table

    def _varying(self, names=PROBLEM + OTHERS):
        """Names of the columns that differ between points, then of the knobs that do."""
        rows = [row for row in self._load() if row["kernel"] in ("all", None)]
        knobs = dict.fromkeys(name for row in rows for name in row["knob_names"])
        return [name for name in list(names) + list(knobs) if len({row.get(name) for row in rows}) > 1]

    def _heading(self):
        rows = self.rows()
        if not rows:
            return "no points"
        first, varying = rows[0], self._varying()
        fixed = ["%s %s" % (name, first[name]) for name in PROBLEM if name not in varying]
        origin = "" if first["provenance"] == "measured" else " (%s)" % first["provenance"]
        device = "several devices" if {"device", "provenance"} & set(varying) else first["device"] + origin
        return printable(device + (": " if fixed else "") + ", ".join(fixed))

    def table(self, kernels=False):
        """Returns the column titles and the rows of text that print() shows."""
        rows = self.kernels() if kernels else self.rows()
        varying = self._varying()
        if {"n_q", "n_k"} <= set(varying) and all(row["n_q"] == row["n_k"] for row in rows):
            varying.remove("n_k")
        titles = {"n_q": "N" if "n_k" not in varying else "n_q"}
        hosts = any(row.get("host_call_ns") for row in rows)
        columns = (["algorithm"] + (["kernel"] if kernels else []) + [titles.get(name, name) for name in varying]
                   + ["time", "± IQR/2"] + (["host time"] if hosts else [])
                   + ["TFLOP/s", "SM<->L2", "vs law", "DRAM", "status"])
        cells = []
        for row in rows:
            reason = ": " + row["reason"] if row["reason"] else ""
            cells.append([row["algorithm"]] + ([row["kernel"]] if kernels else [])
                         + ["" if row.get(name) is None else str(row[name]) for name in varying]
                         + [time_text(row["time_median_ns"]), spread_text(row)]
                         + ([time_text(row.get("host_call_ns"))] if hosts else [])
                         + ["-" if row["tflops"] is None else "%.3g" % row["tflops"], bytes_text(row["l2_sm_bytes"]),
                            change_text(row["l2_sm_over_model"]), bytes_text(row["dram_bytes"]),
                            row["disposition"] + reason])
        return columns, [[printable(cell) for cell in row] for row in cells]

    def __str__(self):
        return self._heading() + "\n" + aligned(*self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return _html_table(self._heading(), *self.table())

    # Comparison, plot, window

    def compare(self, baseline=None):
        """Compares each other algorithm with `baseline` (default: the first) and returns a Comparison."""
        names = list(dict.fromkeys(row["algorithm"] for row in self.rows()))
        if not names:
            raise UsageError("the runs have no points")
        baseline = names[0] if baseline is None else as_kernel(baseline).name if callable(baseline) else baseline
        if baseline not in names:
            raise UsageError("no points of %r; the runs have: %s" % (baseline, ", ".join(names)))
        if len(names) == 1:
            raise UsageError("only %r was measured; there is nothing to compare" % baseline)
        run = "" if self.run is None else "run:%d " % self.run
        sides = {name: "%s:%salgorithm=%s" % (self.path, run, name) for name in names}
        words = ["compare", sides.pop(baseline)]
        for side in sides.values():
            words += ["--candidate", side]
        return Comparison(words)

    def plot(self, path=None, x="N", y="dram_bytes"):
        """Draws measured values over x, and the law where it is known, with matplotlib. Saves the figure if a path is
        given, and returns it."""
        x = {"N": "n_k", "heads": "heads_q"}.get(x, x)
        rows = self.rows()
        for name in (x, y):
            if rows and name not in rows[0]:
                raise UsageError("unknown column %r; available: %s" % (name, ", ".join(sorted(rows[0]))))
        group = [name for name in ["algorithm"] + self._varying() if name not in (x, "n_q", "n_k", "tile")]
        spreads = self._spreads(y)
        figure = _plot.draw(rows, x, y, group, spreads, self._heading())
        if path is not None:
            figure.savefig(os.fspath(path), bbox_inches="tight", dpi=150)
        return figure

    def _spreads(self, y):
        """Lowest and highest value by point: the quartiles of times, the range over rounds of counters."""
        if y == "time_median_ns":
            return {row["point"]: (row["time_q1_ns"], row["time_q3_ns"]) for row in self.rows()
                    if row["time_q1_ns"] is not None}
        parts = {"dram_bytes": ("dram_read_bytes", "dram_write_bytes"),
                 "l2_sm_bytes": ("l2_to_sm_bytes", "sm_to_l2_bytes")}.get(y, (y,))
        sums = {}
        for each in self._query("SELECT * FROM v_metrics"):
            if each["kernel"] == "all" and each["metric"] in parts:
                rounds = sums.setdefault(each["point"], {})
                rounds[each["round"]] = rounds.get(each["round"], 0) + each["value"]
        return {point: (min(rounds.values()), max(rounds.values())) for point, rounds in sums.items()
                if len(rounds) > 1}

    def show(self):
        """Opens the runs in the window."""
        program = _program.find_program("attnscope-gui", "ATTNSCOPE_GUI")
        return subprocess.Popen([program, self.path], start_new_session=True, stdin=subprocess.DEVNULL,
                                env=_program.child_environment())


def _public(row):
    return {name: value for name, value in row.items() if name != "knob_names"}


def _html_table(heading, columns, cells):
    def line(tag, words):
        return "<tr>%s</tr>" % "".join("<%s>%s</%s>" % (tag, html.escape(word), tag) for word in words)

    return "<p>%s</p><table><thead>%s</thead><tbody>%s</tbody></table>" % (
        html.escape(heading), line("th", columns), "".join(line("td", words) for words in cells))


class Measurement(Runs):
    """Result of measure(): one point. `error`: largest absolute difference from the reference; `verdict`: "pass",
    "fail", or None without a reference."""

    def __init__(self, path, run=None, comparison=None):
        super().__init__(path, run)
        self.error, passed = comparison or (None, None)
        self.verdict = {True: "pass", False: "fail", None: None}[passed]

    def _heading(self):
        text = super()._heading()
        return text if self.verdict is None else "%s; %s: max. abs. error %.3g" % (text, self.verdict, self.error)


class Comparison:
    """Verdicts of `attnscope compare`."""

    def __init__(self, arguments):
        self._arguments = arguments
        self._data = json.loads(_program.run_text(arguments + ["--format", "json"]))

    def rows(self):
        """One dict per compared point; ratio below 1: the candidate is faster."""
        return self._data["rows"]

    def counts(self):
        """Number of points by verdict."""
        return self._data["counts"]

    def __str__(self):
        return _program.run_text(self._arguments)

    __repr__ = __str__

    def _repr_html_(self):
        columns = ["verdict", "candidate", "baseline", "ratio [95% CI]", "DRAM ratio", "SM<->L2 ratio"]
        cells = []
        for row in self.rows():
            ratio = "-" if row["ratio"] is None else "%.4f [%.4f, %.4f]" % (row["ratio"], row["ratio_low"],
                                                                           row["ratio_high"])
            bytes_ratios = ["-" if row[name] is None else "%.3f" % row[name]
                            for name in ("ratio_dram_bytes", "ratio_l2_sm_bytes")]
            cells.append([row["verdict"] or row["reason"] or "", row["candidate_point"] or "-",
                          row["baseline_point"] or "-", ratio] + bytes_ratios)
        counts = ", ".join("%d %s" % (count, verdict) for verdict, count in self.counts().items())
        return _html_table(counts, columns, cells)
