# SPDX-License-Identifier: Apache-2.0
"""Stand-in for PyTorch: tensors in host memory that claim to be on a GPU, graphs that record calls, gradients."""
import ctypes
import itertools
import struct

__version__ = "0.0-fake"
live_bytes = 0


class dtype:
    def __init__(self, name, size):
        self.name, self.size = name, size

    def __repr__(self):
        return "torch." + self.name


float16, bfloat16, float32 = dtype("float16", 2), dtype("bfloat16", 2), dtype("float32", 4)


class OutOfMemoryError(RuntimeError):
    pass


class AcceleratorError(RuntimeError):
    pass


class Storage:
    """Memory of this process; `owner` is None for memory of others."""

    def __init__(self, address, size, owner=None):
        global live_bytes
        self.address, self.size, self.owner = address, size, owner
        if owner is not None:
            live_bytes += size

    def __del__(self):
        global live_bytes
        if self.owner is not None:
            live_bytes -= self.size

    def data_ptr(self):
        return self.address

    def nbytes(self):
        return self.size


class device:
    def __init__(self, index):
        self.index = index

    def __repr__(self):
        return "cuda:%d" % self.index


def contiguous(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


class Tensor:
    is_cuda = True

    def __init__(self, storage, shape, strides, kind, index=0, inputs=(), backward=None):
        self.storage, self.shape, self.strides, self.dtype = storage, tuple(shape), tuple(strides), kind
        self.device = device(index)
        self.inputs, self.backward = inputs, backward
        self.requires_grad = any(each.requires_grad for each in inputs) and is_grad_enabled()

    ndim = property(lambda self: len(self.shape))

    def stride(self):
        return self.strides

    def untyped_storage(self):
        return self.storage

    def data_ptr(self):
        return self.storage.address

    def detach(self):
        return Tensor(self.storage, self.shape, self.strides, self.dtype, self.device.index)

    def requires_grad_(self, value):
        self.requires_grad = value
        return self

    def transpose(self, a, b):
        order = list(range(self.ndim))
        order[a], order[b] = b, a
        return Tensor(self.storage, [self.shape[i] for i in order], [self.strides[i] for i in order], self.dtype)

    def reshape(self, shape):
        return Tensor(self.storage, shape, contiguous(shape), self.dtype)

    def _places(self):
        for index in itertools.product(*map(range, self.shape)):
            offset = sum(i * step for i, step in zip(index, self.strides))
            yield self.storage.address + offset * self.dtype.size

    def values(self):
        """Elements in row-major order."""
        result = []
        for place in self._places():
            raw = ctypes.string_at(place, self.dtype.size)
            if self.dtype is bfloat16:
                result.append(struct.unpack("<f", b"\0\0" + raw)[0])
            else:
                result.append(struct.unpack("<e" if self.dtype is float16 else "<f", raw)[0])
        return result

    def write(self, values):
        for place, value in zip(self._places(), values):
            raw = struct.pack("<e" if self.dtype is float16 else "<f", value)
            ctypes.memmove(place, raw[2:] if self.dtype is bfloat16 else raw, self.dtype.size)

    def item(self):
        cuda.require_no_capture()
        return self.values()[0]

    __float__ = item

    def copy_(self, source):
        assert self.shape == source.shape
        cuda.launch(lambda: self.write(source.values()))
        return self

    def _result(self, compute, inputs=(), backward=None, kind=None):
        made = empty(self.shape, kind or self.dtype, inputs, backward)
        cuda.launch(lambda: made.write(compute()))
        return made

    def __add__(self, other):
        if not isinstance(other, Tensor):
            return self._result(lambda: [a + other for a in self.values()], (self,), lambda grad: (grad,))
        return self._result(lambda: [a + b for a, b in zip(self.values(), other.values())], (self, other),
                            lambda grad: (grad, grad))

    def __sub__(self, other):
        return self + other * -1.0

    def __mul__(self, other):
        if not isinstance(other, Tensor):
            return self._result(lambda: [a * other for a in self.values()], (self,), lambda grad: (grad * other,))
        if is_grad_enabled() and (self.requires_grad or other.requires_grad):
            for saved in (self, other):
                for pack in autograd.graph.hooks:
                    pack(saved)
        return self._result(lambda: [a * b for a, b in zip(self.values(), other.values())], (self, other),
                            lambda grad: (grad * other.detach(), grad * self.detach()))

    def float(self):
        return self._result(self.values, kind=float32)

    def abs(self):
        return self._result(lambda: [abs(a) for a in self.values()])

    def max(self):
        result = empty((1,), self.dtype)
        result.write([max(self.values())])
        return result

    def __le__(self, other):
        return Flags(a <= b for a, b in zip(self.values(), other.values()))


class Flags(list):
    def all(self):
        return all(self)


def empty(shape, kind=float32, inputs=(), backward=None):
    size = kind.size
    for each in shape:
        size *= each
    owner = ctypes.create_string_buffer(size)
    return Tensor(Storage(ctypes.addressof(owner), size, owner), shape, contiguous(shape), kind, 0, inputs, backward)


def full(shape, value, kind=float32):
    made = empty(shape, kind)
    return made._result(lambda: [value] * len(made.values()))


def ones_like(tensor):
    return full(tensor.shape, 1.0, tensor.dtype)


class set_grad_enabled:
    enabled = True

    def __init__(self, value):
        self.before, set_grad_enabled.enabled = set_grad_enabled.enabled, value

    def __enter__(self):
        pass

    def __exit__(self, *_):
        set_grad_enabled.enabled = self.before


def no_grad():
    return set_grad_enabled(False)


def is_grad_enabled():
    return set_grad_enabled.enabled


from . import autograd, cuda, utils  # noqa: E402
