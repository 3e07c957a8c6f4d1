// SPDX-License-Identifier: GPL-3.0-or-later
// State of a window as a JSON document (saved by ui/window/session.h).
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

  /// Returns files, page, page choices (zoom, pins, what-if), filter, visible runs, selected point, panels, window
  /// geometry and the collect form.
  [[nodiscard]] QJsonObject view();
  /// Entries that are missing leave the state unchanged; files that are not listed are closed.
  void restore(const QJsonObject& view);

 private:
  struct Selected {
    QString file;
    qint64 point = 0;
  };
  void restore_files(const QJsonObject& view);
  void restore_panels(const QJsonObject& view);
  /// Selects the point of a restored view once it has been read.
  void select();
  void capture_panels();

  MainWindow& window_;
  QJsonObject panels_;
  QJsonObject place_;
  std::optional<Selected> pending_selection_;
};

}  // namespace attnscope::ui
