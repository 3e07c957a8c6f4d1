// SPDX-License-Identifier: GPL-3.0-or-later
// Which pages the window has.
#pragma once

#include <QIcon>
#include <span>
#include <string_view>

#include "ui/pages/page.h"

namespace attnscope::ui {

struct PageKind {
  std::string_view id;  ///< on the command line, in settings and in icons' names
  Message (*title)();   ///< on its tab and in the menu
  Page* (*make)(Workspace& workspace, QWidget* parent);
};

/// In the order of their tabs. A page is one line of this list.
[[nodiscard]] std::span<const PageKind> page_kinds();
[[nodiscard]] QIcon icon_of(const PageKind& kind);

}  // namespace attnscope::ui
