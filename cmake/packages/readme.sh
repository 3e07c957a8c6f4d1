#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh KIND VERSION COMMAND FOLDER: FOLDER/README.md of an archive of that KIND (command-line or desktop), which says
# what is asked of a system by the program COMMAND, and by the window and the libraries in FOLDER.
set -euo pipefail
kind=$1 version=$2 command=$3 folder=$4

# newest NAME FILE...: of the versions of NAME's symbols that the files ask for.
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
  echo "Unpack it anywhere, and move it as a whole: programs look beside themselves for what they need."
  echo
  echo "- \`bin/attnscope\`, the command line: needs glibc $(newest GLIBC "$command") or newer."
  if [ "$kind" = desktop ]; then
    mapfile -t files < <(find "$folder"/bin "$folder"/lib "$folder"/plugins -type f ! -name qt.conf)
    own=$(find "$folder/lib" -name '*.so*' -printf '%f\n')
    echo "- \`bin/attnscope-gui\`, the window, with Qt in \`lib\` and \`plugins\`: needs glibc $(newest GLIBC "${files[@]}") and" \
         "GLIBCXX $(newest GLIBCXX "${files[@]}") or newer, and of the system, which its drivers and fonts are of:" \
         "$(sonames "${files[@]}" | grep -vxF "$own" | paste -sd ' ')."
  fi
  echo "- \`share/attnscope/samples\`: recorded measurements, which are shown where no file is given."
  echo "- \`share/doc/attnscope\`: documents, [install.md](share/doc/attnscope/install.md) first; in \`LICENSES\` there is the"
  echo "  programs' own licences, and which libraries come with them under which."
} >"$folder/README.md"
