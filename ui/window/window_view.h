// SPDX-License-Identifier: GPL-3.0-or-later
// What a window shows, taken from it and given back to it: the document of ui/window/view_document.h.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QStringList>
#include <optional>

namespace attnscope::ui {

class MainWindow;

class WindowView : public QObject {
  Q_OBJECT
 public:
  explicit WindowView(MainWindow& window);

  /// Files, page, the pages' choices with zoom, pins and what-if, filter, ticked runs, the selected point, panels.
  [[nodiscard]] QJsonObject view();
  /// With what is this window's own: its place on the screen, and what it is to collect.
  [[nodiscard]] QJsonObject session();
  /// What the document does not have stays as it is; files that it does not have are closed.
  void restore(const QJsonObject& view);

  /// What of it cannot be read now (a disk may come back) is kept until somebody opens other files.
  void forget_unopened() { unopened_.clear(); }

  /// Through dialogs.
  void save();
  void open();

 private:
  struct Selected {
    QString file;
    qint64 point = 0;
  };
  void restore_files(const QJsonObject& view);
  void restore_panels(const QJsonObject& view);
  /// The point that a restored view has selected, once it is read.
  void select();
  /// Of a presenter's view, which has no panels, what was there before.
  void look_at_panels();

  MainWindow& window_;
  QJsonObject panels_;
  QJsonObject place_;
  QStringList unopened_;  ///< of the restored files, those that have not been read
  std::optional<Selected> to_select_;
};

}  // namespace attnscope::ui
