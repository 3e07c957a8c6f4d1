# SPDX-License-Identifier: Apache-2.0
"""Finds a function in a file, and the file of a function."""
import importlib
import importlib.util
import inspect
import os
import pickle
import sys

from ._errors import Error
from ._kernel import as_kernel

_loading = 0
_stopped = set()        # paths of the files whose import has ended early
_main_objects = None    # callable objects of __main__ at its first collect() or measure(): a worker has no others


class ImportStopped(BaseException):
    """Ends the import of a script at its first call of collect() or measure(); a script need not guard these calls.
    Not an Exception, so that the script does not handle it."""


def stop_import():
    """Called at the beginning of collect() and measure()."""
    global _main_objects
    if _loading:
        raise ImportStopped
    if _main_objects is None:
        objects = vars(sys.modules["__main__"])
        _main_objects = {name: value for name, value in list(objects.items()) if callable(value)}


def _module_name(path):
    """Returns the folder for sys.path and the module's dotted name."""
    folder, name = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        name = os.path.basename(folder) + "." + name
        folder = os.path.dirname(folder)
    return folder, name


def import_file(file):
    """Imports a file as the module of its name, in its package if it is in one. Imports a file only once."""
    global _loading
    path = os.path.abspath(file)
    if not os.path.isfile(path):
        raise Error("%s does not exist" % file)
    folder, name = _module_name(path)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == path:
        return loaded
    if loaded is not None:
        name = "attnscope_" + name.replace(".", "_")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if "." in name:
        importlib.import_module(name.rpartition(".")[0])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise Error("%s is not a Python file" % file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _loading += 1
    try:
        spec.loader.exec_module(module)
    except ImportStopped:
        _stopped.add(path)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    finally:
        _loading -= 1
    return module


def _names(objects):
    names = [name for name, value in objects.items() if callable(value) and not name.startswith("_")]
    return ", ".join(names[:10]) or "none"


def load_kernel(file, name):
    """Returns the kernel NAME of a .py or .pkl file. Raises Error or the exception of the import."""
    if file.endswith(".pkl"):
        if not os.path.isfile(file):
            raise Error("%s does not exist" % file)
        with open(file, "rb") as stream:
            objects = pickle.load(stream)
    else:
        objects = vars(import_file(file))
    first, *rest = name.split(".")
    if first not in objects:
        before = " before its first collect() or measure()" if os.path.abspath(file) in _stopped else ""
        raise Error("%s has no %r%s; it has: %s" % (os.path.basename(file), first, before, _names(objects)))
    found = objects[first]
    for each in rest:
        if not hasattr(found, each):
            raise Error("%r has no %r" % (first, each))
        found = getattr(found, each)
    if not callable(found):
        raise Error("%r is not callable" % name)
    return as_kernel(found)


def locate(kernel):
    """Returns the file and the name that load_kernel() accepts for this kernel; None if it cannot be imported."""
    function = kernel.function
    code = getattr(inspect.unwrap(function), "__code__", None)
    for module_name in (kernel.defined_in, getattr(function, "__module__", None)):
        module = sys.modules.get(module_name or "")
        file = getattr(module, "__file__", None) or ""
        if not file.endswith(".py") or not os.path.isfile(file):
            continue
        if code is not None and not os.path.exists(code.co_filename):  # made by exec() or in a notebook
            continue
        for name, value in list(vars(module).items()):
            in_worker = module_name != "__main__" or _main_objects is None or _main_objects.get(name) is value
            if in_worker and (value is kernel or (kernel.is_default and value is function)):
                return os.path.abspath(file), name
    return None
