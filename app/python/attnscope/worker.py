# SPDX-License-Identifier: Apache-2.0
"""Process that calls Python functions for the command line:

python -m attnscope.worker describe FILE NAME    prints the function's manifest
python -m attnscope.worker worker ARGUMENTS...   serves `attnscope worker ARGUMENTS...`
"""
import ctypes
import importlib
import json
import os
import sys

from . import _c, _program
from ._capture import Memory
from ._errors import Error, first_line, one_line, warn
from ._session import Session


def _take_output():
    """Returns a descriptor of standard output; from now on, output of user code goes to standard error."""
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def _write(descriptor, text):
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")


def describe(file, name):
    out = _take_output()
    try:
        known = os.environ.get("ATTNSCOPE_PYTHON_MANIFESTS")
        if known:
            with open(known, encoding="utf-8") as stream:
                texts = json.load(stream)
            text = texts.get("%s:%s" % (os.path.abspath(file), name))
            if text:
                _write(out, text)
                return 0
        _write(out, Session().manifest_text(file, name))
        return 0
    except BaseException as error:  # of the user's file
        sys.stderr.write("error: %s\n" % one_line(error))
        return 2


def install_allocator(library):
    """Makes PyTorch allocate through libattnscope, before it uses CUDA. Returns the memory interface."""
    try:
        memory = importlib.import_module("torch.cuda.memory")
        allocator = memory.CUDAPluggableAllocator(_c.library_path(), "attnscope_malloc", "attnscope_free")
        record_stream = ctypes.cast(library.attnscope_record_stream, ctypes.c_void_p).value
        allocator.allocator().set_record_stream_fn(record_stream)
        memory.change_current_allocator(allocator)
    except ImportError:
        return Memory()
    except (AttributeError, RuntimeError) as error:
        warn("PyTorch keeps its own allocator: %s" % first_line(error))
        return Memory()
    return Memory(library)


def serve(arguments):
    read, out = os.dup(0), _take_output()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    try:
        arguments = arguments + _program.use_torch_libraries(os.environ, arguments)
        library = _c.load_library()
        session = Session(install_allocator(library))
    except Error as error:
        done = {"event": "done", "state": "failed", "reason": str(error), "ok": 0, "not_ok": 0, "exit_code": 1}
        _write(out, json.dumps(done))
        sys.stderr.write("error: %s\n" % error)
        return 1
    return _c.serve(library, arguments, session.functions, read, out)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "describe":
        code = describe(*arguments[1:])
    elif arguments[:1] == ["worker"]:
        code = serve(arguments[1:])
    else:
        sys.stderr.write("usage: python -m attnscope.worker describe FILE NAME | worker ARGUMENTS...\n")
        code = 2
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and exit handlers of the user's file or of the driver might never end, or write after the error message.
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
