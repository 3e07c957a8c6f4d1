# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scripts that take FOLDER as their second argument: goes there, and runs their steps.
folder=${2:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder" || exit 2
export ATTNSCOPE_CACHE_DIR=${ATTNSCOPE_CACHE_DIR:-$folder/cache}
failed=0

# step TITLE COMMAND...: its output to a log of that name and, the end of it, to the terminal
step() {
  local title=$1 begin=$SECONDS
  shift
  "$@" >"$title.log" 2>&1
  local code=$?
  tail -n "${lines:-25}" "$title.log"
  echo "== $title: exit code $code, $((SECONDS - begin)) s"
  # shellcheck disable=SC2034 # the exit status of who sources this
  [[ $code -eq 0 ]] || failed=1
}
