#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes anew what stands on the recordings beside it: how far predictions are off, the sample report, README's pictures.
#   assets/samples/derive.sh BUILD     a build folder with the window, which is built before and in between
# The constants of kernels come before it: explanation.md, "Predictions". Needs chromium for the lesson's picture.
set -euo pipefail
build=$(realpath "${1:?usage: derive.sh BUILD}")
cd "$(dirname "${BASH_SOURCE[0]}")"
export QT_QPA_PLATFORM=offscreen
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target attnscope attnscope-gui
for gpu in h200 h100; do
  "$build/app/attnscope" model --against $gpu.attnscope --csv >"$work/errors.csv"
  cp "$work/errors.csv" $gpu-errors.csv
done
cmake --build "$build" --target attnscope attnscope-gui
"$build/app/attnscope" report h200.attnscope -o ../report/h200.md --force
# picture NAME PAGE THEME FILES...
picture() {
  "$build/app/attnscope-gui" "${@:4}" --screenshot "../screenshots/$1.png" --page "$2" --theme "$3" --size 1280x800 --force
}
picture io-light io light h200.attnscope h200-ceilings.attnscope
picture explorer-dark explorer dark h200.attnscope h200-ceilings.attnscope
picture compare-light compare light h200.attnscope h100.attnscope
"$build/app/attnscope" lesson export -o "$work/lesson" h200.attnscope h200-law.attnscope h200-tiles.attnscope h200-race.attnscope
# A reader who wants no motion sees the race's end at once.
chromium --headless --no-sandbox --hide-scrollbars --force-prefers-reduced-motion --window-size=1280,800 \
  --virtual-time-budget=5000 --screenshot="$work/race.png" "file://$work/lesson/index.html#race" 2>/dev/null
cp "$work/race.png" ../screenshots/lesson-race-light.png
