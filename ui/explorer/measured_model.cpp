// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/measured_model.h"

#include <QFont>
#include <QGuiApplication>
#include <algorithm>
#include <utility>

#include "messages/explorer_page.h"
#include "profiler/metrics/point.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t most_lines = 12;

/// "1.04", measured over predicted; nothing where one of them is missing.
QString ratio(double measured, double predicted) {
  return measured > 0 && predicted > 0 ? QString::number(measured / predicted, 'f', 3) : QStringLiteral("–");
}

QString state_words(const MeasuredPoint& point) {
  switch (point.state) {
    case MeasuredPoint::State::waiting:
      return qtext(say::explorer_page::waiting{});
    case MeasuredPoint::State::running:
      return point.simulated ? qtext(say::explorer_page::simulating{}) : qtext(say::explorer_page::measuring{});
    case MeasuredPoint::State::refused:
      return qtext(say::explorer_page::not_measured{});
    case MeasuredPoint::State::cancelled:
      return qtext(say::explorer_page::cancelled{});
    case MeasuredPoint::State::finished:
      break;
  }
  if (point.event.time_median_ns > 0) {
    return qtext(say::explorer_page::measured_time{.time = text(Nanoseconds(point.event.time_median_ns)),
                                                   .provenance = point.event.provenance});
  }
  return QString::fromStdString(point.event.disposition);
}

}  // namespace

MeasuredModel::Line MeasuredModel::line_of(const MeasuredPoint& point, bool shown) {
  Line line;
  line.shown = shown;
  const std::string what = short_title(point.choices).toStdString();
  line.texts[what_column] = QString::fromStdString(what);
  line.texts[time_column] = state_words(point);
  QStringList help{point.device, QString::fromStdString(describe(point.choices.point.spec))};
  if (!point.why.isEmpty()) help << point.why;
  if (point.state == MeasuredPoint::State::finished) {
    const PointEvent& event = point.event;
    if (!event.reason.empty()) help << qtext(event.reason);
    if (event.throttled) help << qtext(say::explorer_page::throttled{});
    if (point.theory) {
      line.texts[time_ratio_column] = ratio(event.time_median_ns, point.theory->ns);
      line.texts[l2_ratio_column] = ratio(event.l2_sm_bytes, static_cast<double>(point.theory->traffic.total()));
      line.texts[dram_ratio_column] = ratio(event.dram_settled_bytes, point.theory->dram_bytes);
    }
  }
  line.help = help.join(QLatin1Char('\n'));
  return line;
}

void MeasuredModel::set_points(const std::vector<MeasuredPoint>& points, const ExplorerChoices& shown) {
  std::vector<Line> lines;
  // What waits tells least: it comes last.
  const auto rank = [&](const MeasuredPoint& point) {
    return point.is_of(shown) ? 0 : point.state != MeasuredPoint::State::waiting ? 1 : 2;
  };
  for (const int wanted : {0, 1, 2}) {
    for (const MeasuredPoint& point : points) {
      if (rank(point) == wanted && lines.size() < most_lines) lines.push_back(line_of(point, wanted == 0));
    }
  }
  beginResetModel();
  lines_ = std::move(lines);
  endResetModel();
}

QVariant MeasuredModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  if (role == Qt::DisplayRole) return line.texts.at(static_cast<std::size_t>(column));
  if (role == Qt::ToolTipRole) return plain_tip(line.help);
  if (role == Qt::TextAlignmentRole && column != what_column) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::FontRole && line.shown) {
    QFont font = QGuiApplication::font();
    font.setBold(true);
    return font;
  }
  return {};
}

QVariant MeasuredModel::header(int column, int role) const {
  if (role == Qt::TextAlignmentRole) {
    return QVariant((column == what_column ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && column > time_column) return plain_tip(qtext(say::explorer_page::ratio_help{}));
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case what_column:
      return qtext(say::explorer_page::configuration{});
    case time_column:
      return qtext(say::explorer_page::outcome{});
    case time_ratio_column:
      return qtext(say::explorer_page::time_ratio{});
    case l2_ratio_column:
      return qtext(say::explorer_page::l2_ratio{});
    default:
      return qtext(say::explorer_page::dram_ratio{});
  }
}

}  // namespace attnscope::ui
