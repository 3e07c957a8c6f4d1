# SPDX-License-Identifier: Apache-2.0
# Sourced by run.sh and test.sh: defines the required Debian packages and install_packages.

# Packages that a fresh Debian 12 lacks.
build_packages=(
  g++ mold cmake ninja-build ccache git
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libsqlitecpp-dev libsqlite3-dev
  libeigen3-dev libboost-math-dev libxxhash-dev libcmark-dev
)
gui_packages=(
  qt6-base-dev qt6-base-dev-tools qt6-svg-dev libqcustomplot-dev libqcustomplot2.1-qt6
  qt6-qpa-plugins qt6-translations-l10n libgl-dev libgl1-mesa-dri fonts-dejavu-core fonts-droid-fallback
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev clang-format-14 clang-tidy-14 clang-14 xvfb xauth
  sqlite3 desktop-file-utils appstream openssh-server slurm-wlm munge
  chromium poppler-utils python3 python3-venv
)
# For building packages and installing them in clean systems.
package_packages=(dpkg-dev binutils file patchelf mmdebstrap qt6-wayland)

# install_packages NAME...: installs missing packages; needs neither root nor network if all are installed.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: missing packages, and installing them needs root or sudo: ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
  # A missing or outdated package list would make the installation fail.
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
