#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recorded sample: all presets on the GPU at hand, and other programs' times, into one compact file.
#   assets/samples/collect.sh ATTNSCOPE OUTPUT.attnscope [PEERS.csv ...]
# PEERS.csv is what tests/gpu/peers/torch_ratios.py --csv writes on the same GPU.
set -euo pipefail
# Taken in before the working folder changes.
peers=()
for file in "${@:3}"; do peers+=("$(realpath "$file")"); done
source "$(dirname "${BASH_SOURCE[0]}")/in_a_folder_of_its_own.sh" collect.sh "$@"
for preset in quick memory-wall tiles paper backward masks decode; do record --why --preset "$preset"; done
record --why --preset memory-wall --algorithms fa3 -a dtype=fp8
record --why --preset decode --algorithms splitkv -a dtype=fp8
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
for file in ${peers[@]+"${peers[@]}"}; do
  name=$(basename "$file")
  cp "$file" "$name"  # runs record their command line: no path of this machine belongs in it
  attnscope import "$name" -o recorded.attnscope --label "PyTorch $(basename "$name" .csv)" --device-name "$device"
done
attnscope ceilings --device gpu --output recorded.attnscope >/dev/null
finish
