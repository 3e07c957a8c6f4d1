#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes all packages anew.
source "$(dirname "$0")/common.sh"
rm -rf "$packages"
needs dpkg-shlibdeps dpkg-dev
needs patchelf patchelf
cmake --build "$build" --target packages
ls -l "$packages"
