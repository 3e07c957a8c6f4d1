#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the walkthrough of the window under Xvfb and saves a screenshot of each step.
#   tests/ui/walk.sh UI_WALK FOLDER [SIZE THEME]      SIZE THEME: one size and theme (default: all)
set -euo pipefail
walk=$1 folder=$2
command -v xvfb-run >/dev/null || { echo "xvfb-run not found (install xvfb)"; exit 77; }
if [ $# -ge 4 ]; then
  sizes=("$3") themes=("$4")
else
  sizes=(1024x600 1280x800 2560x1440) themes=(light dark)
fi
for size in "${sizes[@]}"; do
  for theme in "${themes[@]}"; do
    mkdir -p "$folder/$size-$theme"
    QT_QPA_PLATFORM=xcb xvfb-run -a -s "-screen 0 ${size}x24" "$walk" "$size" "$theme" "$folder/$size-$theme"
  done
done
