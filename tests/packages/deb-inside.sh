# SPDX-License-Identifier: Apache-2.0
# Runs in the clean root, next to the .deb (deb.sh).
cd /try
mkdir out
export DEBIAN_FRONTEND=noninteractive QT_QPA_PLATFORM=offscreen
apt-get install -y -qq --no-install-recommends ./*.deb
version=$(dpkg-query -W -f '${Version}' attnscope)
test "$(attnscope --version)" = "attnscope $version"
test "$(attnscope-gui --version)" = "attnscope-gui $version"
attnscope doctor | tee out/doctor.txt
grep -q "The NVIDIA driver is not installed" out/doctor.txt

# Without file arguments the programs open the recorded samples.
samples=/usr/share/attnscope/samples
attnscope lesson export -o lesson
grep -q h200-law.attnscope lesson/index.html
attnscope-gui --screenshot out/attnscope-gui.png --size 1024x700
attnscope-gui --screenshot named.png --size 1024x700 $samples/h200.attnscope $samples/h200-ceilings.attnscope
attnscope-gui --screenshot other.png --size 1024x700 $samples/h100.attnscope
cmp out/attnscope-gui.png named.png
if cmp -s out/attnscope-gui.png other.png; then exit 1; fi

# All files are unmodified, and purging the package removes them.
test -z "$(dpkg --verify attnscope)"
for file in applications/org.attnscope.Attnscope.desktop metainfo/org.attnscope.Attnscope.metainfo.xml \
    mime/packages/org.attnscope.Attnscope.xml icons/hicolor/scalable/apps/org.attnscope.Attnscope.svg \
    doc/attnscope/{install.md,copyright,LICENSES/Apache-2.0.txt,LICENSES/libraries-of-attnscope{,-gui}.md}; do
  test -s "/usr/share/$file"
done
apt-get purge -y -qq attnscope
test -z "$(find /usr -name '*attnscope*')"
