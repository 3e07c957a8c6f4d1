// SPDX-License-Identifier: GPL-3.0-or-later
// The window's help: what the plots mean, which keys there are, what the program is.
#pragma once

#include <QString>
#include <QWidget>
#include <utility>
#include <vector>

namespace attnscope::ui {

/// Opens beside the plot, not in front of it.
void show_explanation(QWidget* window);
/// `keys`: each with what it does.
void show_shortcuts(QWidget* window, const std::vector<std::pair<QString, QString>>& keys);
void show_about(QWidget* window);

}  // namespace attnscope::ui
