#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the race: all attention algorithms and linear attention over N, in one run.
#   assets/samples/race.sh ATTNSCOPE OUTPUT.attnscope
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scratch_folder.sh" race.sh "$@"
# With 132 heads, standard attention at N 16384 needs 133 GiB, which fits an H200.
record --preset memory-wall -a batch=1 --algorithms naive,fa1,fa2,fa3,linattn
finish
