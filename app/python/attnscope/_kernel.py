# SPDX-License-Identifier: Apache-2.0
"""Decorator for attention functions, and the manifest that describes a function to the command line."""
import functools
import inspect
import os
import re
import sys

from ._c import DTYPES, PASSES
from ._errors import UsageError

HEAD_DIMS = (16, 32, 64, 96, 128, 192, 256)
MASKS = ("full", "causal", "window")
LAYOUTS = ("bhnd", "bnhd")
LSE = (None, "e", "2", "stored")
MAX_KNOB = 1 << 20
# Accepted names of the optional parameters.
PARAMETERS = {"causal": ("causal", "is_causal"),
              "window": ("window", "window_size"),
              "scale": ("scale", "sm_scale", "softmax_scale")}
DTYPE_NAMES = {"float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32"}


def dtype_name(value):
    """Returns "fp16" for "fp16", "float16" or torch.float16."""
    word = str(value).rpartition(".")[2]
    return DTYPE_NAMES.get(word, word)


def manifest_name(name):
    return re.sub(r"^[^a-z]+", "", re.sub(r"[^a-z0-9_.]", "_", name.lower()))[:40].rstrip("_") or "function"


def is_pair(value):
    return isinstance(value, (tuple, list)) and len(value) == 2


def _listed(value):
    return [value] if isinstance(value, (str, int)) or not hasattr(value, "__iter__") else list(value)


def signature_of(function):
    """Signature of a function or of a torch.nn.Module. Raises TypeError or ValueError if it is unknown."""
    is_module = not isinstance(function, type) and callable(getattr(function, "forward", None))
    return inspect.signature(function.forward if is_module else function)


class Signature:
    """Parameters of a function after q, k and v."""

    def __init__(self, function):
        self.known = True
        try:
            parameters = list(signature_of(function).parameters.values())
        except (TypeError, ValueError):  # a function without signature, such as a built-in one
            parameters, self.known = [], False
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        first = [each for each in parameters if each.kind in by_position][:3]
        self.any_count = any(each.kind == inspect.Parameter.VAR_POSITIONAL for each in parameters)
        self.has_tensors = len(first) == 3 or self.any_count or not self.known
        rest = [each for each in parameters if each not in first]
        self.any_name = any(each.kind == inspect.Parameter.VAR_KEYWORD for each in rest)
        named = [each for each in rest if each.kind not in (inspect.Parameter.VAR_KEYWORD,
                                                            inspect.Parameter.VAR_POSITIONAL)]
        self.names = [each.name for each in named]
        self.required = [each.name for each in named if each.default is inspect.Parameter.empty]

    def parameter(self, role):
        """Name of the parameter for "causal", "window" or "scale"; None if there is none."""
        return next((name for name in PARAMETERS[role] if name in self.names), None)


