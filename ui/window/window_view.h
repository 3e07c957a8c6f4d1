// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a window as one JSON document (saved by ui/window/session.h).
#pragma once

#include <QJsonObject>
#include <QObject>
#include <optional>

namespace attnscope::ui {

class MainWindow;

class WindowView : public QObject {
  Q_OBJECT
 public:
  explicit WindowView(MainWindow& window);

  /// Files, page, the pages' choices with zoom, pins and what-if, filter, ticked runs, the selected point, panels, the
  /// window's place on the screen and the collect form.
  [[nodiscard]] QJsonObject view();
  /// What the document does not have stays as it is; files that it does not have are closed.
  void restore(const QJsonObject& view);

 private:
  struct Selected {
    QString file;
    qint64 point = 0;
  };
  void restore_files(const QJsonObject& view);
  void restore_panels(const QJsonObject& view);
  /// The point that a restored view has selected, once it is read.
  void select();
  void look_at_panels();

  MainWindow& window_;
  QJsonObject panels_;
  QJsonObject place_;
  std::optional<Selected> to_select_;
};

}  // namespace attnscope::ui
