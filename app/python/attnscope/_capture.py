# SPDX-License-Identifier: Apache-2.0
"""Prepares calls of a function: warm-up, checks of eager calls, capture into CUDA graphs."""
import contextlib
import gc
import itertools
import statistics
import time

from . import _c
from ._errors import Error, first_line
from ._kernel import dtype_name
from ._tensors import Tensors
from ._tuning import compilation_state, tuned_tile

MIN_WARM_UPS, MAX_WARM_UPS = 3, 10
HOST_SAMPLES = 5
LEAK_CALLS, LEAK_SECONDS = 100, 1.0
NO_GRADIENT = ("does not require grad", "not implemented")


class Failure(Exception):
    """Ends a callback with a status and a one-line reason."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


class Memory:
    """Memory of graphs. With libattnscope as PyTorch's allocator each graph has a tag; otherwise the tag is 0."""
    _tags = itertools.count(1)

    def __init__(self, library=None):
        self.library = library

    def begin(self):
        tag = next(self._tags) if self.library else 0
        if tag:
            self.library.attnscope_memory_tag(tag)
        return tag

    def end(self):
        if self.library:
            self.library.attnscope_memory_tag(0)

    def release(self, tag):
        if tag:
            self.library.attnscope_memory_release(tag)

    def live(self, torch):
        return self.library.attnscope_memory_live(0) if self.library else torch.cuda.memory_allocated()


def is_out_of_memory(error):
    named = any(each.__name__ == "OutOfMemoryError" for each in type(error).__mro__)
    return named or (isinstance(error, RuntimeError) and first_line(error).startswith("CUDA out of memory"))


