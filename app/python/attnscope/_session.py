# SPDX-License-Identifier: Apache-2.0
"""Functions that the package provides to a worker of libattnscope."""
import ctypes
import importlib
import itertools
import json
import os

from . import _c
from ._capture import Call, Failure, Memory, is_out_of_memory
from ._errors import Unsupported, first_line, one_line
from ._load import load_kernel


def status_of(error):
    """Returns the status and the one-line reason for an exception."""
    if isinstance(error, Failure):
        return error.status, first_line(error)
    if is_out_of_memory(error):
        return _c.OUT_OF_MEMORY, first_line(error)
    if isinstance(error, (Unsupported, NotImplementedError)):
        return _c.UNSUPPORTED, one_line(error)
    return _c.ERROR, one_line(error)


def problem_key(problem):
    """Values that distinguish problems of one function."""
    fields = ("dtype", "pass", "batch", "heads_q", "heads_kv", "n_q", "n_k", "d", "window_left", "window_right", "br",
              "bc")
    knobs = [(problem.knobs[i].name, problem.knobs[i].value) for i in range(problem.knob_count)]
    return tuple(getattr(problem, name) for name in fields) + tuple(knobs)


class Session:
    """Kernels and prepared calls of a worker. The methods of the function table never raise."""

    def __init__(self, memory=None, kernels=None):
        self._memory = memory or Memory()
        self._kernels = dict(kernels or {})  # key: (file, name)
        self._calls, self._handles = {}, itertools.count(1)
        self._checked = set()
        self._error = ctypes.create_string_buffer(b"")
        self._manifest = None
        types = dict(_c.Functions._fields_)
        table = {name: types[name](getattr(self, name))
                 for name in ("describe", "prepare", "call", "copy_results", "release", "last_error")}
        self.functions = _c.Functions(version=_c.VERSION, **table)

    def kernel(self, file, name):
        key = (file, name)
        if key not in self._kernels:
            self._kernels[key] = load_kernel(file, name)
        return self._kernels[key]

    def manifest_text(self, file, name):
        return json.dumps(self.kernel(file, name).manifest(os.path.abspath(file), name), indent=1)

    def _guarded(self, work):
        try:
            work()
            return _c.OK
        except BaseException as error:  # also SystemExit and KeyboardInterrupt: C++ calls
            try:
                status, reason = status_of(error)
            except BaseException:  # the exception's own methods raise
                status, reason = _c.ERROR, type(error).__name__
            self._error = ctypes.create_string_buffer(reason.encode("utf-8", "replace"))
            return status

    def last_error(self):
        return ctypes.addressof(self._error)

    def describe(self, file, name, manifest):
        def work():
            text = self.manifest_text(os.fsdecode(file), name.decode())
            self._manifest = ctypes.create_string_buffer(text.encode())
            manifest[0] = ctypes.addressof(self._manifest)

        return self._guarded(work)

    def prepare(self, file, name, problem, pointers, stream, plan):
        return self._guarded(lambda: self._prepare((os.fsdecode(file), name.decode()), problem[0], pointers[0], stream,
                                                   plan[0]))

    def _prepare(self, key, problem, pointers, stream, plan):
        torch = importlib.import_module("torch")
        call = Call(self.kernel(*key), torch, problem, pointers, stream, self._memory)
        try:
            checked = key + problem_key(problem)
            call.prepare(checked not in self._checked)
            self._checked.add(checked)
        except BaseException:
            self._free(call)
            raise
        handle = next(self._handles)
        self._calls[handle] = call
        for name in ("before", "measured", "after"):
            graph = getattr(call, name)
            setattr(plan, name, None if graph is None else int(graph.raw_cuda_graph()))
        plan.handle, plan.memory = handle, call.measured_tag
        plan.br, plan.bc = call.tile
        plan.saved_bytes, plan.host_ns = call.saved_bytes, call.host_ns
        # The call keeps the text while C++ may read it.
        call.note = None if call.note is None else call.note.encode("utf-8", "replace")
        plan.note = call.note

    def call(self, handle):
        return self._guarded(lambda: self._calls[handle].call())

    def copy_results(self, handle):
        return self._guarded(lambda: self._calls[handle].copy_results())

    def release(self, handle):
        self._guarded(lambda: self._free(self._calls.pop(handle)))

    def _free(self, call):
        for tag in call.release():
            self._memory.release(tag)
