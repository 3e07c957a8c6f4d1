// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

namespace attnscope::ui {

/// Of a menu with many entries: a field above them leaves those that have what is typed, those of submenus among them;
/// Enter triggers the first. Call it once all entries are there.
void make_findable(QMenu& menu);

}  // namespace attnscope::ui
