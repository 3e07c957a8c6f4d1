// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says comes from the catalogue (assets/messages/en.json), in the language in use.
#pragma once

#include <QString>

#include "kernels/messages/message.h"
#include "profiler/units/spelling.h"

namespace attnscope::ui {

/// Plain text, unless the message says that it is rich: to be escaped wherever Qt may take it for rich text.
[[nodiscard]] inline QString qtext(const Message& message) {
  return QString::fromStdString(text(message));
}

/// An English text, as make_message() makes it.
template <class First, class... Rest>
[[nodiscard]] QString qtext(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  return qtext(make_message<First, Rest...>(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

/// "1.24 ms", "227 KiB".
template <class Unit>
[[nodiscard]] QString qtext(Amount<Unit> amount) {
  return QString::fromStdString(text(amount));
}

}  // namespace attnscope::ui
