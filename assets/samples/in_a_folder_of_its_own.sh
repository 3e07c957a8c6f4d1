# SPDX-License-Identifier: Apache-2.0
# What the scripts beside it share, to be sourced: they work in a folder that is removed at the end, with ATTNSCOPE as
# `attnscope`, since runs record their command line and no path of this machine belongs in it.
#   source in_a_folder_of_its_own.sh NAME.sh ATTNSCOPE OUTPUT.attnscope
usage="usage: $1 ATTNSCOPE OUTPUT.attnscope"
program=$(realpath "${2:?$usage}")
output=$(realpath "${3:?$usage}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$(dirname "$program"):$PATH

# record OPTIONS...: a sweep into recorded.attnscope. Points that could not run (exit code 5) are in the file with their
# reasons.
record() {
  local status=0
  attnscope collect --device gpu --output recorded.attnscope --quiet "$@" || status=$?
  [ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
}

# The output: what was recorded, compact.
finish() {
  attnscope export recorded.attnscope --format attnscope --force --output "$output"
  attnscope info "$output"
}
