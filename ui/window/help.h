// SPDX-License-Identifier: GPL-3.0-or-later
// The window's help: the documents of assets/docs, which keys there are, what the program is.
#pragma once

#include <QString>
#include <QWidget>
#include <utility>
#include <vector>

namespace attnscope::ui {

/// Opens a document, "tutorial", beside the plot and not in front of it; links lead on to the other documents.
void show_document(QWidget* window, const QString& topic);
/// `keys`: each with what it does.
void show_shortcuts(QWidget* window, const std::vector<std::pair<QString, QString>>& keys);
void show_about(QWidget* window);

}  // namespace attnscope::ui
