// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says comes from the catalogue (assets/messages/en.json), in the language in use.
#pragma once

#include <QString>

#include "kernels/model/message.h"

namespace attnscope::ui {

/// Plain text, unless the message says that it is rich: to be escaped wherever Qt may take it for rich text.
[[nodiscard]] inline QString qtext(const Message& message) {
  return QString::fromStdString(text(message));
}

}  // namespace attnscope::ui