class Kernel:
    """An attention function and its properties. Calling it calls the function."""

    def __init__(self, function, like=None, tile=None, name=None, dtypes=DTYPES, d=HEAD_DIMS, passes=None, masks=None,
                 gqa=True, layout="bhnd", knobs=None, lse=None):
        if not callable(function):
            raise UsageError("%r is not a function" % (function,))
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.title = getattr(function, "__name__", type(function).__name__)
        self.name = manifest_name(self.title) if name is None else name
        self.signature = Signature(function)
        self.is_default = False   # True: made from a function without the decorator
        self.defined_in = None    # module of the decorator's call
        self.tensors = None       # tensors and keywords of measure(), used instead of the problem's
        self.keywords = {}
        self.like, self.gqa = like, bool(gqa)
        self.lse = {True: "e", False: None}.get(lse, lse) if isinstance(lse, bool) else lse
        self.dtypes = [dtype_name(each) for each in _listed(dtypes)]
        self.d, self.layout = _listed(d), layout
        # The tile of a law rarely holds for both passes.
        self.passes = _listed(passes or (PASSES[:1] if like else PASSES))
        self.masks = self._default_masks() if masks is None else _listed(masks)
        self.knobs = {knob: _listed(values) for knob, values in (knobs or {}).items()}
        self.given_tile = tile
        self.tile, self.law_tile, self.tile_knobs = self._parse_tile(tile)
        self._check()

    def __call__(self, *tensors, **keywords):
        return self.function(*tensors, **keywords)

    def __repr__(self):
        return "<attnscope kernel %s>" % self.name

    def _fail(self, text, *values):
        raise UsageError("kernel %s: %s" % (self.title, text % values))

    def _default_masks(self):
        takes = self.signature
        return ["full"] + [role for role in ("causal", "window") if takes.parameter(role) or takes.any_name]

    def _parse_tile(self, tile):
        """Returns the manifest's tile, the law's tile, and the names of the knobs for Br and Bc."""
        if tile is None or tile == "tuned":
            return tile, None, (None, None)
        if not is_pair(tile) or not all(isinstance(side, (str, int)) for side in tile):
            self._fail('tile must be (Br, Bc) or "tuned", not %r', tile)
        is_knob = [side in self.knobs for side in tile]
        if any(isinstance(side, str) and not knob for side, knob in zip(tile, is_knob)):
            if not self.like:
                self._fail("tile %r has an expression, which is for the law only (set like=)", tile)
            sides = [side.lower() if knob else str(side) for side, knob in zip(tile, is_knob)]
            return None, dict(zip(("br", "bc"), sides)), (None, None)
        values = [self.knobs[side] if knob else [side] for side, knob in zip(tile, is_knob)]
        names = [side if knob else None for side, knob in zip(tile, is_knob)]
        return dict(zip(("br", "bc"), values)), None, tuple(names)

    def _check(self):
        for what, values, known in (("dtypes", self.dtypes, DTYPES), ("masks", self.masks, MASKS),
                                    ("passes", self.passes, PASSES), ("layout", [self.layout], LAYOUTS),
                                    ("lse", [self.lse], LSE)):
            for value in values:
                if value not in known:
                    self._fail("%s: %r is not one of %s", what, value, ", ".join(str(each) for each in known))
        if not re.fullmatch(r"[a-z][a-z0-9_.-]{0,39}", self.name):
            self._fail("name %r must be 1 to 40 characters of a-z, 0-9, '-', '_' and '.', starting with a letter",
                       self.name)
        if self.like and self.tile is None and self.law_tile is None:
            self._fail('like=%r needs a tile: set tile=(Br, Bc), or tile="tuned" for a Triton autotuner', self.like)
        if not self.signature.has_tensors:
            self._fail("the first three parameters must be q, k and v")
        if len({knob.lower() for knob in self.knobs}) < len(self.knobs):
            self._fail("two knobs differ only in upper and lower case")
        for knob, values in self.knobs.items():
            if not values:
                self._fail("knob %r has no values", knob)
            if not (knob in self.signature.names or self.signature.any_name or not self.signature.known):
                self._fail("knob %r is not a parameter of the function", knob)
            for value in values:
                if type(value) is not int or not 1 <= value <= MAX_KNOB:
                    self._fail("knob %r: %r is not an integer from 1 to %d", knob, value, MAX_KNOB)

    def unknown_parameters(self):
        """Parameters without default to which no value would be passed."""
        known = list(self.knobs) + [self.signature.parameter(role) for role in PARAMETERS]
        return [name for name in self.signature.required if name not in known]

    def manifest(self, source, entry):
        """Returns the manifest as an object for json.dumps(). `entry`: name of the function in the file `source`, of
        which the manifest has the name only: results of copies and of temporary files are then one kernel."""
        missing = self.unknown_parameters()
        if missing and self.tensors is None:
            self._fail("parameter %r needs a default (only q, k, v, %s and knobs are passed)", missing[0],
                       ", ".join(PARAMETERS))
        text = {"attnscope_kernel": 1, "name": self.name, "title": self.title,
                "source": os.path.basename(source),
                "supports": {"dtype": self.dtypes, "d": self.d, "pass": self.passes, "mask": self.masks,
                             "gqa": self.gqa}}
        if self.tile:
            text["tile"] = self.tile
        knobs = {knob.lower(): {"values": values, "means": knob}
                 for knob, values in self.knobs.items() if knob not in self.tile_knobs}
        if knobs:
            text["knobs"] = knobs
        if self.lse in ("e", "2"):
            text["computes"] = {"lse": self.lse}
        if self.layout != "bhnd":
            text["layout"] = self.layout
        text["launches"] = [{"entry": entry, "pass": each} for each in self.passes]
        if self.like:
            text["law"] = {"like": self.like, **(self.law_tile or {})}
            if self.lse == "stored":
                text["law"]["lse"] = True
        return text

    def arguments(self, problem):
        """Returns the keyword arguments of a call. **kwargs receives `causal` and `window` only for such masks."""
        if self.tensors is not None:
            return dict(self.keywords)
        causal, window = problem.window_right == 0, (problem.window_left, problem.window_right)
        given = {}
        for role, value, needed in (("causal", causal, causal and window[0] == -1),
                                    ("window", window, window[0] != -1 or window[1] > 0),
                                    ("scale", problem.scale, False)):
            name = self.signature.parameter(role)
            if name or (needed and self.signature.any_name):
                given[name or role] = value
        keywords = {knob.lower(): knob for knob in self.knobs}
        for index in range(problem.knob_count):
            knob = problem.knobs[index]
            if knob.name.decode() in keywords:
                given[keywords[knob.name.decode()]] = knob.value
        for name, value in zip(self.tile_knobs, (problem.br, problem.bc)):
            if name:
                given[name] = value
        return given


def kernel(function=None, **options):
    """Decorates an attention function f(q, k, v, ...) that returns o or (o, lse).

    like     built-in algorithm that moves the same bytes, such as "fa2"; needs a tile
    tile     (Br, Bc): integers, names of knobs, or expressions of the manifest; or "tuned" (Triton's autotuner)
    name     algorithm name in results (default: the function's)
    dtypes   of "fp16", "bf16", "fp32"
    d        head dimensions
    passes   of "fwd", "bwd" (default: both; with like= only "fwd")
    gqa      False: K and V have as many heads as Q
    masks    of "full", "causal", "window" (default: by the function's parameters)
    layout   "bhnd" (default) or "bnhd": dimensions of q, k, v and o
    knobs    {parameter: values}; the first value is the default
    lse      "e" or "2": the function returns (o, lse), checked with this base; "stored": stored, not returned
    """
    if function is None:
        module = sys._getframe(1).f_globals.get("__name__")
        return lambda decorated: _decorate(decorated, module, options)
    return _decorate(function, sys._getframe(1).f_globals.get("__name__"), options)


def _decorate(function, module, options):
    known = list(inspect.signature(Kernel).parameters)[1:]
    for name in options:
        if name not in known:
            raise UsageError("unknown property %r; available: %s" % (name, ", ".join(known)))
    made = Kernel(function.function if isinstance(function, Kernel) else function, **options)
    made.defined_in = module
    return made


def as_kernel(function):
    """Returns the kernel itself, or a function without decorator as a kernel with default properties."""
    if isinstance(function, Kernel):
        return function
    made = Kernel(function)
    made.is_default = True
    return made
