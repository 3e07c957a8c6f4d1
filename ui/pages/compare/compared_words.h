// SPDX-License-Identifier: GPL-3.0-or-later
// What a comparison says above its table: the answer, and what else is known of it, which a low page folds away.
#pragma once

#include <QLabel>
#include <QToolButton>
#include <vector>

#include "ui/pages/compare/comparison_set.h"
#include "ui/runs/loaded_runs.h"

namespace attnscope::ui {

/// The files that are not compared, for all that is ticked of them is in another one; empty for none.
[[nodiscard]] QString copies_in_words(const std::vector<LoadedRun>& runs);

class ComparedWords : public QWidget {
  Q_OBJECT
 public:
  explicit ComparedWords(QWidget* parent);

  void say(const ComparedView& found, const QString& copies);
  /// Folds, or shows, what is beside the answer for a page of that height, unless somebody chose.
  void fit(int height);
  [[nodiscard]] bool folded() const { return summary_->isHidden(); }
  [[nodiscard]] QString copies() const { return copies_->text(); }
  /// The answer, and what is known of it.
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
  bool by_hand_ = false;
};

}  // namespace attnscope::ui
