#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unit tests of ncu_judge.py; need no GPU."""
import unittest

import ncu_judge

MIB = ncu_judge.MIB


def values(read=400, write=100, to_sm=900, to_l2=200, occupancy=50.0):
    return {"dram_read_bytes": read * MIB, "dram_write_bytes": write * MIB, "l2_to_sm_bytes": to_sm * MIB,
            "sm_to_l2_bytes": to_l2 * MIB, "achieved_occupancy_pct": occupancy}


def verdicts(own, ncu):
    return {row[0]: row[5] for row in ncu_judge.compare(own, ncu, 64 * MIB, 2 * MIB)}


class Compare(unittest.TestCase):
    def test_equal_values_match(self):
        found = verdicts(values(), values())
        self.assertEqual(set(found), {*ncu_judge.METRICS, *ncu_judge.SUMS})
        self.assertEqual(set(found.values()), {"ok"})

    def test_misattributed_bytes_differ(self):
        found = verdicts(values(read=380, write=120, to_sm=880, to_l2=220), values())
        self.assertEqual([key for key, verdict in found.items() if verdict == "differs"],
                         ncu_judge.DIRECTIONS)
        self.assertEqual((found["dram_bytes"], found["l2_sm_bytes"]), ("ok", "ok"))

    def test_only_dram_writes_have_slack(self):
        self.assertEqual(verdicts(values(write=101.9), values())["dram_write_bytes"], "ok")
        self.assertEqual(verdicts(values(write=102.1), values())["dram_write_bytes"], "differs")
        self.assertEqual(verdicts(values(to_l2=202.1), values())["sm_to_l2_bytes"], "differs")

    def test_writes_of_ncu_are_tolerated(self):
        def verdict(write, own=2.5):
            rows = ncu_judge.compare(values(write=write), values(), 64 * MIB, 2 * MIB, own * MIB)
            return {row[0]: row[5] for row in rows}
        self.assertEqual(verdict(95.6)["dram_write_bytes"], "ok")
        self.assertEqual(verdict(95.4)["dram_write_bytes"], "differs")
        self.assertEqual(verdict(95.6, own=0)["dram_write_bytes"], "differs")
        self.assertEqual(verdict(102.1)["dram_write_bytes"], "differs")

    def test_small_values_are_skipped_if_both_are_small(self):
        self.assertNotIn("dram_write_bytes", verdicts(values(write=10), values(write=5)))
        self.assertEqual(verdicts(values(write=0), values())["dram_write_bytes"], "differs")
        self.assertEqual(verdicts(values(), values(write=0))["dram_write_bytes"], "differs")

    def test_occupancy_tolerance_in_points(self):
        self.assertEqual(verdicts(values(occupancy=51.5), values())["achieved_occupancy_pct"], "differs")


class OurKernels(unittest.TestCase):
    def test_medians_over_recordings_in_launch_order(self):
        rows = [{"kernel": kernel, **{key: str(value) for key, value in values(read=read, occupancy=occupancy).items()}}
                for read, occupancy in ((400, 66.9), (410, 65.8), (401, 66.7)) for kernel in ("dot", "bwd")]
        found = ncu_judge.our_kernels(rows)
        self.assertEqual(list(found), ["dot", "bwd"])
        self.assertEqual(found["dot"]["dram_read_bytes"], 401 * MIB)
        self.assertEqual(found["bwd"]["achieved_occupancy_pct"], 66.7)


class NeverCompared(unittest.TestCase):
    def test_returns_directions_and_algorithms(self):
        every = [("fa2", key) for key in ncu_judge.DIRECTIONS]
        self.assertEqual(ncu_judge.never_compared(every, ["fa2"]), [])
        self.assertEqual(ncu_judge.never_compared(every[1:], ["fa2"]), ["dram_read_bytes"])
        self.assertEqual(ncu_judge.never_compared(every, ["fa1", "fa2"]), ["fa1"])
        self.assertEqual(ncu_judge.never_compared([("fa1", "achieved_occupancy_pct")], ["fa1"]),
                         ncu_judge.DIRECTIONS + ["fa1"])


if __name__ == "__main__":
    unittest.main()
