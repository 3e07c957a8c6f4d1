#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prepares functions with the installed PyTorch and GPU, replays their graphs through the driver, and checks the
results. Needs neither libattnscope nor the command line.

usage: real_torch.py
"""
import ctypes
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "app", "python"))

import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

from attnscope import _c  # noqa: E402
from attnscope._kernel import Kernel  # noqa: E402
from attnscope._session import Session  # noqa: E402

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
DRIVER = ctypes.CDLL("libcuda.so.1")


def check(code):
    assert code == 0, "CUDA driver error %d" % code


class Graph:
    def __init__(self, raw):
        self._exec, count = ctypes.c_void_p(), ctypes.c_size_t()
        check(DRIVER.cuGraphGetNodes(ctypes.c_void_p(raw), None, ctypes.byref(count)))
        check(DRIVER.cuGraphInstantiateWithFlags(ctypes.byref(self._exec), ctypes.c_void_p(raw), ctypes.c_uint64(0)))
        self.nodes = count.value

    def launch(self, stream):
        check(DRIVER.cuGraphLaunch(self._exec, ctypes.c_void_p(stream)))


class Case:
    def __init__(self, kernel, n=512, d=64, dtype="fp16", backward=False, lse=False):
        self.batch, self.heads, self.n, self.d = 2, 4, n, d
        self.session = Session(kernels={("f.py", "f"): kernel})
        self.stream = torch.cuda.Stream()
        shape = (self.batch, n, self.heads, d) if kernel.layout == "bnhd" else (self.batch, self.heads, n, d)
        names = ["q", "k", "v", "o"] + (["dout", "dq", "dk", "dv"] if backward else [])
        self.tensors = {name: torch.randn(shape, device="cuda", dtype=DTYPES[dtype]) for name in names}
        if lse:
            self.tensors["lse"] = torch.zeros(self.batch, self.heads, n, device="cuda")
        problem = self.problem = _c.Problem(
            device=0, dtype=_c.DTYPES.index(dtype), batch=self.batch, heads_q=self.heads, heads_kv=self.heads, n_q=n,
            n_k=n, d=d, scale=d ** -0.5, window_left=-1, window_right=0)
        setattr(problem, "pass", int(backward))
        row, head = (self.heads * d, d) if kernel.layout == "bnhd" else (d, n * d)
        for name in ("q", "k", "v", "o", "dout", "dq", "dk", "dv"):
            setattr(problem, name, _c.Strides(self.heads * n * d, head, row))
        self.pointers = _c.Pointers(**{name: each.data_ptr() for name, each in self.tensors.items()})
        self.plan = _c.Plan()
        torch.cuda.synchronize()
        table = self.session.functions
        self.status = table.prepare(b"f.py", b"f", ctypes.byref(problem), ctypes.byref(self.pointers),
                                    self.stream.cuda_stream, ctypes.byref(self.plan))
        self.error = ctypes.string_at(table.last_error()).decode()
        self.note = (self.plan.note or b"").decode()

    def replay(self):
        """New inputs, then everything that libattnscope runs, twice."""
        for name in ("q", "k", "v", "dout"):
            if name in self.tensors:
                self.tensors[name].normal_()
        torch.cuda.synchronize()
        table, plan, nodes = self.session.functions, self.plan, 0
        graphs = [Graph(raw) for raw in (plan.before, plan.measured, plan.after) if plan.measured and raw]
        for graph in graphs + graphs[-2:]:
            graph.launch(self.stream.cuda_stream)
        if not plan.measured:
            assert [table.call(plan.handle), table.copy_results(plan.handle)] == [0, 0]
        torch.cuda.synchronize()
        return [graph.nodes for graph in graphs]

    def expected(self, layout="bhnd"):
        def seen(tensor):
            return (tensor.transpose(1, 2) if layout == "bnhd" else tensor).double()

        q, k, v = (seen(self.tensors[name]).requires_grad_(True) for name in "qkv")
        scores = q @ k.transpose(-1, -2) * self.problem.scale
        hidden = torch.ones(self.n, self.n, device="cuda", dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
        o, found = torch.softmax(scores, -1) @ v, {"lse": torch.logsumexp(scores, -1)}
        found["o"] = o
        if "dout" in self.tensors:
            found.update(zip(("dq", "dk", "dv"), torch.autograd.grad(o, (q, k, v), seen(self.tensors["dout"]))))
        return {name: (each.transpose(1, 2) if layout == "bnhd" and each.ndim == 4 else each).detach()
                for name, each in found.items()}


def sdpa(backend):
    def function(q, k, v, causal):
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return function


def naive(q, k, v, causal, scale):
    scores = q @ k.transpose(-1, -2) * scale
    if causal:
        rows, columns = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(rows, columns, device=q.device, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores.float(), -1)


class RealTorch(unittest.TestCase):
    def check(self, case, names, layout="bhnd", note=""):
        self.assertEqual((case.status, case.note), (0, note), case.error)
        nodes = case.replay()
        expected = case.expected(layout)
        for name in names:
            difference = float((case.tensors[name].double() - expected[name]).abs().max())
            self.assertLess(difference, 0.1 if case.problem.dtype == 1 else 0.02, name)
        case.session.functions.release(case.plan.handle)
        return nodes

    def test_back_ends(self):
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
            for dtype in ("fp16", "bf16"):
                with self.subTest(backend=backend, dtype=dtype):
                    self.check(Case(Kernel(sdpa(backend)), dtype=dtype), ["o"])
                    case = Case(Kernel(sdpa(backend)), dtype=dtype, backward=True)
                    print(backend, dtype, "nodes", self.check(case, ["dq", "dk", "dv"]), "saved bytes",
                          case.plan.saved_bytes, "host", round(case.plan.host_ns / 1e3), "us")

    def test_fp32_lse_and_layout(self):
        self.check(Case(Kernel(naive, lse="e"), dtype="fp32", lse=True), ["o", "lse"])

        def transposed(q, k, v, causal):
            inputs = (each.transpose(1, 2) for each in (q, k, v))
            return sdpa(SDPBackend.FLASH_ATTENTION)(*inputs, causal).transpose(1, 2)

        self.check(Case(Kernel(transposed, layout="bnhd")), ["o"], "bnhd")
        self.check(Case(Kernel(transposed, layout="bnhd"), backward=True), ["dq", "dk", "dv"], "bnhd")

    def test_compiled(self):
        self.check(Case(Kernel(torch.compile(naive))), ["o"])
        self.check(Case(Kernel(torch.compile(naive)), backward=True), ["dq", "dk", "dv"])

    def test_eager_and_errors(self):
        def synchronizes(q, k, v, causal, scale):
            q.sum().item()
            return naive(q, k, v, causal, scale)

        for backward in (False, True):
            case = Case(Kernel(synchronizes), backward=backward)
            self.assertTrue(case.note.startswith("not captured: "), case.note)
            self.check(case, ["dq", "dk", "dv"] if backward else ["o"], note=case.note)
        huge = Case(Kernel(lambda q, k, v: q.new_empty(1 << 48)))
        self.assertEqual(huge.status, _c.OUT_OF_MEMORY, huge.error)
        kept = []
        leak = Case(Kernel(lambda q, k, v: kept.append(q * 2) or kept[-1]))
        self.assertEqual(leak.status, _c.INCORRECT, leak.error)
        self.check(Case(Kernel(naive)), ["o"])  # works afterwards
        del kept[:]

    def test_tensors_outlive_the_plan(self):
        kept = []
        case = Case(Kernel(lambda q, k, v: kept.append(q) or q * 1.0))
        case.session.functions.release(case.plan.handle)
        self.assertTrue(torch.equal(kept[0], case.tensors["q"]))
        del case
        del kept[:]


if __name__ == "__main__":
    unittest.main()
