// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/background_work.h"

#include <QCoreApplication>
#include <QEvent>

namespace attnscope::ui {

BackgroundWork::BackgroundWork(QObject* parent) : QObject(parent) {
  pool_.setMaxThreadCount(1);
}

BackgroundWork::~BackgroundWork() {
  stop();
}

void BackgroundWork::stop() {
  drop();
  pool_.waitForDone();
}

void BackgroundWork::drop() {
  ++generation_;
  busy_ = false;
  pool_.clear();
}

void BackgroundWork::start(std::function<std::function<void()>(const Outdated&)> job) {
  drop();
  busy_ = true;
  const std::uint64_t mine = generation_;
  pool_.start([this, mine, job = std::move(job)] {
    const auto outdated = [this, mine] { return generation_.load() != mine; };
    if (outdated()) return;
    std::function<void()> then = job(outdated);
    if (outdated()) return;
    QMetaObject::invokeMethod(
        this,
        [this, mine, then = std::move(then)] {
          if (generation_.load() != mine) return;
          busy_ = false;
          try {
            then();
          } catch (...) {
            if (!busy_) emit settled();
            throw;
          }
          if (!busy_) emit settled();  // it may have asked for more
        },
        Qt::QueuedConnection);
  });
}

void delete_in_background(std::function<void()> deletes) {
  QThreadPool::globalInstance()->start(std::move(deletes));
}

void BackgroundWork::wait() {
  while (busy_) {
    pool_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace attnscope::ui
