#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the law of N^2 d^2 / M on the GPU at hand: what `attnscope law` and the window's page of it show.
#   assets/samples/law.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
usage="usage: law.sh ATTNSCOPE OUTPUT.attnscope"
program=$(realpath "${1:?$usage}")
output=$(realpath "${2:?$usage}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$(dirname "$program"):$PATH
status=0
# Bytes are what counts here: few times are taken, of launches of up to half a second.
attnscope collect --device gpu --preset law --min-samples 3 --max-noise 0.2 --require-counters --timeout 60 --quiet --output law.attnscope || status=$?
# 5: some points could not run; they are in the file with their reasons.
[ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
attnscope export law.attnscope --format attnscope --output "$output"
attnscope law "$output"
