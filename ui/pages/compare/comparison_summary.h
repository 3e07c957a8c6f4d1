// SPDX-License-Identifier: GPL-3.0-or-later
// Head of a comparison: the answer, numbers of verdicts that filter the table, and folded details.
#pragma once

#include <QLabel>
#include <QToolButton>
#include <vector>

#include "ui/pages/compare/comparison_set.h"
#include "ui/runs/point_set.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class ComparisonSummary : public QWidget {
  Q_OBJECT
 public:
  explicit ComparisonSummary(QWidget* parent);

  void set_result(const CompareResult& found);
  [[nodiscard]] bool folded() const { return details_->isHidden(); }
  [[nodiscard]] QString answer() const { return answer_->text(); }
  [[nodiscard]] QString differences() const { return differences_->text(); }
  [[nodiscard]] QString details() const { return details_->text(); }
  [[nodiscard]] QToolButton* copy_button() const { return copy_; }

 signals:
  void verdict_clicked(const QString& key);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void style();
  void fold();
  void show_counts(const std::vector<VerdictCount>& counts, const QString& shown);

  QLabel* answer_;
  QWidget* counts_;
  std::vector<QToolButton*> verdict_buttons_;
  QLabel* detectable_;
  QToolButton* copy_;
  QToolButton* more_;
  ElidedLabel* differences_;
  QLabel* details_;
  QString command_;
};

}  // namespace attnscope::ui
