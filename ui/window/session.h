// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps a window's session while it is worked with: what is on the screen stands in its file half a second later, and
// is there again after whatever end. Pages need not say that something was chosen: whoever chooses uses mouse or keys.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QTimer>

#include "ui/window/session_file.h"

namespace attnscope::ui {

class MainWindow;

class Session : public QObject {
  Q_OBJECT
 public:
  /// Both outlive it.
  Session(MainWindow& window, const SessionFile& file);
  /// Keeps what there is at the end.
  ~Session() override;

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void write();
  /// One more, in a process of its own, which begins with what this one shows.
  void open_window();
  /// In the banner, once.
  void say(const QString& problem);

  MainWindow& window_;
  const SessionFile& file_;
  QTimer due_;
  QJsonObject written_;
  bool said_ = false;
};

}  // namespace attnscope::ui
