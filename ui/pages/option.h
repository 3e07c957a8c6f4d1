// SPDX-License-Identifier: GPL-3.0-or-later
// One of what can be chosen.
#pragma once

#include <QString>

namespace attnscope::ui {

struct Option {
  QString text;
  QString id;          ///< what it is known by, and saved
  QString full = {};   ///< where `text` is shortened, or more is to be said of it
  QString group = {};  ///< the submenu that it stands in
  bool operator==(const Option&) const = default;
};

}  // namespace attnscope::ui
