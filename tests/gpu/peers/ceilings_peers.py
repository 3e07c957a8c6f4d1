#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `attnscope ceilings` with PyTorch's copy and GEMM in one run and prints the ratios.

usage: ceilings_peers.py ATTNSCOPE [--json FILE]

The copy is Tensor.copy_ of 2 GiB (reads plus writes); the GEMM is torch.matmul of 8192 x 8192 random matrices, run as long as
each ceiling benchmark. Ceilings are measured before and after PyTorch, and the better value counts on both sides. Exit status
1 if a ceiling is below 0.97 of the copy or 0.95 of the GEMM. --json saves the printed ceilings. Needs a GPU and PyTorch.
"""
import argparse
import json
import statistics
import subprocess
import sys


def ours(attnscope):
    """Returns {name: value} of the ceilings without an argument."""
    done = subprocess.run([attnscope, "ceilings", "--device", "0", "--json"], check=True, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    rows = json.loads(done.stdout)["rows"]
    return rows, {row["ceiling"]: row["value"] for row in rows if row["argument"] == 0}


def rate(torch, function, amount, milliseconds=60, rounds=9):
    """Returns the amount per second: the median over rounds of about the given duration."""
    def run(repetitions):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repetitions):
            function()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)
    run(3)
    repetitions = max(1, round(10 * milliseconds / run(10)))
    return statistics.median(1e3 * amount * repetitions / run(repetitions) for _ in range(rounds))


def peers(torch):
    """Returns {ceiling name: PyTorch's value}."""
    source = torch.randint(0, 127, (2 << 30,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    found = {"dram_copy": rate(torch, lambda: target.copy_(source), 2 * source.numel(), 10)}
    del source, target
    n = 8192
    for dtype, name in ((torch.float16, "fp16"), (torch.bfloat16, "bf16")):
        a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
        c = torch.empty_like(a)
        found["wgmma_" + name] = rate(torch, lambda: torch.matmul(a, b, out=c), 2 * n**3)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("--json")
    options = parser.parse_args()
    import torch
    rows, before = ours(options.attnscope)
    library = peers(torch)
    _, after = ours(options.attnscope)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'ceiling':14} {'ours':>12} {'library':>12} {'ratio':>7} {'limit':>7}")
    worst = 0
    for name, value in library.items():
        own = name if name in before else name.replace("wgmma", "mma")
        ceiling = max(before[own], after[own])
        required = 0.97 if name == "dram_copy" else 0.95
        print(f"{own:14} {ceiling:12.4g} {value:12.4g} {ceiling / value:7.3f} {required:7.2f}")
        worst += ceiling < required * value
    for own, peer in (("dram_copy", "dram_copy_driver"),):
        ratio = max(before[own], after[own]) / max(before[peer], after[peer])
        print(f"{own:14} {max(before[own], after[own]):12.4g} {max(before[peer], after[peer]):12.4g} {ratio:7.3f}    0.97 (the driver's copy)")
        worst += ratio < 0.97
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
