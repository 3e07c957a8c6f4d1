# SPDX-License-Identifier: Apache-2.0
"""A worker with libattnscope and the fake driver measures a function."""
import json
import os
import subprocess
import sys
import unittest

import support

LIBRARY = os.environ.get("ATTNSCOPE_FAKE_GPU_LIBRARY")
FILE = """
    import math
    import attnscope
    import torch

    def attention(q, k, v):
        _, heads, rows, d = q.shape
        q, k, v = ([each[i:i + d] for i in range(0, len(each), d)] for each in (q.values(), k.values(), v.values()))
        for row in range(heads * rows):
            first = row // rows * rows
            keys = range(first, first + rows)
            weights = [math.exp(sum(a * b for a, b in zip(q[row], k[key])) / math.sqrt(d)) for key in keys]
            for column in range(d):
                yield sum(weight * v[key][column] for weight, key in zip(weights, keys)) / sum(weights)

    @attnscope.kernel(passes="fwd")
    def flash(q, k, v):
        o = torch.empty(q.shape, q.dtype)
        torch.cuda.launch(lambda: o.write(attention(q, k, v)))
        return o

    @attnscope.kernel(passes="fwd")
    def wrong(q, k, v):
        return flash(q, k, v) * 0.5

    @attnscope.kernel(passes="fwd")
    def reads(q, k, v):
        q.item()
        return flash(q, k, v)
"""


@unittest.skipUnless(LIBRARY, "needs the fake driver: ATTNSCOPE_FAKE_GPU_LIBRARY")
class FakeGpu(unittest.TestCase):
    def measure(self, name):
        """Returns the record of one point."""
        with support.folder_with(mine=FILE) as folder:
            environment = {"ATTNSCOPE_%s_LIBRARY" % each: LIBRARY for each in ("CUDA", "NVRTC", "CUPTI", "NVML")}
            environment["ATTNSCOPE_KERNELS"] = "%s:%s\n" % (os.path.join(folder, "mine.py"), name)
            environment["ATTNSCOPE_CACHE_DIR"] = folder
            environment["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), support.FAKE_TORCH])
            point = {"algorithm": name, "heads_q": 2, "heads_kv": 2, "n_q": 16, "n_k": 16, "d": 16, "br": 0, "bc": 0}
            request = {"request": "measure", "id": "1", "points": [point], "options": {"min_samples": 3}, "whole": True}
            worker = subprocess.Popen([sys.executable, "-m", "attnscope.worker", "worker", "--device", "0"],
                                      env={**os.environ, **environment}, encoding="utf-8",
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            with worker:
                worker.stdin.write(json.dumps(request) + "\n")
                worker.stdin.flush()
                events = [json.loads(worker.stdout.readline()) for _ in range(2)]
                worker.stdin.close()  # ends the worker
        self.assertEqual(([each["event"] for each in events], worker.returncode), (["device", "record"], 0))
        return events[1]["records"][0]

    def test_captured(self):
        record = self.measure("flash")
        self.assertEqual((record["disposition"], record["reason"]), ("ok", ""))
        self.assertLess(record["max_abs_error"], record["error_bound"])
        (kernel,) = record["kernels"]
        self.assertEqual(kernel["launch"]["entry"], "elementwise")
        self.assertEqual([round(sample, -2) for sample in kernel["samples_ns"]], [10000] * 3)
        metrics = {each["name"]: each["value"] for each in kernel["metrics"]}
        self.assertEqual(metrics["dram_read_bytes"], 4096)
        self.assertGreater(metrics["host_call_ns"], 0)

    def test_not_captured(self):
        record = self.measure("reads")
        self.assertEqual(record["disposition"], "ok")
        self.assertRegex(record["reason"], r"^reads\(\): not captured: CUDA error: operation not permitted")

    def test_wrong_result(self):
        record = self.measure("wrong")
        self.assertEqual((record["disposition"], record["reason_code"]), ("incorrect", "oracle.row"))


if __name__ == "__main__":
    unittest.main()
