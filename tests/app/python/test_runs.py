# SPDX-License-Identifier: Apache-2.0
"""Runs, on a results file of the command line."""
import contextlib
import csv
import io
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
import attnscope
from attnscope import _format, _plot, _runs


class Formats(unittest.TestCase):
    def test_quantities(self):
        cases = [(None, "-"), (950.4, "950 ns"), (999.7, "1.00 µs"), (13804.7, "13.8 µs"), (1.2549e6, "1.25 ms"),
                 (3e9, "3.00 s")]
        for ns, text in cases:
            self.assertEqual(_format.time_text(ns), text)
        self.assertEqual([_format.bytes_text(count) for count in (0, 999, 528448, 1058816, 22.1e9)],
                         ["0 B", "999 B", "528 kB", "1.06 MB", "22.1 GB"])
        self.assertEqual([_format.change_text(ratio) for ratio in (1.0, 1.01234, 0.5, None)],
                         ["+0.00%", "+1.23%", "-50.00%", "-"])

    def test_visible_pairs(self):
        def counted(n_q, n_k, left, right):
            return sum(1 for i in range(n_q) for j in range(n_k)
                       if i + n_k - n_q - left <= j <= i + n_k - n_q + right)

        for n_q, n_k in ((5, 5), (3, 8), (8, 3), (1, 1), (2, 9), (9, 2)):
            self.assertEqual(_format.visible_pairs("full", n_q, n_k), n_q * n_k)
            self.assertEqual(_format.visible_pairs("causal", n_q, n_k), counted(n_q, n_k, 99, 0))
            for left, right in ((2, 1), (0, 0), (1, 12), (12, 3)):
                self.assertEqual(_format.visible_pairs("window:%d:%d" % (left, right), n_q, n_k),
                                 counted(n_q, n_k, left, right))
            self.assertEqual(_format.visible_pairs("window:inf:1", n_q, n_k), counted(n_q, n_k, 99, 1))
            self.assertEqual(_format.visible_pairs("window:2:inf", n_q, n_k), counted(n_q, n_k, 2, 99))
        self.assertIsNone(_format.visible_pairs("causal+lengths:ramp", 4, 4))
        self.assertIsNone(_format.visible_pairs("blocks:64:butterfly", 4, 4))

    def test_quantile(self):
        self.assertEqual([_runs.quantile([1.0, 2.0, 4.0], q) for q in (0, 0.25, 0.5, 0.75, 1)], [1, 1.5, 2, 3, 4])


