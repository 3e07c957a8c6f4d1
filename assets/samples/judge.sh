#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records validation data for the predictions: problems that occur neither in the sample nor in maps.sh, never used for
# fits.
#   assets/samples/judge.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch_folder.sh" judge.sh "$@"

record --no-verify --preset tiles -a d=96 -a N=3072 -a heads=20
record --no-verify --preset tiles -a d=128 -a N=2500 -a heads=12 -a mask=causal
record --no-verify --algorithms naive,fa1,fa2,fa3 -a heads=10 -a 'd=[64,112,128]' -a 'N=[1536,4500]' -a 'mask=[full,window:700:0]'
record --no-verify --algorithms fa1,fa2,fa3 -a heads=14 -a pass=bwd -a 'd=[64,128]' -a 'N=[2000,3500]' -a 'mask=[full,causal]'
record --no-verify --algorithms fa3 -a dtype=fp8 -a heads=14 -a 'd=[64,128]' -a 'N=[2000,5000]' -a 'mask=[full,causal]'
record --no-verify --algorithms splitkv -a 'dtype=[fp16,fp8]' -a n_q=1 -a 'n_k=[3000,12000,50000,131072]' -a heads_q=16 \
  -a 'heads_kv=[2,16]' -a 'batch=[1,4]' -a 'd=[64,128]'
finish
