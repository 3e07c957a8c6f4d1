# SPDX-License-Identifier: Apache-2.0
# Runs in the clean root, next to the archive (desktop.sh).
cd /try
mkdir out "some where"
tar -xzf ./*.tar.gz -C "some where"
mv "some where"/attnscope-* "some where/else"
PATH="/try/some where/else/bin:$PATH"
test -z "$(dpkg-query -f '${Package}\n' -W 'libqt*' 2>/dev/null)"
attnscope --version
attnscope lesson export -o lesson
# LD_DEBUG lists the loaded libraries; no other Qt is installed here.
LD_DEBUG=files LD_DEBUG_OUTPUT=offscreen attnscope-gui --screenshot out/desktop.png --size 1024x700
cat offscreen.* | grep -F "calling init: /try/some where/else/plugins/platforms/libqoffscreen.so"

# The title of the window on the display contains the names of the open files.
timeout 120 xvfb-run -a bash -eux <<'EOF'
LD_DEBUG=files LD_DEBUG_OUTPUT=xcb attnscope-gui &
xdotool search --sync --onlyvisible --name '^h200.attnscope, h200-ceilings.attnscope .*Attnscope$'
kill $!
EOF
cat xcb.* | grep -F "calling init: /try/some where/else/plugins/platforms/libqxcb.so"
