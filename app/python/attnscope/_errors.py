# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the package, and one-line descriptions of exceptions that a user's function raises."""
import os
import sys
import sysconfig
import traceback


class Error(RuntimeError):
    """An error of Attnscope; its text is one line."""
    __module__ = "attnscope"


class UsageError(Error, ValueError):
    """Wrong arguments."""


class Unsupported(Error):
    """Raised by a function for a problem that it does not support: the point is infeasible."""
    __module__ = "attnscope"


def first_line(text):
    try:
        return str(text).strip().splitlines()[0].strip()
    except Exception:  # no text, or an exception whose __str__ raises
        return ""


def _is_library(file):
    paths = sysconfig.get_paths()
    folders = [os.path.dirname(os.path.abspath(__file__)), paths["stdlib"], paths["purelib"], paths["platlib"]]
    return file.startswith("<frozen") or any(file.startswith(folder + os.sep) for folder in folders)


def one_line(error):
    """Returns "ValueError: text (my_attention.py:12 in flash)": the position is the last frame of the user's files."""
    text = first_line(error) if isinstance(error, Error) else type(error).__name__ + ": " + first_line(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_library(frame.filename)]
    if not frames:
        return text.rstrip(": ")
    last = frames[-1]
    return "%s (%s:%s in %s)" % (text.rstrip(": "), os.path.basename(last.filename), last.lineno, last.name)


def warn(text):
    sys.stderr.write("attnscope: warning: %s\n" % text)
    sys.stderr.flush()
