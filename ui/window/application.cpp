// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/application.h"

#include <exception>
#include <new>

#include "ui/text/qtext.h"

namespace attnscope::ui {

bool Application::notify(QObject* receiver, QEvent* event) {
  if (!report_) return QApplication::notify(receiver, event);
  try {
    return QApplication::notify(receiver, event);
  } catch (const std::bad_alloc&) {
    report_(
        QStringLiteral("There is not enough memory to show this: close files that are open here, or other programs."));
  } catch (const std::exception& error) {
    report_(QString::fromUtf8(error.what()));
  }
  return false;
}

}  // namespace attnscope::ui
