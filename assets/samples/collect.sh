#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recorded sample: all presets on the GPU at hand, into one compact file.
#   assets/samples/collect.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
attnscope=${1:?usage: collect.sh ATTNSCOPE OUTPUT.attnscope}
output=${2:?usage: collect.sh ATTNSCOPE OUTPUT.attnscope}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for preset in quick memory-wall tiles paper; do
  "$attnscope" collect --preset "$preset" --device gpu --output "$work/sample.attnscope" --quiet
done
"$attnscope" export "$work/sample.attnscope" --format attnscope --output "$output"
"$attnscope" info "$output"
