#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the .deb: installs it in a clean Debian 12 and starts both programs.
source "$(dirname "$0")/common.sh"
require_tool mmdebstrap mmdebstrap
find_built "attnscope_*.deb"
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 libgcc-s1 libqt6widgets6 libqt6svg6 libqcustomplot2.1-qt6; do
  [[ ", $depends" == *", $library"* ]] || fail "$library is missing in Depends: $depends"
done
[[ $depends != *-dev* ]] || fail "Depends contains a development package: $depends"
run_in_clean_root ca-certificates deb-inside.sh "$package"
