// SPDX-License-Identifier: GPL-3.0-or-later
// The application object: what is thrown while an event is handled (memory that runs out) is reported, not the
// program's end.
#pragma once

#include <QApplication>
#include <QString>
#include <functional>

class QMenu;

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

/// What View > Language chose for the next start: "zh"; empty where it is the system's.
[[nodiscard]] QString remembered_language();

/// View > Language. A choice is remembered where `remember`; `told` gets what becomes of it, nothing where it is the
/// one in use.
void add_language_menu(QMenu& view, bool remember, std::function<void(const QString&)> told);

/// Whether a font here has the characters of the language in use. After QApplication.
[[nodiscard]] bool can_write_language();

/// What Qt says of itself (standard buttons, dialogs) is said in the language in use, where Qt's translation is
/// installed. After QApplication, before any window.
void translate_qt();

}  // namespace attnscope::ui
