#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares fa2 with PyTorch's FlashAttention-2 and fa3 with cuDNN, using `attnscope ab` (interleaved) for each cell.

usage: peers.py ATTNSCOPE [--pairs fa2:flash,fa3:cudnn] [--d 64,128] [--n 512,1024,...] [--masks full,causal]
                [--passes fwd,bwd] [--seconds 20] [--csv OUT]

Each cell has 16,384 tokens and 2048 / d heads (batch = tokens / N), fp16, cold L2; both sides write LSE. The ratio is
PyTorch's time over Attnscope's: above 1, Attnscope is faster. Needs a GPU, PyTorch and a C++ compiler.
"""
import argparse
import collections
import csv
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

BACKENDS = {"flash": 1, "cudnn": 2}
LAYOUTS = {"flash": "bnhd", "cudnn": "bhnd"}  # layouts in which the back end does not copy its inputs


def build(folder):
    """Compiles torch_attention.cpp against this Python's PyTorch and writes a manifest for each back end."""
    import torch
    from torch.utils import cpp_extension
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.join(here, "..", "..", "..")
    library = os.path.join(folder, "torch-attention.so")
    libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    includes = [root, *cpp_extension.include_paths(device_type="cuda")]
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
                    *(f"-I{path}" for path in includes), os.path.join(here, "torch_attention.cpp"), "-o", library, f"-L{libraries}",
                    f"-Wl,-rpath,{libraries}", "-lc10", "-lc10_cuda", "-ltorch_cpu", "-ltorch_cuda", "-ltorch", "-ltorch_python",
                    *(f"-L{path}" for path in cpp_extension.library_paths(device_type="cuda")), "-lcudart"], check=True)
    for name, backend in BACKENDS.items():
        statement = {"attnscope_kernel": 1, "name": f"torch-{name}", "source": "torch-attention.so", "computes": {"reference": "softmax", "lse": "e"},
                     "supports": {"dtype": ["fp16", "bf16"], "d": [64, 128], "mask": ["full", "causal"], "pass": ["fwd", "bwd"]},
                     "layout": LAYOUTS[name], "tile": {"br": [128], "bc": [128]}, "knobs": {"backend": {"values": [backend], "means": "what of PyTorch runs"}},
                     "launches": [{"pass": "fwd"}, {"pass": "bwd"}], "law": {"like": "fa2"}}
        with open(os.path.join(folder, f"{name}.json"), "w") as out:
            json.dump(statement, out)


def compare(attnscope, folder, algorithm, library, d, n, mask, pass_, seconds):
    """Returns (verdict, ratio, low, high) of `attnscope ab` with the inverted ratio, or an error line."""
    statement = os.path.join(folder, f"{library}.json")
    command = [attnscope, "ab", f"N={n}", f"d={d}", f"batch={max(1, 16384 // n)}", f"heads={2048 // d}", f"mask={mask}", f"pass={pass_}",
               "--json", "--margin", "1", "--timeout", str(seconds), "--kernel", statement, "--baseline", f"kernel={statement}", "--candidate",
               f"algorithm={algorithm}"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        row = json.loads(done.stdout)["rows"][0]
        return row["verdict"], 1 / row["ratio"], 1 / row["ratio_high"], 1 / row["ratio_low"]
    except (ValueError, KeyError, IndexError):
        return ((done.stderr or done.stdout).strip().splitlines() or [f"ended with {done.returncode}"])[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("--pairs", default="fa2:flash,fa3:cudnn")
    parser.add_argument("--d", default="64,128")
    parser.add_argument("--n", default="512,1024,2048,4096,8192,16384")
    parser.add_argument("--masks", default="full,causal")
    parser.add_argument("--passes", default="fwd,bwd")
    parser.add_argument("--seconds", type=int, default=20, help="seconds per cell (default: 20)")
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    header = ["algorithm", "library", "pass", "mask", "d", "N", "verdict", "ratio", "low", "high"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        print(*header, flush=True)
        axes = (arguments.pairs, arguments.passes, arguments.masks, arguments.d, arguments.n)
        for pair, pass_, mask, d, n in itertools.product(*(each.split(",") for each in axes)):
            algorithm, library = pair.split(":")
            found = compare(arguments.attnscope, folder, algorithm, library, int(d), int(n), mask, pass_, arguments.seconds)
            cell = [algorithm, library, pass_, mask, d, n]
            rows.append(cell + ([found[0], *(f"{value:.3f}" for value in found[1:])] if isinstance(found, tuple) else [found]))
            print(*rows[-1], flush=True)
    for pair, pass_ in itertools.product(arguments.pairs.split(","), arguments.passes.split(",")):
        of = [row for row in rows if f"{row[0]}:{row[1]}" == pair and row[2] == pass_ and len(row) == len(header)]
        if not of: continue
        ratios = [float(row[7]) for row in of]
        counts = collections.Counter(row[6] for row in of)
        print(pair, pass_, f"geometric mean {statistics.geometric_mean(ratios):.3f}, minimum {min(ratios):.3f}:",
              ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            csv.writer(out).writerows([header, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
