#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what predictions are judged by beside the sample: tile maps of long causal problems, and shapes that nothing was
# fitted to (odd lengths, d 80 and 96, windows, GQA, backward), with the ceilings of the GPU at hand.
#   assets/samples/maps.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/in_a_folder_of_its_own.sh" maps.sh "$@"

for d in 64 128; do
  record --preset tiles -a d=$d -a N=4096 -a heads=16 -a mask=causal
done
record --algorithms naive,fa1,fa2,fa3 -a heads=24 -a 'd=[80,96]' -a 'N=[1000,3001,6000]' -a 'mask=[full,causal,window:500:0]'
record --algorithms naive,fa1,fa2 -a heads=24 -a pass=bwd -a 'd=[64,96]' -a 'N=[1500,5003]' -a 'mask=[full,causal]'
record --algorithms fa2,fa3 -a heads_q=32 -a heads_kv=4 -a batch=2 -a d=128 -a 'N=[777,2500,9000]' -a 'mask=[full,causal]'
record --algorithms fa2 -a pass=bwd -a heads=16 -a d=64 -a N=4096 \
  -a 'tile=[32x64,64x32,64x64,64x96,64x128,96x64,96x96,128x32,128x64,128x96,128x128,128x192]'
attnscope ceilings --device gpu --output recorded.attnscope >/dev/null
finish
