#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records additional data to fit and validate predictions: tile maps of long problems, shapes that the sample lacks (odd
# lengths, d 80 and 96, windows, block masks, GQA, backward), and the ceilings of the local GPU.
#   assets/samples/maps.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch_folder.sh" maps.sh "$@"

for d in 64 128; do
  record --preset tiles -a d=$d -a N=4096 -a heads=16 -a mask=causal
done
record --algorithms naive,fa1,fa2,fa3 -a heads=24 -a 'd=[80,96]' -a 'N=[1000,3001,6000]' -a 'mask=[full,causal,window:500:0]'
record --algorithms naive,fa1,fa2 -a heads=24 -a pass=bwd -a 'd=[64,96]' -a 'N=[1500,5003]' -a 'mask=[full,causal]'
record --algorithms fa2,fa3 -a heads_q=32 -a heads_kv=4 -a batch=2 -a d=128 -a 'N=[777,2500,9000]' -a 'mask=[full,causal]'
record --algorithms fa2 -a pass=bwd -a heads=16 -a d=64 -a N=4096 \
  -a 'tile=[32x64,64x32,64x64,64x96,64x128,96x64,96x96,128x32,128x64,128x96,128x128,128x192]'
# Tile maps at d 64. half_of() assigns the last one to validation and the others to fitting.
coarse=(-a 'br=[32,64,96,128,192,256]' -a 'bc=[32,64,96,128,192,256,320,448]')
record --preset tiles -a d=64 -a N=2048 -a heads=64
record --preset tiles -a d=64 -a N=3072 -a heads=40 -a mask=causal \
  -a 'br=[32,48,64,96,128,192,256]' -a 'bc=[32,48,64,96,128,192,256,320,448]'
record --preset tiles -a d=64 -a N=4096 -a heads=20 "${coarse[@]}"
record --preset tiles -a d=64 -a N=3072 -a heads=16 -a mask=causal "${coarse[@]}"
record --algorithms fa2 -a pass=bwd -a heads=24 -a d=64 -a N=4096 -a 'mask=[full,causal]' \
  -a 'tile=[32x64,64x32,64x64,64x96,64x128,96x64,96x96,128x32,128x64,128x96,128x128,128x192]'
# Block masks of several densities and sizes, for both fitting and validation.
blocks='mask=[blocks:128:butterfly,blocks:128:stride4,blocks:128:random10,blocks:128:random50,'
blocks+='blocks:256:random25,blocks:256:butterfly,blocks:64:random25,causal+blocks:128:random50]'
record --algorithms naive,fa1,fa2,fa3 -a heads=16 -a 'd=[64,128]' -a 'N=[4096,8192]' -a "$blocks"
record --algorithms naive,fa1,fa2 -a pass=bwd -a heads=16 -a 'd=[64,128]' -a N=4096 -a "$blocks"
# FP8 forward and decoding, in more shapes than the sample has.
record --algorithms fa3 -a dtype=fp8 -a heads=24 -a 'd=[64,128]' -a 'N=[1000,3001,6000,12000]' -a 'mask=[full,causal,window:500:0]'
record --algorithms fa3 -a dtype=fp8 -a batch=2 -a heads_q=32 -a heads_kv=4 -a d=128 -a 'N=[777,2500,9000]' -a 'mask=[full,causal]'
record --algorithms splitkv -a 'dtype=[fp16,fp8]' -a n_q=1 -a 'n_k=[2048,6000,20000,65536]' -a heads_q=32 -a 'heads_kv=[4,8,32]' \
  -a 'batch=[1,8]' -a 'd=[64,128]'
attnscope ceilings --device gpu --output recorded.attnscope >/dev/null
finish
