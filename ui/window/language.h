// SPDX-License-Identifier: GPL-3.0-or-later
// The window's language: which one was chosen, whether it can be written here, and Qt's own words in it.
#pragma once

#include <QString>
#include <functional>

class QMenu;

namespace attnscope::ui {

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
