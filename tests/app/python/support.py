# SPDX-License-Identifier: Apache-2.0
"""Paths, the stand-in for PyTorch, and problems in host memory."""
import contextlib
import ctypes
import os
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PACKAGE_FOLDER = os.path.join(ROOT, "app", "python")
FAKE_TORCH = os.path.join(HERE, "fake_torch")
sys.path[:0] = [PACKAGE_FOLDER, FAKE_TORCH]

import torch  # noqa: E402

from attnscope import _c  # noqa: E402
from attnscope._capture import Memory  # noqa: E402
from attnscope._session import Session  # noqa: E402

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def program():
    """The command line; None if it was not built."""
    path = os.environ.get("ATTNSCOPE_PROGRAM") or os.path.join(ROOT, "build", "test", "app", "attnscope")
    return path if os.access(path, os.X_OK) else None


@contextlib.contextmanager
def folder_with(**files):
    """A folder with Python files; the modules are forgotten at the end."""
    known, paths = set(sys.modules), list(sys.path)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as stream:
                stream.write(textwrap.dedent(text))
        try:
            yield folder
        finally:
            sys.path[:] = paths
            for name in set(sys.modules) - known:
                module = sys.modules[name]
                if (getattr(module, "__file__", None) or "").startswith(folder):
                    del sys.modules[name]


class FakeLibrary:
    """Tags of libattnscope."""

    def __init__(self):
        self.current, self.used, self.released = 0, [], []

    def attnscope_memory_tag(self, tag):
        self.current = tag
        self.used += [tag] if tag else []

    def attnscope_memory_release(self, tag):
        self.released.append(tag)

    def attnscope_memory_live(self, tag):
        assert tag == 0
        return torch.live_bytes


class Case:
    """A problem, its buffers and a session with one function."""
    BATCH, HEADS, N, D = 2, 2, 3, 4

    def __init__(self, kernel, dtype="fp32", backward=False, layout="bhnd", window=(-1, -1), knobs=(), lse=False,
                 br=0, bc=0):
        self.library = FakeLibrary()
        self.session = Session(Memory(self.library), {("f.py", "f"): kernel})
        self.kind, self.layout = DTYPES[dtype], layout
        problem = self.problem = _c.Problem(
            device=0, dtype=_c.DTYPES.index(dtype), batch=self.BATCH, heads_q=self.HEADS, heads_kv=self.HEADS,
            n_q=self.N, n_k=self.N, d=self.D, scale=0.5, window_left=window[0], window_right=window[1], br=br, bc=bc)
        setattr(problem, "pass", int(backward))
        self._knobs = (_c.Knob * len(knobs))(*[_c.Knob(name.encode(), value) for name, value in knobs])
        problem.knob_count, problem.knobs = len(knobs), self._knobs
        row, head = (self.HEADS * self.D, self.D) if layout == "bnhd" else (self.D, self.N * self.D)
        for name in ("q", "k", "v", "o", "dout", "dq", "dk", "dv"):
            setattr(problem, name, _c.Strides(self.HEADS * self.N * self.D, head, row))
        names = ["q", "k", "v", "o"] + (["dout", "dq", "dk", "dv"] if backward else [])
        shape = (self.BATCH, self.HEADS, self.N, self.D)
        self.buffers = {name: torch.empty(shape, self.kind) for name in names}
        if lse:
            self.buffers["lse"] = torch.empty(shape[:3], torch.float32)
        self.pointers = _c.Pointers(**{name: each.data_ptr() for name, each in self.buffers.items()})
        for index, name in enumerate(names):
            count = len(self.buffers[name].values())
            self.buffers[name].write([index * 100.0 + i % 64 for i in range(count)])
        self.plan = _c.Plan()

    def values(self, name):
        return self.buffers[name].values()

    def prepare(self):
        table = self.session.functions
        return table.prepare(b"f.py", b"f", ctypes.byref(self.problem), ctypes.byref(self.pointers), 77,
                             ctypes.byref(self.plan))

    def error(self):
        return ctypes.string_at(self.session.functions.last_error()).decode()

    def note(self):
        return (self.plan.note or b"").decode()

    def run_plan(self):
        """What libattnscope does with a plan."""
        table, plan = self.session.functions, self.plan
        if plan.measured:
            for graph in (plan.before, plan.measured, plan.after):
                if graph:
                    torch.cuda.replay(graph)
            return [_c.OK]
        return [table.call(plan.handle), table.copy_results(plan.handle)]
