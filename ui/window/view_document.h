// SPDX-License-Identifier: GPL-3.0-or-later
// What a window shows, as one JSON document: a session, a saved view and what --state names are each such a file.
#pragma once

#include <QJsonObject>
#include <QString>

namespace attnscope::ui {

struct ViewDocument {
  QJsonObject view;  ///< its paths absolute; empty where the file is not read
  QString problem;   ///< why it is not, or what of it is left out, in one line; empty: nothing
};

/// What is no such document, of another version or too large is not read. Entries of a wrong type are left out.
[[nodiscard]] ViewDocument read_view(const QString& path);
/// Paths below the file's own folder are written relative to it, recorded samples by their name. Returns one line with
/// path and cause, empty when the file is in its place; an older one stays whole after an error.
[[nodiscard]] QString write_view(const QString& path, QJsonObject view);
/// What of it holds with other files open, too.
[[nodiscard]] QJsonObject without_files(QJsonObject view);

}  // namespace attnscope::ui
