// SPDX-License-Identifier: GPL-3.0-or-later
// The application object: what is thrown while an event is handled (memory that runs out) is reported, not the
// program's end.
#pragma once

#include <QApplication>
#include <QString>
#include <functional>

namespace attnscope::ui {

class Application : public QApplication {
  Q_OBJECT
 public:
  using QApplication::QApplication;

  /// Is told what went wrong, one sentence.
  void on_trouble(std::function<void(const QString&)> report) { report_ = std::move(report); }
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  std::function<void(const QString&)> report_;
};

}  // namespace attnscope::ui
