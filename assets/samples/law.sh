#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records DRAM bytes for the N^2 d^2 / M law on the local GPU, as shown by `attnscope law` and the law page.
#   assets/samples/law.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch_folder.sh" law.sh "$@"
# Only bytes matter here, so few timing samples are taken; a launch takes up to half a second.
record --preset law --min-samples 3 --max-noise 0.2 --require-counters --timeout 60
finish
attnscope law "$output"
