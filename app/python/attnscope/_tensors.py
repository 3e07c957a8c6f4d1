# SPDX-License-Identifier: Apache-2.0
"""PyTorch tensors on given device addresses, through DLPack."""
import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

from ._c import DTYPES

CUDA = 2  # kDLCUDA
# Type code (2: floating point, 4: bfloat) and bits.
DLPACK_TYPES = {"fp16": (2, 16), "bf16": (4, 16), "fp32": (2, 32)}
CAPSULE_NAME = b"dltensor"  # the capsule refers to these bytes


class DLDevice(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class DLManagedTensor(Structure):
    _fields_ = [("tensor", DLTensor), ("manager", c_void_p), ("deleter", c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]

# A tensor reads its structure when it is destroyed, which may be after the plan's release: structures are kept, and
# used again for an equal tensor.
_structures = {}


def capsule(address, device, dtype, shape, strides):
    """Returns a DLPack capsule of memory that nobody frees. `dtype`: "fp16", ...; strides in elements."""
    key = (address, device, dtype, tuple(shape), tuple(strides))
    if key not in _structures:
        sizes, steps = (c_int64 * len(shape))(*shape), (c_int64 * len(strides))(*strides)
        code, bits = DLPACK_TYPES[dtype]
        tensor = DLTensor(address, DLDevice(CUDA, device), len(shape), DLDataType(code, bits, 1), sizes, steps, 0)
        _structures[key] = DLManagedTensor(tensor, None, None)
    return _new_capsule(ctypes.addressof(_structures[key]), CAPSULE_NAME, None)


class Tensors:
    """Tensors of a problem as the function sees them: [batch, heads, N, d], or [batch, N, heads, d] for bnhd. LSE is
    [batch, heads, N]. A tensor whose address is null is None."""

    def __init__(self, torch, problem, pointers, layout):
        self._torch, self._problem, self._layout = torch, problem, layout
        self.dtype = DTYPES[problem.dtype]
        for name in ("q", "o", "dout", "dq"):
            setattr(self, name, self._matrix(name, pointers, problem.heads_q, problem.n_q))
        for name in ("k", "v", "dk", "dv"):
            setattr(self, name, self._matrix(name, pointers, problem.heads_kv, problem.n_k))
        rows = (problem.batch, problem.heads_q, problem.n_q)
        self.lse = self._tensor(pointers.lse, "fp32", rows, (rows[1] * rows[2], rows[2], 1))

    def shape(self, heads, rows):
        batch, d = self._problem.batch, self._problem.d
        return (batch, rows, heads, d) if self._layout == "bnhd" else (batch, heads, rows, d)

    def _matrix(self, name, pointers, heads, rows):
        steps = getattr(self._problem, name)
        strides = ((steps.batch, steps.row, steps.head, 1) if self._layout == "bnhd"
                   else (steps.batch, steps.head, steps.row, 1))
        return self._tensor(getattr(pointers, name), self.dtype, self.shape(heads, rows), strides)

    def _tensor(self, address, dtype, shape, strides):
        if not address:
            return None
        return self._torch.utils.dlpack.from_dlpack(capsule(address, self._problem.device, dtype, shape, strides))
