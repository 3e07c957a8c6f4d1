# SPDX-License-Identifier: Apache-2.0
"""collect() and measure(): run the command line on Python functions."""
import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import shutil
import sys
import tempfile
import textwrap
import threading
import warnings

from . import _c, _program
from ._errors import Error, UsageError, first_line
from ._kernel import HEAD_DIMS, MASKS, PARAMETERS, Kernel, as_kernel, dtype_name, is_pair, signature_of
from ._load import locate, stop_import
from ._runs import Measurement, Runs
from ._session import Session

# Absolute and relative tolerance of measure(reference=...).
TOLERANCES = {"fp16": 2e-3, "bf16": 2e-2, "fp32": 1e-4}


def _imported(module, name):
    return getattr(importlib.import_module(module), name)


def _pickler():
    """Returns cloudpickle's pickler, which by itself copies the definitions of types such as SDPBackend, although they
    can be imported: their qualified name differs from the name in their module."""
    base = importlib.import_module("cloudpickle").Pickler

    class Pickler(base):
        def reducer_override(self, value):
            module = sys.modules.get(getattr(value, "__module__", None)) if isinstance(value, type) else None
            if module is not None and module.__name__ != "__main__" and vars(module).get(value.__name__) is value:
                return _imported, (value.__module__, value.__name__)
            return super().reducer_override(value)

    return Pickler


class _Selection:
    """Kernels of a call: arguments for the command line, and files made for functions that cannot be imported."""

    def __init__(self, kernels, process, folder):
        if not kernels:
            raise UsageError("no kernel given (pass a function, the name of a built-in algorithm, or a manifest)")
        self.options, self.algorithms, self.python, self._folder = [], [], {}, folder
        for each in kernels:
            if isinstance(each, os.PathLike):
                each = os.fspath(each)
            if callable(each):
                name = self._take_function(as_kernel(each), process)
            elif isinstance(each, str):
                name = self._take_manifest(each) if each.endswith(".json") else each
            else:
                raise UsageError("%r is not a function, the name of an algorithm or a manifest (axes have names: "
                                 "N=1024)" % (each,))
            if name in self.algorithms:
                raise UsageError("two kernels are named %r (set another name=)" % name)
            self.algorithms.append(name)

    def _take_manifest(self, file):
        try:
            with open(file, encoding="utf-8") as stream:
                name = json.load(stream)["name"]
        except OSError as error:
            raise Error("%s: %s" % (file, error.strerror)) from None
        except (ValueError, KeyError, TypeError) as error:
            raise Error("%s is not a manifest: %s" % (file, error)) from None
        self.options.append(os.path.abspath(file))
        return name

    def _take_function(self, kernel, process):
        found = locate(kernel) if kernel.tensors is None else None
        if found is None:
            found = self._write_source(kernel) if process == "here" else self._write_pickle(kernel)
        kernel.manifest(*found)  # reports its errors before a process starts
        self.python[found] = kernel
        self.options.append("%s:%s" % found)
        return kernel.name

    def _write_source(self, kernel):
        """The file gives the results file a source; nobody imports it."""
        try:
            text = textwrap.dedent(inspect.getsource(kernel.function))
        except (OSError, TypeError):
            text = "# %r\n" % kernel.function
        entry = kernel.name.replace("-", "_").replace(".", "_")
        path = os.path.join(self._folder, entry + ".py")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path, entry

    def _write_pickle(self, kernel):
        if importlib.util.find_spec("cloudpickle") is None:
            raise UsageError("%s cannot be imported by the worker; install cloudpickle, define it in a file before the "
                             'first collect(), or pass process="here" (a GPU fault then ends this process)'
                             % kernel.title)
        entry = kernel.name.replace("-", "_").replace(".", "_")
        path = os.path.join(self._folder, entry + ".pkl")
        try:
            with open(path, "wb") as stream:
                _pickler()(stream).dump({entry: kernel})
        except Exception as error:  # of the objects that the function refers to
            raise Error("%s cannot be sent to the worker: %s" % (kernel.title, first_line(error))) from error
        return path, entry

    def knob_axis(self, name):
        """Axis of a function's keyword argument: br or bc for a tile, a manifest's knob, else the name itself."""
        for kernel in self.python.values():
            if name in kernel.tile_knobs:
                return ("br", "bc")[kernel.tile_knobs.index(name)]
            if name in kernel.knobs:
                return name.lower()
        return name


