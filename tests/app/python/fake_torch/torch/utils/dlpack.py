# SPDX-License-Identifier: Apache-2.0
"""Reads DLPack capsules by dlpack.h's layout, independently of the package."""
import ctypes
import struct

import torch

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = b"used_dltensor"
DTYPES = {(2, 16): torch.float16, (4, 16): torch.bfloat16, (2, 32): torch.float32}


def from_dlpack(capsule):
    place = _api.PyCapsule_GetPointer(capsule, b"dltensor")
    # data, device type and id, ndim, dtype, shape, strides, byte offset, manager context, deleter
    data, kind, index, ndim, code, bits, lanes, shape, strides, offset, _, _ = struct.unpack(
        "=QiiiBBHQQQQQ", ctypes.string_at(place, 64))
    assert (kind, lanes, offset) == (2, 1, 0), (kind, lanes, offset)
    sizes = struct.unpack("=%dq" % ndim, ctypes.string_at(shape, 8 * ndim))
    steps = struct.unpack("=%dq" % ndim, ctypes.string_at(strides, 8 * ndim))
    _api.PyCapsule_SetName(capsule, USED)
    return torch.Tensor(torch.Storage(data, 0), sizes, steps, DTYPES[code, bits], index)
