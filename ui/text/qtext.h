// SPDX-License-Identifier: GPL-3.0-or-later
// Conversion of messages (assets/messages/en.json), in the current language, to QString.
#pragma once

#include <QString>

#include "kernels/messages/message.h"
#include "profiler/units/number_format.h"

namespace attnscope::ui {

/// Returns plain text, unless the message is marked as rich text. Escape it where Qt may interpret it as rich text.
[[nodiscard]] inline QString qtext(const Message& message) {
  return QString::fromStdString(text(message));
}

/// Returns an English text, formatted by make_message().
template <class First, class... Rest>
[[nodiscard]] QString qtext(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  return qtext(make_message<First, Rest...>(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

/// Returns "1.24 ms", "227 KiB".
template <NumberUnit unit>
[[nodiscard]] QString qtext(UnitValue<unit> amount) {
  return QString::fromStdString(text(amount));
}

}  // namespace attnscope::ui
