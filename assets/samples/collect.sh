#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the sample: all presets on the local GPU and imported PyTorch times, in one compact file.
#   assets/samples/collect.sh ATTNSCOPE OUTPUT.attnscope [PEERS.csv ...]
# Create PEERS.csv with tests/gpu/peers/torch_ratios.py --csv on the same GPU.
set -euo pipefail
# Resolves relative paths before scratch_folder.sh changes the working directory.
peers=()
for file in "${@:3}"; do peers+=("$(realpath "$file")"); done
source "$(dirname "${BASH_SOURCE[0]}")/scratch_folder.sh" collect.sh "$@"
for preset in quick memory-wall tiles paper backward masks decode; do record --utilization --preset "$preset"; done
record --utilization --preset memory-wall --algorithms fa3 -a dtype=fp8
record --utilization --preset decode --algorithms splitkv -a dtype=fp8
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
for file in ${peers[@]+"${peers[@]}"}; do
  name=$(basename "$file")
  cp "$file" "$name"  # avoids an absolute path in the command line that the run stores
  attnscope import "$name" -o recorded.attnscope --label "PyTorch $(basename "$name" .csv)" --device-name "$device"
done
attnscope ceilings --device gpu --output recorded.attnscope >/dev/null
finish
