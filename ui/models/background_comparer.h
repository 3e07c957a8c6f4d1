// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons in a thread of their own: thousands of rows take longer than a frame. Of several requests the latest one
// wins; what was asked before it is broken off and never heard of.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <cstdint>
#include <memory>

#include "ui/models/comparison_set.h"

namespace attnscope::ui {

class BackgroundComparer : public QObject {
  Q_OBJECT
 public:
  explicit BackgroundComparer(QObject* parent = nullptr);
  ~BackgroundComparer() override;

  /// Ends in compared(), or in failed() where memory runs out.
  void ask(const ComparisonAsk& ask);
  /// Nothing is wanted any more.
  void drop();
  [[nodiscard]] bool busy() const { return busy_; }
  /// Until what was asked last is there, and said: for pictures.
  void wait();

 signals:
  void compared(const std::shared_ptr<const attnscope::ui::ComparisonSet>& set);
  void failed(const QString& reason);

 private:
  std::atomic<std::uint64_t> generation_{0};
  bool busy_ = false;
  QThreadPool pool_;
};

}  // namespace attnscope::ui
