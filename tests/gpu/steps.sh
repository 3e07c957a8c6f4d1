# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Helper for scripts whose second argument is FOLDER: changes to it and defines step().
folder=${2:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder" || exit 2
export ATTNSCOPE_CACHE_DIR=${ATTNSCOPE_CACHE_DIR:-$folder/cache}
failed=0

# step TITLE COMMAND...: writes the output to TITLE.log and prints its last lines
step() {
  local title=$1 begin=$SECONDS
  shift
  "$@" >"$title.log" 2>&1
  local code=$?
  tail -n "${lines:-25}" "$title.log"
  echo "== $title: exit code $code, $((SECONDS - begin)) s"
  # shellcheck disable=SC2034 # exit status of the sourcing script
  [[ $code -eq 0 ]] || failed=1
}
