# SPDX-License-Identifier: Apache-2.0
# Sourced by the recording scripts: changes to a temporary folder that is removed on exit, and puts ATTNSCOPE on PATH.
# Runs store their command line, so it must not contain absolute paths.
#   source scratch_folder.sh NAME.sh ATTNSCOPE OUTPUT.attnscope
usage="usage: $1 ATTNSCOPE OUTPUT.attnscope"
program=$(realpath "${2:?$usage}")
output=$(realpath "${3:?$usage}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$(dirname "$program"):$PATH

# record OPTIONS...: collects into recorded.attnscope. Exit code 5 is accepted: some points failed and have a reason.
record() {
  local status=0
  attnscope collect --device gpu --output recorded.attnscope --quiet "$@" || status=$?
  [ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
}

# Writes the recording to the output file in compact form.
finish() {
  attnscope export recorded.attnscope --format attnscope --force --output "$output"
  attnscope info "$output"
}
