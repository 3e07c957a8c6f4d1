// SPDX-License-Identifier: GPL-3.0-or-later
// Text above the comparison: the answer, and details that are folded if the page is low.
#pragma once

#include <QLabel>
#include <QToolButton>
#include <vector>

#include "ui/pages/compare/comparison_set.h"
#include "ui/runs/loaded_runs.h"

namespace attnscope::ui {

/// Names the files that are skipped because another open file contains all their selected points; empty: none.
[[nodiscard]] QString copies_text(const std::vector<LoadedRun>& runs);

class ComparisonSummary : public QWidget {
  Q_OBJECT
 public:
  explicit ComparisonSummary(QWidget* parent);

  void set_result(const CompareResult& found, const QString& copies);
  /// Folds or shows the details depending on the page's height, unless the user did.
  void fit(int height);
  [[nodiscard]] bool folded() const { return summary_->isHidden(); }
  [[nodiscard]] QString copies() const { return copies_->text(); }
  [[nodiscard]] QString summary() const { return answer_->text() + QLatin1Char('\n') + summary_->text(); }
  [[nodiscard]] QString method() const { return method_->text(); }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void style();
  void fold();

  QLabel* answer_;
  QLabel* copies_;
  QLabel* summary_;
  QLabel* method_;
  QToolButton* more_;
  bool folded_by_user_ = false;
};

}  // namespace attnscope::ui
