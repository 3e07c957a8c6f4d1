#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes 20 honest kernels to FOLDER: five of this folder, each divided into 1, 5, 8 and 16 launches.

  honest.py FOLDER

The launches of fa1-fp32 divide the K/V tiles, those of the others the heads. With N 4096 and 16 heads, launches of all but
fa2-mma take 0.3 to 10 ms on an H200. Names: KERNEL-xLAUNCHES. Measure each 50 times:

  for file in FOLDER/*.json; do
    attnscope collect --kernel $file --algorithms $(basename $file .json) -a "N=[512,4096]" -a heads=16 -a d=64 \
      -a dtype=$(case $file in *fp32*) echo fp32 ;; *) echo fp16 ;; esac) --rounds 50 -o honest.attnscope
  done
"""
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = (1, 5, 8, 16)
BY_HEADS = ("fa2_mma", "bnhd_no_lse", "packed_qkv", "params_struct")


def replaced(value, old, new):
    """Replaces the text `old` in lists and objects."""
    if isinstance(value, list):
        return [replaced(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: replaced(each, old, new) for key, each in value.items()}
    return new if value == old else value


def part(total, index, count):
    """First element of part `index` of `count`."""
    return f"({total}) * {index} / {count}"


def by_heads(launch, index, count):
    first, end = (part("batch * heads", i, count) for i in (index, index + 1))
    arguments = replaced(launch["arguments"], "int 0", f"int {first}")
    assert arguments != launch["arguments"]
    return launch | {
        "when": f"{end} > {first}",
        "grid": [launch["grid"][0], f"{end} - {first}"],
        "arguments": arguments,
    }


def by_key_tiles(launch, index, count):
    first, end = (part("ceil_div(n_k, bc)", i, count) for i in (index, index + 1))
    arguments = replaced(replaced(launch["arguments"], "int ceil_div(n_k, bc)", f"int {end}"), "int 0", f"int {first}")
    rows = f"instances * (min(n_k, {end} * bc) - {first} * bc)"
    visits = f"instances * n_q * ({end} - {first})"
    text = json.dumps(launch["bytes"]).replace("visits", visits).replace("instances * n_k", rows)
    return launch | {"when": f"{end} > {first}", "arguments": arguments, "bytes": json.loads(text)}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for base in ("fa1_fp32", *BY_HEADS):
        manifest = json.loads((HERE / f"{base}.json").read_text())
        shutil.copy(HERE / manifest["source"], folder)
        (launch,) = manifest["launches"]
        divide = by_heads if base in BY_HEADS else by_key_tiles
        for count in COUNTS:
            name = f"{manifest['name']}-x{count}"
            launches = [divide(launch, i, count) | {"name": f"part{i}"} for i in range(count)]
            text = json.dumps(manifest | {"name": name, "launches": launches}, indent=1)
            (folder / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
