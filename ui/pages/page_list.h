// SPDX-License-Identifier: GPL-3.0-or-later
// List of the window's pages.
#pragma once

#include <QIcon>
#include <span>
#include <string_view>

#include "ui/pages/page.h"

namespace attnscope::ui {

struct PageKind {
  std::string_view id;  ///< Used by the command line, settings and icon names.
  Message (*title)();   ///< Text of the tab and the menu entry.
  Page* (*make)(Workspace& workspace, QWidget* parent);
};

/// Pages in tab order, one per line of the list.
[[nodiscard]] std::span<const PageKind> page_kinds();
[[nodiscard]] QIcon icon_of(const PageKind& kind);

}  // namespace attnscope::ui
