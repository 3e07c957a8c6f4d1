// SPDX-License-Identifier: GPL-3.0-or-later
// A plot with its table in a page that may be too low for both.
#pragma once

#include <QScrollArea>

namespace attnscope::ui {

/// `shown` has a plot and, below it, its table: that is scrolled to where the page is too low for both, so that the
/// plot's axes have 300 pixels there too. `shown` becomes the area's.
[[nodiscard]] QScrollArea* scrolled(QWidget* shown, QWidget* plot, QWidget* parent);

}  // namespace attnscope::ui
