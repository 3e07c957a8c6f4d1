// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons are worked out aside: thousands of rows take longer than a
// frame.
#pragma once

#include <QObject>
#include <memory>

#include "ui/models/comparison_set.h"
#include "ui/process/background_work.h"

namespace attnscope::ui {

class BackgroundComparer : public QObject {
  Q_OBJECT
 public:
  explicit BackgroundComparer(QObject* parent = nullptr);

  /// Ends in compared(), or in failed() where memory runs out.
  void ask(const ComparisonAsk& ask);
  /// Nothing is wanted any more.
  void drop() { background_.drop(); }
  [[nodiscard]] bool busy() const { return background_.busy(); }
  /// Until what was asked last is there, and said: for pictures.
  void wait() { background_.wait(); }

 signals:
  void compared(const std::shared_ptr<const attnscope::ui::ComparisonSet>& set);
  void failed(const QString& reason);

 private:
  BackgroundWork background_;
};

}  // namespace attnscope::ui
