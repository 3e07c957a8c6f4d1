#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the law of N^2 d^2 / M on the GPU at hand: what `attnscope law` and the window's page of it show.
#   assets/samples/law.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/in_a_folder_of_its_own.sh" law.sh "$@"
# Bytes are what counts here: few times are taken, of launches of up to half a second.
record --preset law --min-samples 3 --max-noise 0.2 --require-counters --timeout 60
finish
attnscope law "$output"
