#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what predictions are judged by and never fitted to: problems that are in neither the sample nor what maps.sh records.
#   assets/samples/judge.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
usage="usage: judge.sh ATTNSCOPE OUTPUT.attnscope"
program=$(realpath "${1:?$usage}")
output=$(realpath "${2:?$usage}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$(dirname "$program"):$PATH

record() {
  local status=0
  attnscope collect --device gpu --output judge.attnscope --quiet --no-verify "$@" || status=$?
  # 5: some points could not run; they are in the file with their reasons.
  [ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
}

record --preset tiles -a d=96 -a N=3072 -a heads=20
record --preset tiles -a d=128 -a N=2500 -a heads=12 -a mask=causal
record --algorithms naive,fa1,fa2,fa3 -a heads=10 -a 'd=[64,112,128]' -a 'N=[1536,4500]' -a 'mask=[full,window:700:0]'
record --algorithms fa1,fa2,fa3 -a heads=14 -a pass=bwd -a 'd=[64,128]' -a 'N=[2000,3500]' -a 'mask=[full,causal]'
attnscope export judge.attnscope --format attnscope --output "$output"
attnscope info "$output"
