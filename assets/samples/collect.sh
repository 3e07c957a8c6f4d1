#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recorded sample: all presets on the GPU at hand, into one compact file.
#   assets/samples/collect.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
program=$(realpath "${1:?usage: collect.sh ATTNSCOPE OUTPUT.attnscope}")
output=$(realpath "${2:?usage: collect.sh ATTNSCOPE OUTPUT.attnscope}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Runs record their command line: no path of this machine belongs in it.
cd "$work"
PATH=$(dirname "$program"):$PATH
for preset in quick memory-wall tiles paper; do
  attnscope collect --preset "$preset" --device gpu --output sample.attnscope --quiet
done
attnscope export sample.attnscope --format attnscope --output "$output"
attnscope info "$output"
