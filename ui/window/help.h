// SPDX-License-Identifier: GPL-3.0-or-later
// Help of the window: documents (assets/docs), shortcuts, about box.
#pragma once

#include <QString>
#include <QWidget>
#include <utility>
#include <vector>

namespace attnscope::ui {

/// Opens a document ("tutorial") in its own window; links open other documents.
/// Shows assets/docs/TOPIC.md. `heading`: anchor of the heading to scroll to, such as "verdicts"; empty: the start.
void show_document(QWidget* window, const QString& topic, const QString& heading = {});
void show_shortcuts(QWidget* window, const std::vector<std::pair<QString, QString>>& keys);
void show_about(QWidget* window);

}  // namespace attnscope::ui
