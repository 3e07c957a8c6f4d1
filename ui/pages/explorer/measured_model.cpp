// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/measured_model.h"

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

/// A newer collector may say what this window has no word for.
template <class Parsed>
Message said(const Parsed& parsed, const std::string& word) {
  return parsed.ok() ? title(*parsed) : Message::verbatim(word);
}

}  // namespace

QString outcome_words(const MeasuredPoint& point) {
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
    return qtext(say::explorer_page::measured_time{
        .time = text(Nanoseconds(point.event.time_median_ns)),
        .provenance = said(parse_provenance(point.event.provenance), point.event.provenance)});
  }
  return qtext(said(parse_disposition(point.event.disposition), point.event.disposition));
}

MeasuredModel::Line MeasuredModel::line_of(const MeasuredPoint& point, bool shown) {
  Line line;
  line.shown = shown;
  const std::string what = short_title(point.choices).toStdString();
  line.texts[what_column] = QString::fromStdString(what);
  const auto put = [&](Column column, double number, const QString& words) {
    line.texts.at(column) = words;
    line.numbers.at(column) = number;
  };
  const AttentionProblem& problem = point.choices.point.spec.problem;
  put(n_column, static_cast<double>(problem.n_k), format_lengths(problem));
  put(d_column, static_cast<double>(problem.d), QString::number(problem.d));
  put(time_column, point.event.time_median_ns, outcome_words(point));
  QStringList help{point.device, QString::fromStdString(describe(point.choices.point.spec))};
  if (!point.why.isEmpty()) help << point.why;
  if (point.state == MeasuredPoint::State::finished) {
    const PointEvent& event = point.event;
    if (!event.reason.empty()) help << qtext(event.reason);
    if (event.throttled) help << qtext(say::explorer_page::throttled{});
    if (point.theory) {
      if (point.simulated) help << qtext(say::explorer_page::by_construction{});
      // "1.04", measured over predicted; nothing where one of them is missing.
      const auto put_ratio = [&](Column column, double measured, double predicted) {
        const bool there = measured > 0 && predicted > 0;
        const double ratio = there ? measured / predicted : 0;
        put(column, ratio, there ? QString::number(ratio, 'f', 3) : QStringLiteral("–"));
      };
      put_ratio(time_ratio_column, event.time_median_ns, point.theory->ns);
      put_ratio(l2_ratio_column, event.l2_sm_bytes, static_cast<double>(point.theory->traffic.total()));
      put_ratio(dram_ratio_column, event.dram_settled_bytes, point.theory->dram_bytes);
    }
  }
  line.help = help.join(QLatin1Char('\n'));
  return line;
}

void MeasuredModel::set_points(const std::vector<MeasuredPoint>& points, const ExplorerChoices& shown) {
  std::vector<Line> lines;
  lines.reserve(points.size());
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    lines.push_back(line_of(*point, point->is_of(shown)));
  }
  replace_lines(lines_, std::move(lines), [](const Line& before, const Line& now, int /*column*/) {
    return before.texts == now.texts && before.help == now.help && before.shown == now.shown;
  });
}

QVariant MeasuredModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  if (role == Qt::DisplayRole) return line.texts.at(static_cast<std::size_t>(column));
  if (role == sort_role && column != what_column) return line.numbers.at(static_cast<std::size_t>(column));
  if (role == sort_role) return line.texts[what_column];
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
    case n_column:
      return QStringLiteral("N");
    case d_column:
      return QStringLiteral("d");
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
