# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of packages, which are given the build folder. Each works in a folder of its own.
set -euo pipefail
build=$1
packages=$build/packages
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# skip REASON: as gtest says it, which test.sh reads.
skip() {
  printf '%s: Skipped\n%s\n[  SKIPPED ] 1 test.\n' "$0" "$*"
  exit 77
}
fail() {
  echo "$0: $*" >&2
  exit 1
}
# needs TOOL PACKAGE
needs() {
  command -v "$1" >/dev/null || skip "there is no $1, which the Debian package $2 has"
}
# expect_same WHAT ACTUAL EXPECTED
expect_same() {
  [ "$2" = "$3" ] || fail "$1 is '$2', expected '$3'"
}
# newest NAME FILE...: of the versions of NAME's symbols that the files ask for.
newest() {
  local name=$1
  shift
  objdump -T "$@" | grep -oP "\(${name}_\K[0-9.]+" | sort -uV | tail -n 1
}
# made PATTERN: the package of that name in `package`.
made() {
  package=$(compgen -G "$packages/$1") || skip "no $1 was made (packages_make says why)"
}
# unpack KIND: an archive, into a folder with a blank in its name, which `root` is then.
unpack() {
  made "attnscope-*-$1-linux-*.tar.gz"
  mkdir "$work/some where"
  tar -xzf "$package" -C "$work/some where"
  root=$(echo "$work/some where"/*)
}
# clean_root PACKAGES SCRIPT FILE...: SCRIPT in /try of a new Debian 12 with those packages, beside it the FILEs. What it
# leaves in /try/out comes to `packages`.
clean_root() {
  local include=$1 script=$2 hooks=() mirror=/etc/apt/sources.list.d/debian.sources
  shift 2
  [ -f "$mirror" ] || mirror=
  mkdir -p "$work/try"
  cp "$here/$script" "$@" "$work/try"
  hooks+=(--customize-hook="copy-in $work/try /")
  hooks+=(--customize-hook="chroot \"\$1\" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -eux /try/$script")
  hooks+=(--customize-hook="sync-out /try/out $packages")
  # Without recommended packages: what is depended on has to be enough.
  mmdebstrap --quiet --variant=apt --include="$include" --aptopt='APT::Install-Recommends "false"' \
    "${hooks[@]}" bookworm /dev/null $mirror
}
