// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/background_task.h"

#include <QCoreApplication>
#include <QEvent>

namespace attnscope::ui {

BackgroundWork::BackgroundWork() {
  pool_.setMaxThreadCount(1);
}

BackgroundWork::~BackgroundWork() {
  stop();
}

void BackgroundWork::stop() {
  discard();
  pool_.waitForDone();
}

void BackgroundWork::discard() {
  ++generation_;
  busy_ = false;
  pool_.clear();
}

void BackgroundWork::start(std::function<std::function<void()>(const StaleCheck&)> job) {
  discard();
  busy_ = true;
  const std::uint64_t mine = generation_;
  pool_.start([this, mine, job = std::move(job)] {
    const auto outdated = [this, mine] { return generation_.load() != mine; };
    if (outdated()) return;
    std::function<void()> then;
    try {
      then = job(outdated);
    } catch (const std::exception& failure) {
      then = [this, reason = QString::fromUtf8(failure.what()), thrown = std::current_exception()] {
        if (!failed_) std::rethrow_exception(thrown);
        failed_(reason);
      };
    }
    if (outdated()) return;
    QMetaObject::invokeMethod(
        this,
        [this, mine, then = std::move(then)] {
          if (generation_.load() != mine) return;
          busy_ = false;
          try {
            then();
          } catch (...) {
            if (!busy_) emit finished();
            throw;
          }
          if (!busy_) emit finished();  // `then` may have started more work
        },
        Qt::QueuedConnection);
  });
  emit requested();
}

void BackgroundWork::wait() {
  while (busy_) {
    pool_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace attnscope::ui