class Call:
    """A prepared call of a kernel for one problem on given addresses."""

    def __init__(self, kernel, torch, problem, pointers, stream, memory):
        self.kernel, self._torch, self._memory = kernel, torch, memory
        self._problem_device = problem.device
        self._backward = _c.PASSES[getattr(problem, "pass")] == "bwd"
        self.before = self.measured = self.after = None
        self.tags, self.measured_tag = [], 0
        self.tile, self.saved_bytes, self.host_ns, self.note = (0, 0), -1, 0.0, None
        self._pool = self._results = None
        torch.cuda.set_device(problem.device)
        self._stream = torch.cuda.ExternalStream(stream, device=problem.device)
        self._tensors = Tensors(torch, problem, pointers, kernel.layout)
        self._keywords = kernel.arguments(problem)
        given = kernel.tensors or (self._tensors.q, self._tensors.k, self._tensors.v)
        self._inputs, self._others = list(given[:3]), list(given[3:])
        if self._backward:
            self._inputs = [tensor.detach().requires_grad_(True) for tensor in self._inputs]
        self._shape_o = self._tensors.shape(problem.heads_q, problem.n_q)
        self._shape_lse = (problem.batch, problem.heads_q, problem.n_q)

    @contextlib.contextmanager
    def context(self):
        """Device, stream and gradient mode of the calling thread."""
        torch = self._torch
        torch.cuda.set_device(self._problem_device)
        with torch.cuda.stream(self._stream), torch.set_grad_enabled(self._backward):
            yield

    def prepare(self, check):
        """Warms up and captures. `check`: also look for memory that grows."""
        with self.context():
            run = self._both if self._backward else self._forward
            self._warm_up(run)
            if check:
                self._check_memory(run)
            if self.kernel.tile == "tuned":
                self.tile = tuned_tile(self.kernel.function)
            if self._backward:
                self._prepare_backward()
            else:
                self.host_ns = self._host_time(self._forward)
                self._capture_all([("measured", self._forward)])
            self._torch.cuda.synchronize()

    def call(self):
        with self.context():
            self._results = None  # frees the memory for this call
            self._results = self._both() if self._backward else self._forward()

    def copy_results(self):
        with self.context():
            self._copy(self._results)

    def release(self):
        tags = self.tags
        self.__dict__.clear()  # tensors and graphs first
        return tags

    # Forward pass

    def _forward(self):
        """Calls the function and returns (o, lse); lse is None unless the function's LSE is checked."""
        result = self.kernel.function(*self._inputs, *self._others, **self._keywords)
        several = isinstance(result, (tuple, list))
        o = result[0] if several and result else result
        self._require_tensor("o", o, self._shape_o, [self._tensors.dtype])
        if self.kernel.lse not in ("e", "2"):
            return o, None
        if not several or len(result) < 2:
            raise Failure(_c.ERROR, "the function returned one tensor, expected (o, lse)")
        lse = result[1]
        if getattr(lse, "ndim", 0) > 3 and tuple(lse.shape[3:]) == (1,) * (lse.ndim - 3):
            lse = lse.reshape(tuple(lse.shape[:3]))
        self._require_tensor("lse", lse, self._shape_lse, ("fp32", "fp16", "bf16"))
        return o, lse

    def _require_tensor(self, name, tensor, shape, dtypes):
        if not isinstance(tensor, self._torch.Tensor):
            raise Failure(_c.ERROR, "%s is a %s, expected a tensor" % (name, type(tensor).__name__))
        if tuple(tensor.shape) != tuple(shape):
            raise Failure(_c.ERROR, "returned shape %s for %s, expected %s" % (tuple(tensor.shape), name, tuple(shape)))
        if not tensor.is_cuda or tensor.device.index != self._problem_device:
            raise Failure(_c.ERROR, "%s is on %s, expected cuda:%d" % (name, tensor.device, self._problem_device))
        if dtype_name(tensor.dtype) not in dtypes:
            raise Failure(_c.INCORRECT, "%s is %s, expected %s" % (name, dtype_name(tensor.dtype), dtypes[0]))

    def _copy(self, results):
        if self._backward:
            pairs = zip((self._tensors.dq, self._tensors.dk, self._tensors.dv), results)
        else:
            pairs = zip((self._tensors.o, self._tensors.lse), results)
        for buffer, result in pairs:
            if buffer is not None and result is not None:
                buffer.copy_(result.detach())

    # Backward pass

    def _gradients(self, o, keep):
        try:
            return self._torch.autograd.grad(o, self._inputs, self._dout(o), retain_graph=keep)
        except Exception as error:
            if any(text in str(error) for text in NO_GRADIENT) and not is_out_of_memory(error):
                raise Failure(_c.UNSUPPORTED, "no backward pass: " + first_line(error)) from error
            raise

    def _dout(self, o):
        return self._tensors.dout if self._tensors.dout is not None else self._torch.ones_like(o)

    def _both(self):
        o = self._forward()[0]
        if not o.requires_grad:
            raise Failure(_c.UNSUPPORTED, "no backward pass: the result does not require grad")
        return self._gradients(o, False)

    def _prepare_backward(self):
        self.saved_bytes = self._count_saved_bytes()
        kept = [self._forward()[0]]
        # Replays need the saved tensors, which retain_graph keeps. torch.compile does not allow it; freed tensors are
        # then kept by their tag.
        keep = True
        try:
            self.host_ns = self._host_time(lambda: self._gradients(kept[0], True))
        except RuntimeError as error:
            if "retain_graph" not in str(error):
                raise
            keep = False
        kept.clear()

        def forward():
            kept.append(self._forward()[0])
            return kept[0]

        apart = keep or self._memory.library is not None
        if apart and self._capture_all([("before", forward), ("measured", lambda: self._gradients(kept[0], keep))]):
            return
        reason, self.note = self.note, None
        kept.clear()
        self.host_ns = self._host_time(self._both)
        if self._capture_all([("measured", self._both)]):
            self.note = "forward and backward measured together"
        else:
            self.note = (reason or self.note) + "; forward and backward measured together"

    def _count_saved_bytes(self):
        """Bytes that the forward pass saves for the backward pass, without q, k and v."""
        storages = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()  # returns None: a saved result would refer to itself

        with self._torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            self._forward()
        inputs = {tensor.untyped_storage().data_ptr() for tensor in self._inputs}
        return sum(size for address, size in storages.items() if address not in inputs)

    # Warm-up and checks

    def _warm_up(self, run):
        function = self.kernel.function
        for count in range(1, MAX_WARM_UPS + 1):
            state = compilation_state(function)
            run()
            if count >= MIN_WARM_UPS and compilation_state(function) == state:
                break
        self._torch.cuda.synchronize()

    def _check_memory(self, run):
        """Raises Failure if the memory in use grows in each third of up to 100 calls."""
        for collect in (lambda: None, gc.collect):  # collecting takes long, and few functions need it
            calls, live = 0, []
            for third in range(3):
                collect()
                live.append(self._memory.live(self._torch))
                end = time.monotonic() + LEAK_SECONDS / 3
                for _ in range((LEAK_CALLS + 2 - third) // 3):
                    run()
                    self._torch.cuda.synchronize()
                    calls += 1
                    if time.monotonic() > end:
                        break
            collect()
            live.append(self._memory.live(self._torch))
            if not all(before < after for before, after in zip(live, live[1:])):
                return
        raise Failure(_c.INCORRECT, "leaks %d bytes per call" % ((live[3] - live[0]) // calls))

    def _host_time(self, run):
        self._torch.cuda.synchronize()
        times = []
        for _ in range(HOST_SAMPLES):
            start = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - start)
        return float(statistics.median(times))

    # Capture

    def _capture_all(self, parts):
        """Captures the parts into graphs of these names, and the copy of the last one's results as `after`. Returns
        false, with a note, if that is not possible."""
        graphs = {}
        try:
            for name, body in parts:
                graphs[name], results, tag = self._capture(body)
            graphs["after"], _, _ = self._capture(lambda: self._copy(results))
        except Exception as error:
            if is_out_of_memory(error):
                raise
            self._recover()
            text = first_line(error) or type(error).__name__
            self.note = "not captured: %s; kernels are not attributed" % text
            return False
        for name, graph in graphs.items():
            setattr(self, name, graph)
        self.measured_tag, self._results = tag, results
        return True

    def _capture(self, body):
        """Returns the graph, the results of body() in the graph's memory, and the memory's tag."""
        torch = self._torch
        try:
            graph = torch.cuda.CUDAGraph(keep_graph=True)
        except TypeError:
            raise Error("PyTorch %s cannot export CUDA graphs" % torch.__version__) from None
        torch.cuda.synchronize()
        tag = self._memory.begin()
        self.tags.append(tag)
        try:
            pool = () if self._pool is None else (self._pool,)
            graph.capture_begin(*pool, capture_error_mode="thread_local")
            try:
                results = body()
            except BaseException:
                with contextlib.suppress(Exception):  # the capture is invalid
                    graph.capture_end()
                raise
            graph.capture_end()
        finally:
            self._memory.end()
        self._pool = graph.pool()
        return graph, results, tag

    def _recover(self):
        """Ends a failed capture."""
        self._pool = None
        for _ in range(2):  # the first call may report the error of the capture
            with contextlib.suppress(RuntimeError):
                self._torch.cuda.synchronize()
        with contextlib.suppress(RuntimeError, TypeError):  # an empty capture ends the capture state of random generators
            graph = self._torch.cuda.CUDAGraph(keep_graph=True)
            graph.capture_begin(capture_error_mode="thread_local")
            graph.capture_end()
