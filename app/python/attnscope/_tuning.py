# SPDX-License-Identifier: Apache-2.0
"""State of compilers and autotuners behind a function: torch._dynamo and Triton."""
import sys
import types

TILE_NAMES = (("BLOCK_M", "BLOCK_N"), ("BLOCK_SIZE_M", "BLOCK_SIZE_N"), ("BLOCK_Q", "BLOCK_KV"),
              ("BLOCK_Q", "BLOCK_K"), ("BLOCK_BR", "BLOCK_BC"), ("BR", "BC"), ("block_m", "block_n"))
LIBRARIES = ("torch", "triton", "builtins")
MAX_DEPTH = 8
MAX_OBJECTS = 2000


def _code_names(code):
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _code_names(constant)
    return names


def _is_library(thing):
    module = thing.__name__ if isinstance(thing, types.ModuleType) else getattr(thing, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES


def _referenced(function):
    names = _code_names(function.__code__)
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            if not _is_library(value):
                yield from (vars(value).get(each) for each in names)
        else:
            yield value
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty cell
            pass


def _attribute(thing, name):
    try:
        return getattr(thing, name, None)
    except Exception:  # of a property or a lazy module
        return None


def _successors(thing):
    """Objects to which a function, method, class, partial function or wrapper refers."""
    if isinstance(thing, (types.MethodType, types.BuiltinMethodType)):
        return [_attribute(thing, name) for name in ("__self__", "__func__")]
    if type(thing).__name__ == "Heuristics":
        return [_attribute(thing, "fn")]
    if _is_library(thing):
        return []
    if isinstance(thing, types.FunctionType):
        return [*_referenced(thing), _attribute(thing, "__wrapped__")]
    if isinstance(thing, type):
        return list(vars(thing).values())
    return [_attribute(thing, name) for name in ("__wrapped__", "__func__", "func", "fn", "function", "forward")]


def autotuners(function):
    """Returns the Triton autotuners that a function refers to, also indirectly."""
    found, seen, level = [], {id(function)}, [function]
    for _ in range(MAX_DEPTH):
        following = []
        for thing in level:
            if type(thing).__name__ == "Autotuner":
                found.append(thing)
            else:
                following += _successors(thing)
        level = []
        for each in following:
            simple = each is None or isinstance(each, (str, bytes, int, float, tuple, list, dict, types.ModuleType))
            if not simple and id(each) not in seen and len(seen) < MAX_OBJECTS:
                seen.add(id(each))
                level.append(each)
    return found


def tuned_tile(function):
    """Returns the tile of the autotuners that ran; (0, 0) if none or several are known."""
    tiles = set()
    for tuner in autotuners(function):
        chosen = getattr(getattr(tuner, "best_config", None), "kwargs", None) or {}
        tiles.update((chosen[br], chosen[bc]) for br, bc in TILE_NAMES if br in chosen and bc in chosen)
    return tiles.pop() if len(tiles) == 1 else (0, 0)


def compilation_state(function):
    """Returns a value that changes with each compilation or tuning."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    counters = getattr(dynamo, "counters", None) or {}
    graphs = dict(counters["stats"]).get("unique_graphs") if "stats" in counters else 0
    return graphs, sum(len(getattr(tuner, "cache", ())) for tuner in autotuners(function))
