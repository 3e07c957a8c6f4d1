#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recorded race: every algorithm that computes attention, and linear attention, over N in one run.
#   assets/samples/race.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/in_a_folder_of_its_own.sh" race.sh "$@"
# 132 heads, so that standard attention at N 16384 fits an H200: 133 GiB.
record --preset memory-wall -a batch=1 --algorithms naive,fa1,fa2,fa3,linattn
finish
