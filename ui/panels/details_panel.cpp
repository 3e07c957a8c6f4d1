// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/details_panel.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QTextDocument>
#include <QVBoxLayout>
#include <utility>

#include "messages/details.h"
#include "profiler/plan/command_text.h"
#include "ui/panels/point_summary.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {
namespace {

constexpr int panel_margin = 12;
constexpr int panel_gap = 8;

QLabel* summary_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setMinimumWidth(1);  // a long word must not widen the panel
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

/// One column of names, one of values with their notes.
QString summary_html(const PointSummary& summary, const QColor& muted) {
  QString html = QStringLiteral("<table cellspacing='0' cellpadding='2'>");
  for (const auto& [label, value, note] : summary.values) {
    html += QStringLiteral(
                "<tr><td style='padding-right:12px; color:%1; white-space:nowrap'>%2</td>"
                "<td><b>%3</b> <span style='color:%1'>%4</span></td></tr>")
                .arg(muted.name(), label.toHtmlEscaped(), value.toHtmlEscaped(), note.toHtmlEscaped());
  }
  return html + QStringLiteral("</table>");
}

QString strip_text(const PointSummary& summary) {
  QStringList words;
  for (const auto& [label, value, note] : summary.values) {
    words << (note.isEmpty() ? QStringLiteral("%1 %2").arg(label, value)
                             : QStringLiteral("%1 %2 (%3)").arg(label, value, note));
  }
  return words.join(QStringLiteral(" · "));
}

}  // namespace

DetailsPanel::DetailsPanel(QWidget* parent) : QWidget(parent) {
  setAccessibleName(qtext(msg::details::name{}));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  build_column();
  build_strip();
  layout->addWidget(column_);
  layout->addWidget(strip_);
  set_strip(false);
  set_expanded(false);
  render();
}

void DetailsPanel::build_column() {
  column_ = new QWidget(this);
  auto* column = new QVBoxLayout(column_);
  column->setContentsMargins(panel_margin, panel_gap, panel_margin, panel_gap);
  column->setSpacing(panel_gap);
  title_ = summary_label(column_);
  problem_ = summary_label(column_);
  sentences_ = summary_label(column_);
  values_ = summary_label(column_);
  values_->setTextFormat(Qt::RichText);
  for (QLabel* label : {title_, problem_, sentences_, values_}) column->addWidget(label);
  column->addWidget(make_buttons());
  more_ = new QToolButton(column_);
  more_->setObjectName(QStringLiteral("more-values"));
  more_->setCheckable(true);
  more_->setAutoRaise(true);
  more_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  connect(more_, &QToolButton::toggled, this, [this](bool expanded) {
    set_expanded(expanded);
    emit expanded_changed(expanded);
  });
  column->addWidget(more_);
  all_ = new QTextBrowser(column_);
  all_->setWordWrapMode(QTextOption::WordWrap);
  all_->setFrameShape(QFrame::NoFrame);
  all_->setAccessibleName(qtext(msg::details::name{}));
  all_->document()->setDocumentMargin(0);
  all_->setOpenLinks(false);  // links in file texts are not followed
  column->addWidget(all_, 1);
  column->addStretch(0);
}

void DetailsPanel::build_strip() {
  strip_ = new QWidget(this);
  auto* row = new QHBoxLayout(strip_);
  row->setContentsMargins(panel_margin, 4, panel_margin, 4);
  auto* lines = new QVBoxLayout();
  lines->setSpacing(2);
  strip_title_ = new ElidedLabel(strip_);
  strip_values_ = new ElidedLabel(strip_);
  for (QLabel* label : {strip_title_, strip_values_}) {
    label->setTextFormat(Qt::PlainText);
    lines->addWidget(label);
  }
  row->addLayout(lines, 1);
  row->addWidget(make_buttons());
}

QWidget* DetailsPanel::make_buttons() {
  auto* box = new QWidget(this);
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(panel_gap);
  auto* explore = new QPushButton(qtext(msg::details::explore{}), box);
  explore->setObjectName(QStringLiteral("explore-point"));
  connect(explore, &QPushButton::clicked, this, &DetailsPanel::explore_requested);
  auto* copy = new QPushButton(qtext(msg::details::copy_command{}), box);
  copy->setObjectName(QStringLiteral("copy-command"));
  copy->setToolTip(plain_tooltip(qtext(msg::details::copy_command_help{})));
  connect(copy, &QPushButton::clicked, this, &DetailsPanel::copy_command);
  row->addWidget(explore);
  row->addWidget(copy);
  row->addStretch(1);
  buttons_.push_back(box);
  return box;
}

void DetailsPanel::copy_command() {
  if (point_) QGuiApplication::clipboard()->setText(QString::fromStdString(collect_command(point_->spec)));
}

void DetailsPanel::set_strip(bool strip) {
  column_->setVisible(!strip);
  strip_->setVisible(strip);
}

void DetailsPanel::set_expanded(bool expanded) {
  more_->setChecked(expanded);
  more_->setArrowType(expanded ? Qt::DownArrow : Qt::RightArrow);
  all_->setVisible(point_.has_value() && (expanded || !summary_));
}

void DetailsPanel::show_point(const std::optional<ShownPoint>& point) {
  point_ = point;
  render();
}

void DetailsPanel::set_points(std::shared_ptr<const PointSet> points) {
  points_ = std::move(points);
  if (point_) render();
}

void DetailsPanel::set_pinned(std::optional<PinnedPoint> pinned) {
  pinned_ = std::move(pinned);
  if (point_) render();
}

void DetailsPanel::render() {
  summary_.reset();
  const PointRecordReader::ReadResult read = point_ ? records_.read(*point_) : PointRecordReader::ReadResult();
  if (read.record != nullptr) {
    static const std::vector<Field> settings = point_settings();
    summary_ = summarize_point(*point_, *read.record, *points_, records_, pinned_);
    const PointValues values = describe_point(*point_->run, *read.record, palette(), settings);
    all_->setHtml(values.html);
    more_->setText(qtext(msg::details::more_values{.values = values.count}));
  } else if (point_) {
    all_->setHtml(describe_unreadable_point_html(*point_, read.error, palette()));
  }
  show_summary();
  set_expanded(is_expanded());
}

void DetailsPanel::show_summary() {
  const PlotColors colors = plot_colors(palette());
  const QString none = point_ ? QString::fromStdString(describe(point_->spec)) : qtext(msg::details::empty{});
  for (QLabel* label : {title_, values_}) label->setVisible(summary_.has_value());
  for (QWidget* box : buttons_) box->setVisible(point_.has_value());
  more_->setVisible(summary_.has_value());
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, colors.muted);
  problem_->setPalette(muted);
  problem_->setText(summary_ ? summary_->problem : none);
  sentences_->setText(summary_ ? summary_->sentences.join(QLatin1Char('\n')) : QString());
  sentences_->setVisible(!sentences_->text().isEmpty());
  strip_title_->setText(none);
  strip_values_->setText({});
  if (!summary_) return;
  title_->setFont(headline_font(font()));
  title_->setText(summary_->title);
  values_->setText(summary_html(*summary_, colors.muted));
  strip_title_->setText(summary_->title + QStringLiteral("   ") + summary_->sentences.join(QLatin1Char(' ')));
  strip_values_->setText(strip_text(*summary_));
  for (QLabel* label : {strip_title_, strip_values_}) label->setToolTip(plain_tooltip(label->text()));
}

void DetailsPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) render();
}

}  // namespace attnscope::ui
