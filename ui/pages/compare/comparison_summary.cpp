// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_summary.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QVBoxLayout>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr int max_verdicts = 5;
constexpr int count_spacing = 6;

QLabel* text_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);  // Names come from files and devices.
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

ComparisonSummary::ComparisonSummary(QWidget* parent)
    : QWidget(parent),
      answer_(text_label(this)),
      counts_(new QWidget(this)),
      detectable_(new QLabel(counts_)),
      copy_(new QToolButton(counts_)),
      more_(new QToolButton(counts_)),
      differences_(new ElidedLabel(this)),
      details_(text_label(this)) {
  auto* row = new FlowLayout(counts_, count_spacing);
  for (int i = 0; i < max_verdicts; ++i) {
    auto* button = new QToolButton(counts_);
    button->setCheckable(true);
    button->setToolTip(qtext(msg::compare_page::filter_help{}));
    connect(button, &QToolButton::clicked, this,
            [this, button] { emit verdict_clicked(button->isChecked() ? button->objectName() : QString()); });
    verdict_buttons_.push_back(button);
    row->addWidget(button);
  }
  detectable_->setToolTip(qtext(msg::compare::detectable_help{}));
  copy_->setText(qtext(msg::compare_page::copy_deciding{}));
  connect(copy_, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(command_); });
  more_->setCheckable(true);
  more_->setText(qtext(msg::compare_page::method{}));
  connect(more_, &QToolButton::toggled, this, &ComparisonSummary::fold);
  for (QWidget* widget :
       {static_cast<QWidget*>(detectable_), static_cast<QWidget*>(copy_), static_cast<QWidget*>(more_)})
    row->addWidget(widget);
  differences_->setTextFormat(Qt::PlainText);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  for (QWidget* widget :
       {static_cast<QWidget*>(answer_), counts_, static_cast<QWidget*>(differences_), static_cast<QWidget*>(details_)})
    column->addWidget(widget);
  style();
}

void ComparisonSummary::set_result(const CompareResult& found) {
  const analysis::ComparisonView& view = found.all->view();
  answer_->setText(qtext(view.answer));
  show_counts(verdict_counts(view), found.table->filter().verdict);
  const bool has_detectable = !view.answers.empty() && view.answers.front().detectable > 0;
  detectable_->setText(has_detectable ? qtext(view.evidence.front()) : QString());
  detectable_->setVisible(has_detectable);
  command_ = QString::fromStdString(view.command);
  copy_->setVisible(!command_.isEmpty());
  copy_->setToolTip(qtext(view.decide));
  differences_->setText(view.differences.empty() ? qtext(msg::compare::nothing_differs{}) : qtext(view.differences));
  differences_->setToolTip(differences_->text());
  QStringList details;
  if (!view.differences.empty()) details << differences_->text();
  for (std::size_t i = has_detectable ? 1 : 0; i < view.evidence.size(); ++i) details << qtext(view.evidence[i]);
  if (!view.decide.empty()) details << qtext(view.decide);
  for (const std::vector<Message>* words : {&view.spreads, &view.method}) {
    for (const Message& each : *words) details << qtext(each);
  }
  details_->setText(details.join(QLatin1Char('\n')));
  fold();
}

void ComparisonSummary::show_counts(const std::vector<VerdictCount>& counts, const QString& shown) {
  for (std::size_t i = 0; i < verdict_buttons_.size(); ++i) {
    QToolButton* button = verdict_buttons_[i];
    button->setVisible(i < counts.size());
    if (i >= counts.size()) continue;
    button->setObjectName(counts[i].key);
    button->setText(QStringLiteral("%1 %2").arg(counts[i].title).arg(counts[i].count));
    button->setEnabled(counts[i].count > 0);
    button->setChecked(counts[i].key == shown);
  }
}

void ComparisonSummary::fold() {
  differences_->setVisible(!more_->isChecked());
  details_->setVisible(more_->isChecked());
}

void ComparisonSummary::style() {
  answer_->setFont(bold(font()));
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, plot_colors(palette()).muted);
  for (QLabel* label : {static_cast<QLabel*>(differences_), details_}) label->setPalette(muted);
}

void ComparisonSummary::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) style();
}

}  // namespace attnscope::ui
