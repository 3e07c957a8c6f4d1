// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/background_comparer.h"

#include <QCoreApplication>
#include <QEvent>
#include <exception>

namespace attnscope::ui {

BackgroundComparer::BackgroundComparer(QObject* parent) : QObject(parent) {
  pool_.setMaxThreadCount(1);
}

BackgroundComparer::~BackgroundComparer() {
  drop();
  pool_.waitForDone();
}

void BackgroundComparer::drop() {
  ++generation_;
  busy_ = false;
  pool_.clear();
}

void BackgroundComparer::ask(const ComparisonAsk& ask) {
  drop();
  busy_ = true;
  const std::uint64_t mine = generation_;
  pool_.start([this, ask, mine] {
    std::shared_ptr<const ComparisonSet> set;
    QString error;
    try {
      set = compare_sides(ask, [this, mine] { return generation_.load() != mine; });
      if (!set) return;
    } catch (const std::exception& failure) {
      error = QString::fromUtf8(failure.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, mine, set, error] {
          if (generation_.load() != mine) return;
          busy_ = false;
          if (set) {
            emit compared(set);
          } else {
            emit failed(error);
          }
        },
        Qt::QueuedConnection);
  });
}

void BackgroundComparer::wait() {
  pool_.waitForDone();
  QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
}

}  // namespace attnscope::ui
