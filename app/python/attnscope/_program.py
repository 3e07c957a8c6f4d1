# SPDX-License-Identifier: Apache-2.0
"""Finds and runs the command line, and the libraries that it can use from PyTorch's folder."""
import glob
import importlib.util
import json
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import threading
import warnings

from ._errors import Error, warn

PACKAGE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = {"ATTNSCOPE_CUPTI_LIBRARY": "libcupti.so.", "ATTNSCOPE_NVRTC_LIBRARY": "libnvrtc.so."}
PARTIAL = 5  # exit code: some points failed


def find_program(name="attnscope", variable="ATTNSCOPE_PROGRAM"):
    """Returns the path of a program: from the environment, the package, the build folder or PATH."""
    places = [os.environ.get(variable), os.path.join(PACKAGE, "bin", name),
              os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "app", name)]
    for place in places:
        if place and os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    found = shutil.which(name)
    if not found:
        raise Error("program %s not found (add its folder to PATH, or set %s)" % (name, variable))
    return found


def _torch_libraries(version):
    """Returns {variable: path} of PyTorch's CUPTI and NVRTC of a CUDA version."""
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return {}
    if spec is None or not spec.submodule_search_locations:
        return {}
    folder = os.path.join(os.path.dirname(list(spec.submodule_search_locations)[0]), "nvidia")
    found = {}
    for variable, name in LIBRARIES.items():
        files = sorted(glob.glob(os.path.join(glob.escape(folder), "*", "lib", name + version)))
        if files:
            found[variable] = files[0]
    return found


def use_torch_libraries(environment, arguments=()):
    """Sets unset variables to PyTorch's CUPTI and NVRTC, so that no toolkit is needed. Returns further arguments:
    --no-counters if PyTorch has CUDA 12."""
    new = _torch_libraries("13")
    old = {} if new else _torch_libraries("12")
    for variable, path in (new or old).items():
        if new or variable == "ATTNSCOPE_NVRTC_LIBRARY":
            environment.setdefault(variable, path)
    if not old or "ATTNSCOPE_CUPTI_LIBRARY" in environment or "--no-counters" in arguments:
        return []
    warn("no counters: PyTorch has CUPTI of CUDA 12 (install PyTorch for CUDA 13)")
    return ["--no-counters"]


def child_environment():
    """Environment in which the program starts this interpreter, which finds this package and the user's modules."""
    # In PYTHONPATH, the interpreter's own folders would change their order and reach other interpreters.
    own = (*(os.path.join(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix)),
           sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages())
    paths = [path for path in [os.path.dirname(PACKAGE)] + sys.path if path and not path.startswith(own)]
    environment = dict(os.environ, ATTNSCOPE_PYTHON=sys.executable, PYTHONPATH=os.pathsep.join(dict.fromkeys(paths)))
    # In a worker, the program would otherwise import the worker's files, which may have called it.
    environment.pop("ATTNSCOPE_KERNELS", None)
    return environment


def run_text(arguments):
    """Runs the command line and returns its output. Raises Error."""
    done = subprocess.run([find_program()] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=child_environment(), encoding="utf-8", errors="replace",
                          check=False)
    if done.returncode not in (0, PARTIAL) or not done.stdout:
        raise Error(_reason(done.stderr.splitlines(), done.returncode))
    return done.stdout


def _reason(lines, code):
    errors = [line for line in lines if line.startswith("error: ")] or [line for line in lines if line.strip()]
    return errors[-1].replace("error: ", "", 1) if errors else "attnscope ended with exit code %d" % code


class ProgressBar:
    """One line on standard error, in a terminal or a notebook."""
    WIDTH = 24

    def __init__(self, wanted):
        self._shown = wanted and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._length = 0
        self._point = ""

    def started(self, point):
        self._point = point

    def show(self, done, total, remaining_s):
        filled = self.WIDTH * done // max(total, 1)
        left = "" if remaining_s < 1 else ", %d:%02d left" % divmod(round(remaining_s), 60)
        self._write("[%s%s] %d/%d%s  %s" % ("#" * filled, "." * (self.WIDTH - filled), done, total, left, self._point))

    def close(self):
        if self._length:
            self._write("")

    def _write(self, text):
        if self._shown:
            text = text[:110]
            sys.stderr.write("\r" + text.ljust(self._length) + ("" if text else "\r"))
            sys.stderr.flush()
            self._length = len(text)


class _Events:
    """Result of a `collect --jsonl` process."""

    def __init__(self, progress):
        self.plan = self.done = None
        self._bar = ProgressBar(progress)

    def take(self, line):
        try:
            event = json.loads(line)
        except ValueError:
            return
        kind = event.get("event")
        if kind == "plan":
            self.plan = event
        elif kind == "done":
            self.done = event
        elif kind == "started":
            self._bar.started(event["point"])
        elif kind == "progress":
            self._bar.show(event["done"], event["total"], event["remaining_s"])
        elif kind == "log" and event["level"] != "info":
            self._bar.close()
            warnings.warn(event["text"], RuntimeWarning, stacklevel=5)

    def close(self):
        self._bar.close()


def _forward_errors(stream, kept):
    """Copies lines to standard error, but not the program's own messages, which are also events."""
    for line in stream:
        kept.append(line.rstrip("\n"))
        if not line.startswith(("error: ", "warning: ")):
            sys.stderr.write(line)


def run_collect(arguments, environment, progress=True, descriptors=(), started=None):
    """Runs `attnscope collect --jsonl` and returns (file, run). `started` is called once the process runs."""
    process = subprocess.Popen([find_program(), "collect", "--jsonl"] + arguments, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, encoding="utf-8",
                               errors="replace", pass_fds=descriptors)
    kept, events = [], _Events(progress)
    errors = threading.Thread(target=_forward_errors, args=(process.stderr, kept), daemon=True)
    errors.start()
    with process:
        try:
            if started:
                started()
            for line in process.stdout:
                events.take(line)
        finally:
            events.close()
            process.stdin.close()  # cancels the run if it has not ended
            code = process.wait()
            errors.join(5)
    if code not in (0, PARTIAL) or events.plan is None:
        reason = (events.done or {}).get("reason")
        # The manifest of a function is generated: its line numbers mean nothing to the user.
        raise Error(re.sub(r"(\.(?:py|pkl):[\w.]+: )line \d+: ", r"\1", reason or _reason(kept, code)))
    return events.plan["database"], events.plan["run_id"]
