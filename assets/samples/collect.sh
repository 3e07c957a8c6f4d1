#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recorded sample: all presets on the GPU at hand, and other programs' times, into one compact file.
#   assets/samples/collect.sh ATTNSCOPE OUTPUT.attnscope [PEERS.csv ...]
# PEERS.csv is what tests/gpu/peers/torch_ratios.py --csv writes on the same GPU.
set -euo pipefail
usage="usage: collect.sh ATTNSCOPE OUTPUT.attnscope [PEERS.csv ...]"
program=$(realpath "${1:?$usage}")
output=$(realpath "${2:?$usage}")
shift 2
peers=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Runs record their command line: no path of this machine belongs in it.
for file in "$@"; do
  cp "$file" "$work"
  peers+=("$(basename "$file")")
done
cd "$work"
PATH=$(dirname "$program"):$PATH
for preset in quick memory-wall tiles paper backward masks decode; do
  status=0
  attnscope collect --preset "$preset" --device gpu --output sample.attnscope --quiet || status=$?
  # 5: some points could not run; they are in the file with their reasons.
  [ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
done
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
for file in ${peers[@]+"${peers[@]}"}; do
  attnscope import "$file" --into sample.attnscope --label "PyTorch $(basename "$file" .csv)" --device-name "$device"
done
attnscope export sample.attnscope --format attnscope --output "$output"
attnscope info "$output"