@unittest.skipUnless(support.program(), "the command line was not built")
class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.patched = mock.patch.dict(os.environ, ATTNSCOPE_PROGRAM=support.program())
        cls.patched.start()
        cls.file = os.path.join(cls.folder.name, "runs.attnscope")
        collect = [support.program(), "collect", "--device", "simulated", "--quiet", "-o", cls.file]
        for more in (["-a", "algorithm=[naive,fa2]", "-a", "N=[256,512]", "-a", "mask=[full,causal]", "-a", "heads=2"],
                     ["-a", "algorithm=linattn", "-a", "N=256"],
                     ["-a", "algorithm=splitkv", "-a", "n_q=1", "-a", "n_k=[512,1024]", "-a", "splits=[4,8]", "-a",
                      "tile=[16x32,7x9]"]):
            subprocess.run(collect + more, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.patched.stop()
        cls.folder.cleanup()

    def exported(self, *words):
        text = subprocess.run([support.program(), "export", self.file, "--format", "csv", *words], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def test_rows_equal_the_export(self):
        ours = {(row["run"], row["point"], row["kernel"]): row
                for rows in (attnscope.Runs(self.file).rows(), attnscope.Runs(self.file).kernels()) for row in rows}
        theirs = self.exported()
        self.assertEqual(len(ours), len(theirs))
        for row in theirs:
            mine = ours[int(row["run"]), int(row["point"]), row["kernel"]]
            for name in ("time_median_ns", "l2_to_sm_bytes", "memory_bytes", "tflops", "model_tensor_utilization_pct"):
                expected = float(row[name]) if row[name] else None
                with self.subTest(name=name, point=row["point"], kernel=row["kernel"]):
                    if name == "tflops" and row["kernel"] != "all":
                        continue
                    if expected is None:
                        self.assertIsNone(mine.get(name))
                    else:
                        self.assertTrue(math.isclose(mine[name], expected, rel_tol=1e-9), (mine[name], expected))
            self.assertEqual((mine["disposition"], mine["reason"]), (row["disposition"], row["reason"]))

    def test_rows_of_one_run(self):
        runs = attnscope.Runs(self.file, 1)
        self.assertEqual(len(runs), 8)
        row = runs.rows()[1]
        self.assertEqual((row["algorithm"], row["n_q"], row["mask"], row["provenance"]),
                         ("fa2", 256, "full", "simulated"))
        self.assertEqual(row["dram_bytes"], row["dram_read_bytes"] + row["dram_write_bytes"])
        self.assertEqual(row["l2_sm_over_model"], 1.0)
        self.assertEqual({each["kernel"] for each in runs.kernels()}, {"qk", "softmax", "pv"})

    def test_table(self):
        columns, cells = attnscope.Runs(self.file, 1).table()
        self.assertEqual(columns, ["algorithm", "N", "mask", "tile", "time", "± IQR/2", "TFLOP/s", "SM<->L2", "vs law",
                                   "DRAM", "status"])
        self.assertEqual(cells[1][:3] + cells[1][8:9] + cells[1][10:], ["fa2", "256", "full", "+0.00%", "ok"])
        lines = str(attnscope.Runs(self.file, 1)).splitlines()
        self.assertEqual(len(lines), 3 + 8)
        self.assertEqual(lines[0],
                         "NVIDIA H200 (simulated): pass fwd, dtype fp16, batch 1, heads_q 2, heads_kv 2, d 64")

    def test_knobs_and_failed_points(self):
        runs = attnscope.Runs(self.file, 3)
        columns, cells = runs.table()
        self.assertEqual(columns[1:4], ["n_k", "tile", "splits"])
        self.assertEqual({row["splits"] for row in runs.rows()}, {4, 8})
        failed = [row for row in cells if row[2] == "7x9"]
        self.assertEqual((len(failed), failed[0][4], failed[0][-1]),
                         (4, "-", "infeasible: Br must be a positive multiple of 16, not 7."))

    def test_several_runs(self):
        runs = attnscope.Runs(self.file)
        columns, cells = runs.table()
        self.assertIn("run", columns)
        self.assertEqual({row[columns.index("run")] for row in cells}, {"1", "2", "3"})
        with mock.patch.object(_plot, "draw") as draw:
            runs.plot()
        self.assertIn("run", draw.call_args.args[3])

    def test_files_from_elsewhere(self):
        def changed(*statements):
            path = os.path.join(self.folder.name, "changed.attnscope")
            shutil.copyfile(self.file, path)
            with contextlib.closing(sqlite3.connect(path)) as connection:
                for text in statements:
                    connection.execute(text)
                connection.commit()
            return attnscope.Runs(path, 1)

        text = str(changed("UPDATE points SET reason = 'a' || char(27) || char(10) || 'b'"))
        self.assertIn("a??b", text)
        for view in ("SELECT 1 AS run", "SELECT *, 'x' AS br FROM v_timing_samples"):
            with self.assertRaisesRegex(attnscope.Error, "is damaged or of another version"):
                changed("DROP VIEW v_points", "CREATE VIEW v_points AS " + view).rows()

    def test_html(self):
        text = attnscope.Runs(self.file, 1)._repr_html_()
        self.assertIn("<th>SM&lt;-&gt;L2</th>", text)
        self.assertEqual(text.count("<tr>"), 9)

    def test_samples_and_quantiles(self):
        runs = attnscope.Runs(self.file, 1)
        self.assertEqual({each["algorithm"] for each in runs.samples()}, {"naive", "fa2"})
        found = runs.quantiles((0.1, 0.5))
        self.assertEqual(list(found[0]), ["point", "algorithm", "n_q", "n_k", "mask", "tile", "q0.1", "q0.5"])
        self.assertEqual([each["q0.5"] for each in found], [row["time_median_ns"] for row in runs.rows()])

    def test_compare(self):
        comparison = attnscope.Runs(self.file, 1).compare(baseline="fa2")
        self.assertEqual(sum(comparison.counts().values()), 4)

        def fa2(q, k, v):
            return q

        self.assertEqual(attnscope.Runs(self.file, 1).compare(fa2).counts(), comparison.counts())
        self.assertEqual({(row["baseline_point"][:3], row["candidate_point"][:5]) for row in comparison.rows()},
                         {("fa2", "naive")})
        self.assertIn("Geometric mean", str(comparison))
        self.assertEqual(comparison._repr_html_().count("<tr>"), 5)
        with self.assertRaisesRegex(attnscope.Error, "no points of 'fa3'; the runs have: naive, fa2"):
            attnscope.Runs(self.file, 1).compare(baseline="fa3")
        def fa2(q, k, v):
            return q

        self.assertEqual(attnscope.Runs(self.file, 1).compare(baseline=fa2).counts(), comparison.counts())
        with self.assertRaisesRegex(attnscope.Error, "the runs have no points"):
            attnscope.Runs(self.file, 99).compare()
        with self.assertRaisesRegex(attnscope.Error, "only 'splitkv' was measured"):
            attnscope.Runs(self.file, 3).compare()

    def test_optional_packages(self):
        with mock.patch.dict(sys.modules, {"pandas": None, "matplotlib": None, "matplotlib.figure": None}):
            with self.assertRaisesRegex(attnscope.Error, "^pandas is not installed"):
                attnscope.Runs(self.file).to_pandas()
            with self.assertRaisesRegex(attnscope.Error, "^matplotlib is not installed"):
                attnscope.Runs(self.file).plot()

    def test_plotted_series(self):
        runs = attnscope.Runs(self.file, 1)
        with mock.patch.object(_plot, "draw") as draw:
            runs.plot(y="l2_sm_bytes")
            with self.assertRaisesRegex(attnscope.Error, "unknown column 'bytes'"):
                runs.plot(y="bytes")
        rows, x, y, group, spreads, _ = draw.call_args.args
        self.assertEqual((x, y, group, spreads), ("n_k", "l2_sm_bytes", ["algorithm", "mask"], {}))
        series = _plot._series(rows, x, y, group)
        self.assertEqual(sorted(series), ["fa2 causal", "fa2 full", "naive causal", "naive full"])
        self.assertEqual([row["n_k"] for row in series["fa2 full"]], [256, 512])

    def test_unreadable_files(self):
        with self.assertRaisesRegex(attnscope.Error, "none.attnscope does not exist"):
            attnscope.Runs("none.attnscope")
        with self.assertRaisesRegex(attnscope.Error, "is not a readable results file"):
            attnscope.Runs(__file__).rows()


if __name__ == "__main__":
    unittest.main()
