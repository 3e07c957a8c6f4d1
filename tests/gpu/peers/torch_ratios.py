#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's attention back ends and Attnscope's kernels on the same problems in one run, and prints the ratios.

usage: torch_ratios.py ATTNSCOPE [--d 64,128] [--n 512,1024,...] [--masks full,causal] [--passes fwd,bwd] [--csv OUT]
       torch_ratios.py ATTNSCOPE --batch 2 --heads 132 [--ours none] ...
       torch_ratios.py ATTNSCOPE --decode [--n 65536,131072]

Each cell has `tokens` tokens and hidden / d heads (batch = tokens / N), fp16. Attnscope uses default tiles, cold L2, and the
median of at least ten samples; PyTorch's times are CUDA-event medians over random inputs with L2 overwritten between
repetitions. Eager is matmul, softmax, matmul; backward is torch.autograd.grad, excluding the forward pass. --decode uses
batch 1, 16 query heads on 2 K/V heads, one query, and also prints the bandwidth of a copy. A ratio above 1 means that
Attnscope is faster. --csv writes PyTorch's times for `attnscope import`. Needs a GPU and PyTorch.
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
from collections import namedtuple

Cell = namedtuple("Cell", "d n_q n_k batch heads_q heads_kv mask pass_")


def ours(attnscope, groups, masks, passes, algorithms, device):
    """Returns {(algorithm, Cell): nanoseconds} from one recorded file; a group is the axes of one collect call."""
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "peers.attnscope")
        for axes in groups:
            command = [attnscope, "collect", "--device", device, "--no-counters", "--no-verify", "--quiet", "--output", database,
                       "-a", f"algorithm=[{algorithms}]"]
            for axis in axes + ["tile=auto", f"mask=[{','.join(masks)}]", f"pass=[{','.join(passes)}]"]:
                command += ["-a", axis]
            done = subprocess.run(command, stdout=subprocess.DEVNULL)
            if done.returncode not in (0, 5):  # 5: some points did not run and are missing from the table
                raise SystemExit(f"attnscope collect ended with {done.returncode}: {' '.join(command)}")
        text = subprocess.run([attnscope, "export", database, "--format", "csv"], check=True, capture_output=True, text=True)
    for row in csv.DictReader(io.StringIO(text.stdout)):
        if row["kernel"] == "all" and row["time_median_ns"]:
            cell = Cell(int(row["d"]), int(row["n_q"]), int(row["n_k"]), int(row["batch"]), int(row["heads_q"]),
                        int(row["heads_kv"]), row["mask"], row["pass"])
            times[row["algorithm"], cell] = float(row["time_median_ns"])
    return times


def torch_time(torch, function, flush, repetitions=15):
    dirty, clean = flush
    for _ in range(3):
        function()
    spans = []
    for _ in range(repetitions):
        # Fills L2 with unrelated lines and evicts the dirty ones, so that no write-back is timed; then pauses to hide the
        # host's enqueue time.
        dirty.random_(0, 127)
        clean.sum()
        torch.cuda._sleep(1_000_000)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        spans.append((begin, end))
    torch.cuda.synchronize()
    return 1e6 * statistics.median(begin.elapsed_time(end) for begin, end in spans)


