# SPDX-License-Identifier: Apache-2.0
"""The C interface of libattnscope: attnscope_kernel.h and profiler/measure/gpu/user/python_kernel.h."""
import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p

from ._errors import Error

OK, ERROR, UNSUPPORTED, OUT_OF_MEMORY, INCORRECT = range(5)
DTYPES = ("fp16", "bf16", "fp32")
PASSES = ("fwd", "bwd")
VERSION = 1


class Strides(Structure):
    _fields_ = [("batch", c_int64), ("head", c_int64), ("row", c_int64)]


class Knob(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class Problem(Structure):
    _fields_ = (
        [("device", c_int32), ("dtype", c_int32), ("pass", c_int32)]
        + [(name, c_int64) for name in ("batch", "heads_q", "heads_kv", "n_q", "n_k", "d")]
        + [(name, Strides) for name in ("q", "o", "dout", "dq", "k", "v", "dk", "dv")]
        + [("scale", c_double), ("window_left", c_int64), ("window_right", c_int64), ("mask_block", c_int64)]
        + [("lse_base_2", c_int32), ("deterministic", c_int32), ("br", c_int64), ("bc", c_int64)]
        + [("knob_count", c_int64), ("knobs", POINTER(Knob))])


class Pointers(Structure):
    _fields_ = [(name, c_void_p) for name in ("q", "k", "v", "o", "lse", "dout", "dq", "dk", "dv", "key_lengths",
                                              "block_mask", "q_starts", "k_starts", "workspace")]


class Plan(Structure):
    _fields_ = [("handle", c_void_p), ("before", c_void_p), ("measured", c_void_p), ("after", c_void_p),
                ("memory", c_int64), ("br", c_int64), ("bc", c_int64), ("saved_bytes", c_int64),
                ("host_ns", c_double), ("note", c_char_p)]


class Functions(Structure):
    """Function table attnscope_python. last_error is declared to return an address, which ctypes does not copy."""
    _fields_ = [("version", c_int32),
                ("describe", CFUNCTYPE(c_int, c_char_p, c_char_p, POINTER(c_void_p))),
                ("prepare", CFUNCTYPE(c_int, c_char_p, c_char_p, POINTER(Problem), POINTER(Pointers), c_void_p,
                                      POINTER(Plan))),
                ("call", CFUNCTYPE(c_int, c_void_p)),
                ("copy_results", CFUNCTYPE(c_int, c_void_p)),
                ("release", CFUNCTYPE(None, c_void_p)),
                ("last_error", CFUNCTYPE(c_void_p))]


def library_path():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libattnscope.so")
    path = os.environ.get("ATTNSCOPE_LIBRARY") or here
    if not os.path.isfile(path):
        raise Error("%s does not exist (install the attnscope package, or set ATTNSCOPE_LIBRARY)" % path)
    return path


def load_library():
    """Loads libattnscope. Raises Error."""
    path = library_path()
    try:
        library = ctypes.CDLL(path)
        library.attnscope_worker.argtypes = [c_int, POINTER(c_char_p), POINTER(Functions), c_int, c_int]
        library.attnscope_memory_tag.argtypes = [c_int64]
        library.attnscope_memory_release.argtypes = [c_int64]
        library.attnscope_memory_live.argtypes = [c_int64]
    except (OSError, AttributeError) as error:
        raise Error("%s cannot be loaded: %s" % (path, error)) from None
    library.attnscope_memory_tag.restype = library.attnscope_memory_release.restype = None
    library.attnscope_memory_live.restype = c_int64
    return library


def serve(library, arguments, functions, read, write):
    """Serves the worker protocol on two descriptors until the supervisor closes them. Returns the exit code."""
    words = (c_char_p * len(arguments))(*[os.fsencode(word) for word in arguments])
    return library.attnscope_worker(len(arguments), words, ctypes.byref(functions), read, write)
