#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh KIND VERSION COMMAND FOLDER: writes FOLDER/README.md of an archive of KIND (command-line or desktop), with
# the system requirements of the program COMMAND and, for desktop, of the programs and libraries in FOLDER.
set -euo pipefail
kind=$1 version=$2 command=$3 folder=$4

# newest NAME FILE...: prints the newest version of the symbol set NAME (GLIBC, GLIBCXX) that the files require.
newest() {
  local name=$1
  shift
  objdump -T "$@" | grep -oE "\b${name}_[0-9]+(\.[0-9]+)+" | sed "s/${name}_//" | sort -uV | tail -n 1
}
sonames() {
  objdump -p "$@" | awk '$1 == "NEEDED" {print $2}' | sort -u
}

title="the command line"
[ "$kind" != desktop ] || title="window and command line"
mkdir -p "$folder"
{
  echo "<!-- SPDX-License-Identifier: Apache-2.0 -->"
  echo "# Attnscope $version: $title"
  echo
  echo "Unpack it anywhere. Move it only as a whole: the programs find their files by relative paths."
  echo
  echo "- \`bin/attnscope\`, the command line: needs glibc $(newest GLIBC "$command") or newer."
  if [ "$kind" = desktop ]; then
    mapfile -t files < <(find "$folder"/bin "$folder"/lib "$folder"/plugins -type f ! -name qt.conf)
    bundled=$(find "$folder/lib" -name '*.so*' -printf '%f\n')
    echo "- \`bin/attnscope-gui\`, the window, with Qt in \`lib\` and \`plugins\`: needs glibc $(newest GLIBC "${files[@]}") and" \
         "GLIBCXX $(newest GLIBCXX "${files[@]}") or newer, and these system libraries (drivers, fonts):" \
         "$(sonames "${files[@]}" | grep -vxF "$bundled" | paste -sd ' ')."
  fi
  echo "- \`share/attnscope/samples\`: recorded measurements, shown if no file is given."
  echo "- \`share/doc/attnscope\`: documents; start with [install.md](share/doc/attnscope/install.md). \`LICENSES\` contains the"
  echo "  licenses of the programs and of the libraries shipped with them."
} >"$folder/README.md"
