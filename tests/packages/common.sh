# SPDX-License-Identifier: Apache-2.0
# Sourced by the package tests, whose argument is the build folder. Each test uses its own temporary folder.
set -euo pipefail
build=$1
packages=$build/packages
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# skip REASON: reports a skipped test in GoogleTest's format, which test.sh parses.
skip() {
  printf '%s: Skipped\n%s\n[  SKIPPED ] 1 test.\n' "$0" "$*"
  exit 77
}
fail() {
  echo "$0: $*" >&2
  exit 1
}
# require_tool TOOL PACKAGE
require_tool() {
  command -v "$1" >/dev/null || skip "$1 not found (install the Debian package $2)"
}
# expect_same DESCRIPTION ACTUAL EXPECTED
expect_same() {
  [ "$2" = "$3" ] || fail "$1 is '$2', expected '$3'"
}
# newest NAME FILE...: prints the newest version of the symbol set NAME that the files require.
newest() {
  local name=$1
  shift
  objdump -T "$@" | grep -oP "\(${name}_\K[0-9.]+" | sort -uV | tail -n 1
}
# find_built PATTERN: sets `package` to the built package that matches.
find_built() {
  package=$(compgen -G "$packages/$1") || skip "package $1 not found (see the output of packages_make)"
}
# unpack KIND: unpacks an archive into a folder with a space in its name and sets `root` to it.
unpack() {
  find_built "attnscope-*-$1-linux-*.tar.gz"
  mkdir "$work/some where"
  tar -xzf "$package" -C "$work/some where"
  root=$(echo "$work/some where"/*)
}
# run_in_clean_root PACKAGES SCRIPT FILE...: runs SCRIPT in /try of a new Debian 12 root with PACKAGES installed; the
# FILEs are in /try, too. Copies /try/out to `packages` afterwards.
run_in_clean_root() {
  local include=$1 script=$2 hooks=() mirror=/etc/apt/sources.list.d/debian.sources
  shift 2
  [ -f "$mirror" ] || mirror=
  mkdir -p "$work/try"
  cp "$here/$script" "$@" "$work/try"
  hooks+=(--customize-hook="copy-in $work/try /")
  hooks+=(--customize-hook="chroot \"\$1\" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -eux /try/$script")
  hooks+=(--customize-hook="sync-out /try/out $packages")
  # Recommended packages are not installed, to test that Depends is complete.
  mmdebstrap --quiet --variant=apt --include="$include" --aptopt='APT::Install-Recommends "false"' \
    "${hooks[@]}" bookworm /dev/null $mirror
}
