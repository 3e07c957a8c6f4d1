#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libraries.sh PROGRAM BUILD FOLDER [FILE...]: which libraries are shipped with PROGRAM, into FOLDER/libraries-of-PROGRAM.md,
# and beside it what Debian's packages say of their licences. Looked at are the FILEs and what the build in BUILD compiled
# and linked into the program: Ninja knows every header and archive, dpkg whose they are.
set -euo pipefail
program=$1 build=$2 folder=$3
shift 3
if ! { command -v dpkg-query && command -v ninja && [ -f "$build/build.ninja" ]; } >/dev/null; then
  echo "-- No list of $program's libraries: it is made of what Ninja and Debian's dpkg know"
  exit 0
fi

# packages_of: of the files that stdin names; those of no package (CUDA's headers, which only declare) are passed over.
packages_of() {
  xargs -r -d '\n' realpath -qe | sort -u | xargs -r -d '\n' dpkg-query -S 2>/dev/null | sed 's/: .*//' | sort -u || true
}
# compiled_in: the packages of headers and archives, less those whose shared library the program asks for, and those
# that declare what every system has.
compiled_in() {
  local inputs shared package
  inputs=$(ninja -C "$build" -t inputs "app/$program")
  shared=$(ldd "$build/app/$program" | awk '$3 ~ /^\// {print $3}' | xargs realpath)
  for package in $({
    grep -E '^/.*\.a$' <<<"$inputs"
    grep '\.o$' <<<"$inputs" | xargs ninja -C "$build" -t deps | sed -n 's/^ *\(\/\)/\1/p'
  } | packages_of); do
    case $package in libc6-dev:*|linux-libc-dev:*|libgl-dev:*) continue ;; esac
    dpkg-query -L "$package" | { grep '/lib[^/]*\.so$' || true; } | xargs -r realpath -qe | grep -qxF "$shared" ||
      echo "$package"
  done
}

mkdir -p "$folder"
list=$folder/libraries-of-$program.md
{
  echo "<!-- SPDX-License-Identifier: Apache-2.0 -->"
  echo "# Libraries that come with $program"
  echo
  echo "As built into it or put beside it, from these of Debian's packages. Their source is Debian's source package of the"
  echo "version."
  echo
  echo "| source package | version | of its packages | licences | whole text |"
  echo "| --- | --- | --- | --- | --- |"
} >"$list"
{
  compiled_in
  printf '%s\n' "$@" | packages_of
} | sort -u | xargs -r dpkg-query -W -f '${source:Package} ${source:Version} ${binary:Package}\n' | sort |
  awk '{names[$1 " " $2] = names[$1 " " $2] " " $3} END {for (source in names) print source names[source]}' |
  sort | while read -r source version names; do
    text=/usr/share/doc/${names%%[: ]*}/copyright
    licences=$(sed -n 's/^License: *\(.*[^ ]\) *$/\1/p' "$text" | sort -u | paste -sd ';' | sed 's/;/; /g')
    install -m 644 "$text" "$folder/$source.txt"
    echo "| $source | $version | ${names// /, } | ${licences:-see its text} | [$source.txt]($source.txt) |" >>"$list"
    # Texts that Debian keeps in one place for all.
    for common in $(grep -oE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$text" | sort -u); do
      [ ! -f "$common" ] || install -D -m 644 "$common" "$folder/common-licenses/${common##*/}"
    done
  done
chmod 644 "$list"
