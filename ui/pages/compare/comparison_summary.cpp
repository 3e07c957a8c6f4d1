// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_summary.h"

#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <map>

#include "messages/compare_page.h"
#include "ui/plots/markers.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int min_unfolded_lines = 40;  ///< In text lines of page height; below this, details are folded.

QLabel* text_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);  // Names come from files and devices.
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

QString copies_text(const std::vector<LoadedRun>& runs) {
  std::map<QString, bool> only_copies;
  const RunCopies originals(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].visible) continue;
    bool& only = only_copies.try_emplace(runs[i].info->file, true).first->second;
    only = only && originals.of(i, true).has_value();
  }
  QStringList names;
  for (const auto& [file, only] : only_copies) {
    if (only) names << one_line(QFileInfo(file).fileName());
  }
  if (names.isEmpty()) return {};
  return qtext(msg::compare_page::copies{.files = shortened(names.join(QStringLiteral(", ")), 160).toStdString()});
}

ComparisonSummary::ComparisonSummary(QWidget* parent)
    : QWidget(parent),
      answer_(text_label(this)),
      copies_(text_label(this)),
      summary_(text_label(this)),
      method_(text_label(this)),
      more_(new QToolButton(this)) {
  more_->setCheckable(true);
  more_->setChecked(true);
  more_->setAutoRaise(true);
  more_->setToolTip(qtext(msg::compare_page::method{}));
  more_->setAccessibleName(more_->toolTip());
  connect(more_, &QToolButton::toggled, this, &ComparisonSummary::fold);
  connect(more_, &QToolButton::clicked, this, [this] { folded_by_user_ = true; });
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* top = new QHBoxLayout;
  top->addWidget(answer_, 1);
  top->addWidget(more_, 0, Qt::AlignTop);
  column->addLayout(top);
  for (QLabel* label : {copies_, summary_, method_}) column->addWidget(label);
  style();
}

void ComparisonSummary::set_result(const CompareResult& found, const QString& copies) {
  const analysis::ComparisonView& view = found.table->view();
  QStringList spreads;
  for (const Message& each : view.spreads) spreads << qtext(each);
  answer_->setText(qtext(view.answer));
  copies_->setText(copies);
  summary_->setText(found.summary);
  method_->setText(spreads.join(QLatin1Char(' ')));
  fold();
}

void ComparisonSummary::fit(int height) {
  if (!folded_by_user_) more_->setChecked(height >= min_unfolded_lines * fontMetrics().height());
}

void ComparisonSummary::fold() {
  const bool answered = !answer_->text().isEmpty();
  const bool all = more_->isChecked() || !answered;
  answer_->setVisible(answered);
  more_->setVisible(answered);
  more_->setArrowType(all ? Qt::UpArrow : Qt::DownArrow);
  copies_->setVisible(!copies_->text().isEmpty());
  summary_->setVisible(all);
  method_->setVisible(all && !method_->text().isEmpty());
}

void ComparisonSummary::style() {
  answer_->setFont(bold(font()));
  method_->setFont(small_font(font()));
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, plot_colors(palette()).muted);
  method_->setPalette(muted);
}

void ComparisonSummary::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) style();
}

}  // namespace attnscope::ui
