// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/application.h"

#include <exception>
#include <new>

#include "messages/window.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

bool Application::notify(QObject* receiver, QEvent* event) {
  if (!report_) return QApplication::notify(receiver, event);
  try {
    return QApplication::notify(receiver, event);
  } catch (const std::bad_alloc&) {
    report_(qtext(say::window::out_of_memory_drawing{}));
  } catch (const std::exception& error) {
    report_(QString::fromUtf8(error.what()));
  }
  return false;
}

}  // namespace attnscope::ui