def peers(torch, cell, flush):
    """Returns {back end: nanoseconds} without back ends that cannot run the cell."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backward = cell.pass_ != "fwd"
    make = lambda heads, n: torch.randn(cell.batch, heads, n, cell.d, device="cuda", dtype=torch.float16, requires_grad=backward)
    q, k, v = make(cell.heads_q, cell.n_q), make(cell.heads_kv, cell.n_k), make(cell.heads_kv, cell.n_k)
    causal = cell.mask == "causal"
    grouped = cell.heads_q != cell.heads_kv
    hidden = torch.ones(cell.n_q, cell.n_k, device="cuda", dtype=torch.bool).tril(cell.n_k - cell.n_q).logical_not() if causal else None

    def eager():
        keys, values = (x.repeat_interleave(cell.heads_q // cell.heads_kv, 1) if grouped else x for x in (k, v))
        scores = torch.matmul(q, keys.transpose(-2, -1)) * (1 / math.sqrt(cell.d))
        if causal:
            scores = scores.masked_fill_(hidden, float("-inf"))
        return torch.matmul(torch.softmax(scores, -1), values)

    def fused(backend):
        def run():
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)
        return run

    times = {}
    for name, function in (("eager", eager), ("flash", fused(SDPBackend.FLASH_ATTENTION)),
                           ("cudnn", fused(SDPBackend.CUDNN_ATTENTION))):
        try:
            timed = function
            if backward:
                out = function()
                dout = torch.randn_like(out)
                gradients = lambda: torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)

                def both():
                    torch.autograd.grad(function(), (q, k, v), dout)

                timed = gradients if cell.pass_ == "bwd" else both
            times[name] = torch_time(torch, timed, flush)
        except (RuntimeError, torch.OutOfMemoryError):
            pass
        out = dout = timed = None
        torch.cuda.empty_cache()
    return times


def flops(cell):
    pairs = cell.n_q * cell.n_k
    if cell.mask == "causal":
        pairs -= cell.n_q * (cell.n_q - 1) // 2
    each = {"fwd": 4.0, "bwd": 10.0, "fwd+bwd": 14.0}[cell.pass_]
    return each * cell.d * pairs * cell.batch * cell.heads_q


def print_table(title, header, table):
    print(title)
    for line in [header] + table:
        print("  ".join(str(cell).rjust(11) for cell in line))
    print(flush=True)


def geometric_mean(ratios):
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else "-"


def ratio(own, other):
    return other / own if own and other else None


def format_value(value, digits=2):
    return f"{value:.{digits}f}" if value else "-"


def prefill(torch, arguments, flush):
    masks, passes = arguments.masks.split(","), arguments.passes.split(",")
    lengths, dims = [int(n) for n in arguments.n.split(",")], [int(d) for d in arguments.d.split(",")]
    batch_of = lambda n: arguments.batch or max(1, arguments.tokens // n)
    heads_of = lambda d: arguments.heads or arguments.hidden // d
    groups = [[f"N={n}", f"d={d}", f"batch={batch_of(n)}", f"heads={heads_of(d)}"] for d in dims for n in lengths]
    mine = {} if arguments.ours == "none" else ours(arguments.attnscope, groups, masks, passes, arguments.ours, arguments.device)
    rows = []
    for pass_ in passes:
        for mask in masks:
            pairs = (("fa2", "flash"), ("fa3", "flash"), ("fa3", "cudnn"), ("naive", "eager"))
            names = ("fa2", "fa3", "fa1", "naive")
            header = (["d", "N"] + [f"{name} Tflop/s" if name == "fa2" else name for name in names] + ["flash", "cudnn", "eager"] +
                      [f"{mine_}/{theirs_}" for mine_, theirs_ in pairs])
            table, against = [], {pair: [] for pair in pairs}
            for d in dims:
                for n in lengths:
                    cell = Cell(d, n, n, batch_of(n), heads_of(d), heads_of(d), mask, pass_)
                    theirs = peers(torch, cell, flush)
                    rows += [(f"torch-{name}", cell, time) for name, time in theirs.items()]
                    own = {name: mine.get((name, cell)) for name in names}
                    rate = lambda ns: f"{flops(cell) / ns / 1e3:.0f}" if ns else "-"
                    ratios = [ratio(own[ours_], theirs.get(name)) for ours_, name in pairs]
                    for pair, value in zip(pairs, ratios):
                        if value:
                            against[pair].append(value)
                    table.append([d, n] + [rate(own[x]) for x in names] + [rate(theirs.get(x)) for x in ("flash", "cudnn", "eager")] +
                                 [format_value(value) for value in ratios])
            blank = [""] * (len(header) - len(pairs) - 1)
            table.append(["geomean"] + blank + [geometric_mean(against[pair]) for pair in pairs])
            worst = [min(against[pair]) if against[pair] else None for pair in pairs]
            table.append(["minimum"] + blank + [format_value(x) for x in worst])
            shape = (f"batch {arguments.batch}, {arguments.heads} heads" if arguments.batch and arguments.heads
                     else f"{arguments.tokens} tokens, hidden {arguments.hidden}")
            print_table(f"Tflop/s and ratios, {pass_}, {mask}, {shape}", header, table)
    return rows


def copy_bandwidth(torch, size, flush):
    source = torch.randint(0, 255, (size,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    return 2 * size / torch_time(torch, lambda: target.copy_(source), flush)


def decode(torch, arguments, flush):
    lengths = [int(n) for n in arguments.n.split(",")]
    groups = [[f"n_q=1", f"n_k={n}", "d=128", "batch=1", "heads_q=16", "heads_kv=2"] for n in lengths]
    mine = ours(arguments.attnscope, groups, ["full"], ["fwd"], "splitkv,fa2,naive", arguments.device)
    best = max(copy_bandwidth(torch, size << 20, flush) for size in (64, 256, 1024))
    header = ["n_k", "splitkv us", "GB/s", "of copy", "same size", "flash us", "fa2 us", "naive us", "splitkv/flash"]
    rows, table = [], []
    for n in lengths:
        cell = Cell(128, 1, n, 1, 16, 2, "full", "fwd")
        theirs = peers(torch, cell, flush)
        rows += [(f"torch-{name}", cell, time) for name, time in theirs.items()]
        own = {name: mine.get((name, cell)) for name in ("splitkv", "fa2", "naive")}
        size = 2 * 2 * n * 128 * 2
        rate = size / own["splitkv"] if own["splitkv"] else None
        same = copy_bandwidth(torch, size // 2, flush)
        micro = lambda ns: format_value(ns / 1e3 if ns else None, 1)
        table.append([n, micro(own["splitkv"]), format_value(rate, 0), format_value(rate / best if rate else None), format_value(rate / same if rate else None),
                      micro(theirs.get("flash")), micro(own["fa2"]), micro(own["naive"]),
                      format_value(ratio(own["splitkv"], theirs.get("flash")))])
    print_table(f"Decode, batch 1, heads 16/2, d 128; a copy reaches {best:.0f} GB/s", header, table)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--d", default="64,128")
    parser.add_argument("--n", help="comma-separated sequence lengths")
    parser.add_argument("--masks", default="full,causal")
    parser.add_argument("--passes", default="fwd,bwd")
    parser.add_argument("--ours", default="naive,fa1,fa2,fa3", help="Attnscope algorithms, or none; fa1 is slow at large N")
    parser.add_argument("--batch", type=int, help="fixed batch size for every N, instead of tokens / N")
    parser.add_argument("--heads", type=int, help="fixed number of heads for every d, instead of hidden / d")
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--decode", action="store_true")
    parser.add_argument("--csv", help="write PyTorch's times to this file, for attnscope import")
    arguments = parser.parse_args()
    arguments.n = arguments.n or ("16384,65536,131072" if arguments.decode else "512,1024,2048,4096,8192,16384")
    import torch

    flush = (torch.empty(128 << 20, device="cuda", dtype=torch.int8),
             torch.randint(0, 127, (256 << 20,), device="cuda", dtype=torch.int8))
    rows = (decode if arguments.decode else prefill)(torch, arguments, flush)
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["algorithm", "pass", "dtype", "mask", "batch", "heads_q", "heads_kv", "n_q", "n_k", "d", "cache", "time_ns"])
            for name, cell, time in rows:
                writer.writerow([name, cell.pass_, "fp16", cell.mask, cell.batch, cell.heads_q, cell.heads_kv, cell.n_q, cell.n_k,
                                 cell.d, "cold", f"{time:.0f}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
