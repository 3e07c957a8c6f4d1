# SPDX-License-Identifier: Apache-2.0
import contextlib
import ctypes
import os

import torch

from . import memory

OutOfMemoryError = torch.OutOfMemoryError
# With the fake driver, whose device memory is host memory, work is a kernel and graphs are the driver's.
driver = ctypes.CDLL(os.environ["ATTNSCOPE_CUDA_LIBRARY"]) if "ATTNSCOPE_CUDA_LIBRARY" in os.environ else None
Kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
THREAD_LOCAL = 1   # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
capturing = None   # graph that records
graphs = {}        # key: raw handle
synchronizations = 0
streams = []       # current streams, innermost last
device = None


def set_device(index):
    global device
    device = index


def current_device():
    return device or 0


def memory_allocated():
    return torch.live_bytes


def synchronize():
    global synchronizations
    synchronizations += 1


class ExternalStream:
    def __init__(self, stream_ptr, device=None):
        self.cuda_stream, self.device = stream_ptr, device


@contextlib.contextmanager
def stream(chosen):
    streams.append(chosen)
    try:
        yield
    finally:
        streams.pop()


def launch(work):
    """Runs work, or records it. Outputs of a recorded call have no values yet."""
    if driver is not None:
        kernel = Kernel(lambda _: work())
        if capturing is not None:
            capturing.works.append(kernel)  # lives as long as the graph
        driver.attnscope_fake_launch(current_stream(), b"elementwise", kernel, None, 1)
    elif capturing is not None:
        capturing.works.append(work)
    else:
        work()


def current_stream():
    return ctypes.c_void_p(streams[-1].cuda_stream)


def require_no_capture():
    if capturing is not None:
        capturing.valid = False
        raise torch.AcceleratorError("CUDA error: operation not permitted when stream is capturing\nCompile with ...")


class CUDAGraph:
    def __init__(self, keep_graph=False):
        assert keep_graph
        self.works, self.valid, self.raw = [], True, ctypes.c_void_p()
        graphs[id(self)] = self

    def capture_begin(self, pool=None, capture_error_mode="global"):
        global capturing
        assert streams and capturing is None and capture_error_mode == "thread_local"
        self._pool = pool or object()
        capturing = self
        if driver is not None:
            assert driver.cuStreamBeginCapture_v2(current_stream(), THREAD_LOCAL) == 0

    def capture_end(self):
        global capturing
        capturing = None
        if driver is not None:
            driver.cuStreamEndCapture(current_stream(), ctypes.byref(self.raw))
        if not self.valid:
            raise torch.AcceleratorError("CUDA error: operation failed due to a previous error during capture")

    def pool(self):
        return self._pool

    def raw_cuda_graph(self):
        return self.raw.value or id(self)


def replay(raw):
    for work in graphs[raw].works:
        work()
