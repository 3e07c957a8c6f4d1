// SPDX-License-Identifier: GPL-3.0-or-later
// Application object that reports exceptions of event handlers (such as out of memory) instead of terminating.
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

  void on_error(std::function<void(const QString&)> report) { report_ = std::move(report); }
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  std::function<void(const QString&)> report_;
};

/// Returns the language chosen in the menu, "zh"; empty for the system's.
[[nodiscard]] QString remembered_language();

/// Adds View > Language. `remember`: saves the choice. `changed` is called unless the language is already in use.
void add_language_menu(QMenu& view, bool remember, std::function<void()> changed);

/// Returns true if the font has the characters of the current language. Call after QApplication is created.
[[nodiscard]] bool can_display_language();

/// Installs Qt's own translation (standard buttons, dialogs) for the current language, if available, in place of the
/// previous one. Call after QApplication is created, before any window in that language.
void translate_qt();

}  // namespace attnscope::ui
