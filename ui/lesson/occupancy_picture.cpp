// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/occupancy_picture.h"

#include <QLabel>
#include <QVBoxLayout>
#include <string_view>

#include "profiler/analysis/lesson/spoken.h"
#include "ui/lesson/lesson_text.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

QString figure(double value, lesson::Unit unit) {
  return QString::fromStdString(lesson::figure_text(value, unit));
}

QLabel* occupancy_label(const QString& html, QWidget* parent) {
  auto* label = new QLabel(html, parent);
  label->setTextFormat(Qt::RichText);
  label->setWordWrap(true);
  parent->layout()->addWidget(label);
  return label;
}

}  // namespace

OccupancyPicture::OccupancyPicture(const PictureOf& of, QWidget* parent)
    : LessonPicture(parent), shown_(lesson::padded_occupancy(of.step.document.front, of.setting, of.data.evidence())) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  if (!shown_ || shown_->steps.empty()) {
    occupancy_label(of.data.word("no_data").toHtmlEscaped(), this);
    return;
  }
  occupancy_label(table_html(of.data), this);
  const QString caption = QStringLiteral("%1 (%2; %3)")
                              .arg(of.data.word("not_changed"), of.data.word("modelled"),
                                   QString::fromStdString(lesson::in_terms(of.data.texts(), describe(shown_->spec))));
  mute(*occupancy_label(caption.toHtmlEscaped(), this));
}

QString OccupancyPicture::table_html(const LessonData& about) const {
  QString rows = QStringLiteral("<tr>");
  for (const std::string_view word : {"padding", "blocks_per_sm", "warps_busy", "sm_l2", "predicted_time"}) {
    rows += QStringLiteral("<td align='right'>&nbsp;&nbsp;&nbsp;%1</td>").arg(about.word(word).toHtmlEscaped());
  }
  rows += QStringLiteral("</tr>");
  for (const lesson::PaddedOccupancy::Step& step : shown_->steps) {
    rows += QStringLiteral(
                "<tr><td align='right'>%1</td><td align='right'><b>%2</b></td><td align='right'><b>%3</b></td>"
                "<td align='right'>%4</td><td align='right'>%5</td></tr>")
                .arg(figure(static_cast<double>(step.padding_bytes), lesson::Unit::bytes))
                .arg(step.blocks_per_sm)
                .arg(figure(step.warps_pct, lesson::Unit::percent),
                     figure(static_cast<double>(step.sm_l2_bytes), lesson::Unit::bytes),
                     figure(step.ns, lesson::Unit::nanoseconds));
  }
  return QStringLiteral("<table cellpadding='3'>%1</table>").arg(rows);
}

}  // namespace attnscope::ui
