#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's attention back ends beside ours, at the same cells and in one run, and prints the ratios.

usage: torch_ratios.py ATTNSCOPE [--d 64,128] [--n 512,1024,...] [--tokens 16384] [--hidden 2048] [--causal] [--csv OUT]

Each cell holds `tokens` tokens and hidden / d heads (batch = tokens / N), fp16, forward. Ours are the default tiles, cold L2,
the median of at least ten samples; PyTorch's are CUDA-event medians over random inputs with the L2 overwritten between
repetitions. Eager is matmul, softmax, matmul. A ratio above 1 means that ours is faster. Needs a GPU and PyTorch.
"""
import argparse
import csv
import io
import math
import os
import statistics
import subprocess
import sys
import tempfile


def ours(attnscope, cells, causal, device):
    """{(algorithm, d, n): nanoseconds} from one collected file."""
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "peers.attnscope")
        for d, n, batch, heads in cells:
            subprocess.run([attnscope, "collect", "--device", device, "--no-counters", "--no-verify", "--quiet",
                            "-a", f"N={n}", "-a", f"d={d}", "-a", f"batch={batch}", "-a", f"heads={heads}",
                            "-a", f"mask={'causal' if causal else 'none'}", "--output", database], check=True,
                           stdout=subprocess.DEVNULL)
        text = subprocess.run([attnscope, "export", database, "--format", "csv"], check=True, capture_output=True, text=True)
    for row in csv.DictReader(io.StringIO(text.stdout)):
        if row["kernel"] == "all" and row["time_median_ns"]:
            times[row["algorithm"], int(row["d"]), int(row["n_q"])] = float(row["time_median_ns"])
    return times


def torch_time(torch, function, flush, repetitions=15):
    for _ in range(3):
        function()
    spans = []
    for _ in range(repetitions):
        flush.random_(0, 127)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        spans.append((begin, end))
    torch.cuda.synchronize()
    return 1e6 * statistics.median(begin.elapsed_time(end) for begin, end in spans)


def peers(torch, cell, causal, flush):
    """{back end: nanoseconds}; a back end that cannot run the cell is left out."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    d, n, batch, heads = cell
    q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
    mask = torch.ones(n, n, device="cuda", dtype=torch.bool).tril() if causal else None

    def eager():
        scores = torch.matmul(q, k.transpose(-2, -1)) * (1 / math.sqrt(d))
        if causal:
            scores.masked_fill_(~mask, float("-inf"))
        return torch.matmul(torch.softmax(scores, -1), v)

    def fused(backend):
        def run():
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return run

    times = {}
    for name, function in (("eager", eager), ("flash", fused(SDPBackend.FLASH_ATTENTION)),
                           ("cudnn", fused(SDPBackend.CUDNN_ATTENTION))):
        try:
            times[name] = torch_time(torch, function, flush)
        except (RuntimeError, torch.OutOfMemoryError):
            torch.cuda.empty_cache()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--d", default="64,128")
    parser.add_argument("--n", default="512,1024,2048,4096,8192,16384")
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--csv", help="write the table there")
    arguments = parser.parse_args()
    import torch

    cells = [(d, n, arguments.tokens // n, arguments.hidden // d)
             for d in map(int, arguments.d.split(",")) for n in map(int, arguments.n.split(","))]
    mine = ours(arguments.attnscope, cells, arguments.causal, arguments.device)
    flush = torch.empty(256 << 20, device="cuda", dtype=torch.int8)
    header = ["d", "N", "flop/s fa2", "flash", "cudnn", "eager", "naive", "fa1", "fa2/flash", "fa2/cudnn", "naive/eager"]
    table = []
    for cell in cells:
        d, n, batch, heads = cell
        theirs = peers(torch, cell, arguments.causal, flush)
        flops = 4.0 * n * n * d * batch * heads * (0.5 if arguments.causal else 1)
        rate = lambda ns: f"{flops / ns / 1e3:.0f}" if ns else "-"
        own = {name: mine.get((name, d, n)) for name in ("naive", "fa1", "fa2")}
        ratio = lambda a, b: f"{b / a:.2f}" if a and b else "-"
        table.append([d, n, rate(own["fa2"]), rate(theirs.get("flash")), rate(theirs.get("cudnn")), rate(theirs.get("eager")),
                      rate(own["naive"]), rate(own["fa1"]), ratio(own["fa2"], theirs.get("flash")),
                      ratio(own["fa2"], theirs.get("cudnn")), ratio(own["naive"], theirs.get("eager"))])
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            csv.writer(out).writerows([header] + table)
    print(f"TFLOP/s and ratios, {'causal' if arguments.causal else 'full'}, {arguments.tokens} tokens, hidden {arguments.hidden}")
    for line in [header] + table:
        print("  ".join(str(cell).rjust(11) for cell in line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