def _value(axis, value):
    if axis == "dtype":
        return dtype_name(value)
    if axis == "tile" and not isinstance(value, str):
        if not is_pair(value):
            raise UsageError("tile %r is not (Br, Bc)" % (value,))
        return "%sx%s" % tuple(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def axis_text(axis, values):
    """Returns "N=[1024,2048]" or "N=1024"."""
    is_one_tile = axis == "tile" and is_pair(values) and not hasattr(values[0], "__iter__")
    if is_one_tile or isinstance(values, str) or not hasattr(values, "__iter__"):
        return "%s=%s" % (axis, _value(axis, values))
    words = [_value(axis, value) for value in values]
    if not words:
        raise UsageError("axis %s has no values" % axis)
    return "%s=[%s]" % (axis, ",".join(words))


def collect_arguments(selection, axes, output, rounds=1, metrics=(), counters=True, verify=True, timeout=None):
    """Returns the arguments of `attnscope collect`, without the device."""
    words = []
    for option in selection.options:
        words += ["--kernel", option]
    words += ["-a", axis_text("algorithm", selection.algorithms)]
    for name, values in axes.items():
        axis = selection.knob_axis(name)
        if axis in PARAMETERS["causal"]:
            raise UsageError('%s is not an axis; use mask="causal" or mask=["full", "causal"]' % name)
        words += ["-a", axis_text(axis, values)]
    words += ["--rounds", str(rounds), "-o", output]
    if metrics:
        words += ["--metrics", ",".join([metrics] if isinstance(metrics, str) else metrics)]
    if timeout is not None:
        words += ["--timeout", str(timeout)]
    return words + ([] if counters else ["--no-counters"]) + ([] if verify else ["--no-verify"])


def collect(*kernels, rounds=1, output=None, device=None, metrics=(), counters=True, verify=True, process="worker",
            timeout=None, progress=True, pass_=None, **axes):
    """Measures functions, built-in algorithms ("fa2") and manifests ("my.json") on all combinations of the axes, and
    returns Runs. Axes: N, d, heads, batch, dtype, mask, pass_ and the others of `attnscope help axes`; knobs of the
    functions. Each is a value or a list. A point that fails is a row with its reason.

    rounds    passes over all points; verdicts need several
    output    results file to create or extend (default: a temporary file)
    device    GPU number (default: the first GPU)
    metrics   additional metrics of Nsight Compute
    counters  False: time only; verify=False: do not check results
    process   "worker": a process of its own; "here": this process, where a GPU fault is fatal
    timeout   seconds per point (default: 15)
    """
    stop_import()
    if process not in ("worker", "here"):
        raise UsageError('process must be "worker" or "here", not %r' % (process,))
    if pass_ is not None:
        axes["pass"] = pass_
    with _folder(output) as folder:
        selection = _Selection(kernels, process, folder)
        words = collect_arguments(selection, axes, _path(output, folder), rounds, metrics, counters, verify, timeout)
        if process == "here" and selection.python:
            return Runs(*_run_here(selection, words, device, counters, progress, folder))
        if device is None and selection.python:
            device = "gpu"  # a function cannot be simulated
        environment = _environment(Session(kernels=selection.python), selection, folder)
        if not selection.python:
            words += _program.use_torch_libraries(environment, words)
        words += [] if device is None else ["--device", str(device)]
        return Runs(*_program.run_collect(words, environment, progress))


@contextlib.contextmanager
def _folder(output):
    """Folder of temporary files; removed unless it has the results."""
    folder = tempfile.mkdtemp(prefix="attnscope-")
    try:
        yield folder
    finally:
        if output is not None or not os.path.exists(_path(None, folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _path(output, folder):
    return os.path.join(folder, "runs.attnscope") if output is None else os.path.abspath(os.fspath(output))


def _environment(session, selection, folder):
    """Environment of the command line, which then need not import the functions' files."""
    manifests = {"%s:%s" % key: session.manifest_text(*key) for key in selection.python}
    known = os.path.join(folder, "manifests.json")
    with open(known, "w", encoding="utf-8") as stream:
        json.dump(manifests, stream)
    return dict(_program.child_environment(), ATTNSCOPE_PYTHON_MANIFESTS=known)


def _run_here(selection, words, device, counters, progress, folder):
    """Serves the worker protocol in this process, for a command line that is a child process."""
    warnings.warn("a GPU fault or a hang of the function ends this process", RuntimeWarning, stacklevel=3)
    torch = importlib.import_module("torch")
    library = _c.load_library()
    more = _program.use_torch_libraries(os.environ, words)
    session = Session(kernels=selection.python)
    environment = _environment(session, selection, folder)
    device = str(torch.cuda.current_device() if device is None else device)
    arguments = ["--device", device] + ([] if counters and not more else ["--no-counters"])
    (worker_in, child_out), (child_in, worker_out) = os.pipe(), os.pipe()
    thread = threading.Thread(
        target=_c.serve, args=(library, arguments, session.functions, worker_in, worker_out), daemon=True)
    ours = [worker_in, worker_out]

    def started():
        os.close(child_in)
        os.close(child_out)
        thread.start()

    before = os.environ.get("ATTNSCOPE_KERNELS")
    os.environ["ATTNSCOPE_KERNELS"] = "".join(option + "\n" for option in selection.options)
    try:
        words = words + more + ["--device", "fd:%d,%d" % (child_in, child_out)]
        return _program.run_collect(words, environment, progress, (child_in, child_out), started)
    finally:
        if thread.ident is None:  # the program could not be started
            ours += [child_in, child_out]
        else:
            thread.join()  # ends because the child has closed its pipe
        for descriptor in ours:
            os.close(descriptor)
        if before is None:
            del os.environ["ATTNSCOPE_KERNELS"]
        else:
            os.environ["ATTNSCOPE_KERNELS"] = before


def _arguments(function, tensors, keywords):
    """Returns the arguments of a call by name, with the function's defaults."""
    try:
        bound = signature_of(function).bind(*tensors, **keywords)
    except (TypeError, ValueError):  # no signature; the call itself reports wrong arguments
        return keywords
    bound.apply_defaults()
    return {**bound.arguments, **keywords}


def _mask(given):
    """Mask of a call with these arguments."""
    causal, window = (next((given[name] for name in PARAMETERS[role] if given.get(name) is not None), default)
                      for role, default in (("causal", False), ("window", (-1, -1))))
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise UsageError("window must be (left, right), not %r" % (window,))
    left, right = window[0], 0 if causal else window[1]
    if left < 0 and right <= 0:
        return "causal" if right == 0 else "full"
    return "window:%s:%s" % tuple("inf" if side < 0 else side for side in (left, right))


def _problem_axes(function, tensors, keywords, layout):
    if len(tensors) < 3 or any(len(getattr(each, "shape", ())) != 4 or not getattr(each, "is_cuda", False)
                               for each in tensors[:3]):
        raise UsageError("measure() needs CUDA tensors q, k and v with four dimensions")
    if any(step == 0 and size > 1 for tensor in tensors[:3] for step, size in zip(tensor.stride(), tensor.shape)):
        raise UsageError("q, k or v is expanded (stride 0): its bytes would not match the problem (copy it, or pass "
                         "fewer heads)")
    q, k = tensors[0].shape, tensors[1].shape
    heads, rows = (2, 1) if layout == "bnhd" else (1, 2)
    return {"batch": q[0], "heads_q": q[heads], "heads_kv": k[heads], "n_q": q[rows], "n_k": k[rows], "d": q[3],
            "dtype": dtype_name(tensors[0].dtype), "mask": _mask(_arguments(function, tensors, keywords))}


def _compare(torch, result, expected, tolerance):
    """Returns the largest absolute difference and whether all differences are within the tolerance."""
    o, reference = [(each[0] if isinstance(each, (tuple, list)) else each).float() for each in (result, expected)]
    if tuple(o.shape) != tuple(reference.shape):
        raise UsageError("the reference has shape %s, the result %s" % (tuple(reference.shape), tuple(o.shape)))
    difference = (o - reference).abs()
    atol, rtol = tolerance
    return float(difference.max()), bool((difference <= reference.abs() * rtol + atol).all())


def _bound_kernel(given, tensors, keywords, axes, like, tile, name, layout):
    """Returns a kernel for these tensors alone. Knobs in its tile have their values in the call."""
    tile = given.given_tile if tile is None else tile
    if is_pair(tile):
        values = _arguments(given.function, tensors, keywords)
        tile = [values.get(side, side) if side in given.knobs else side for side in tile]
    # The problem is not stated, so that calls with other tensors are the same kernel in results.
    kernel = Kernel(given.function, like=like or given.like, tile=tile, name=name or given.name, layout=layout,
                    d=sorted({*HEAD_DIMS, axes["d"]}), passes=["fwd"], masks=MASKS,
                    lse=given.lse if given.lse == "stored" else None)
    kernel.tensors, kernel.keywords = tensors, keywords
    return kernel


def measure(function, *tensors, reference=None, atol=None, rtol=None, rounds=1, counters=True, output=None,
            progress=True, timeout=None, like=None, tile=None, name=None, layout=None, **keywords):
    """Measures function(*tensors, **keywords) in this process with these tensors, of which the first three are q, k
    and v, and returns a Measurement. `reference`: a tensor, or a function of the same arguments, to which the result
    is compared in fp32 (`atol`, `rtol`); without it the result is not checked. `like`, `tile`, `name`, `layout`: as of
    attnscope.kernel (default: those of its decorator)."""
    stop_import()
    given = as_kernel(function)
    layout = layout or given.layout
    axes = _problem_axes(given.function, tensors, keywords, layout)
    torch = importlib.import_module("torch")
    with torch.no_grad():
        error = None
        if reference is not None:
            default = TOLERANCES.get(axes["dtype"], 0)
            tolerance = tuple(default if each is None else each for each in (atol, rtol))
            expected = reference(*tensors, **keywords) if callable(reference) else reference
            error = _compare(torch, given(*tensors, **keywords), expected, tolerance)
    kernel = _bound_kernel(given, tensors, keywords, axes, like, tile, name, layout)
    with _folder(output) as folder:
        selection = _Selection([kernel], "here", folder)
        words = collect_arguments(selection, axes, _path(output, folder), rounds, counters=counters, verify=False,
                                  timeout=timeout)
        device = tensors[0].device.index
        return Measurement(*_run_here(selection, words, device, counters, progress, folder), error)
