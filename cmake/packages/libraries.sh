#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libraries.sh PROGRAM BUILD FOLDER [FILE...]: writes FOLDER/libraries-of-PROGRAM.md, a list of the libraries shipped
# with PROGRAM, and their license texts from the Debian packages. Considers each FILE and everything that the build in
# BUILD compiled or linked into the program, found with Ninja and dpkg.
set -euo pipefail
program=$1 build=$2 folder=$3
shift 3
if ! { command -v dpkg-query && command -v ninja && [ -f "$build/build.ninja" ]; } >/dev/null; then
  echo "-- Skipping the library list of $program: it needs Ninja and dpkg"
  exit 0
fi

# packages_of: prints the packages of the files on stdin; skips files of no package (CUDA headers, which only declare).
packages_of() {
  xargs -r -d '\n' realpath -qe | sort -u | xargs -r -d '\n' dpkg-query -S 2>/dev/null | sed 's/: .*//' | sort -u || true
}
# compiled_in: prints the packages of the program's headers and archives, without packages whose shared library the
# program links and packages that only declare system interfaces.
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
  echo "# Libraries shipped with $program"
  echo
  echo "Compiled into the program or installed with it, from the following Debian packages. The source code is Debian's"
  echo "source package of the given version."
  echo
  echo "| source package | version | packages | licenses | full text |"
  echo "| --- | --- | --- | --- | --- |"
} >"$list"
{
  compiled_in
  printf '%s\n' "$@" | packages_of
} | sort -u | xargs -r dpkg-query -W -f '${source:Package} ${source:Version} ${binary:Package}\n' | sort |
  awk '{names[$1 " " $2] = names[$1 " " $2] " " $3} END {for (source in names) print source names[source]}' |
  sort | while read -r source version names; do
    text=/usr/share/doc/${names%%[: ]*}/copyright
    licenses=$(sed -n 's/^License: *\(.*[^ ]\) *$/\1/p' "$text" | sort -u | paste -sd ';' | sed 's/;/; /g')
    install -m 644 "$text" "$folder/$source.txt"
    echo "| $source | $version | ${names// /, } | ${licenses:-see full text} | [$source.txt]($source.txt) |" >>"$list"
    # Copies the license texts in /usr/share/common-licenses that the copyright file refers to.
    for common in $(grep -oE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$text" | sort -u); do
      [ ! -f "$common" ] || install -D -m 644 "$common" "$folder/common-licenses/${common##*/}"
    done
  done
chmod 644 "$list"
