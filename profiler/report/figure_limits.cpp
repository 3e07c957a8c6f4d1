// SPDX-License-Identifier: Apache-2.0
// Limits on what a figure draws, so that it stays readable.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "messages/report.h"
#include "profiler/report/report_parts.h"

namespace attnscope::report {
namespace {

/// Labels at the line ends overlap beyond this.
constexpr std::size_t max_lines = 40;
constexpr std::size_t max_marks = 2000;

/// Keeps the lowest and the highest mark of each of `intervals` equal parts of the axis, and the ends of the line.
std::vector<Mark> thin_out(std::vector<Mark> marks, bool log, std::size_t intervals) {
  const auto position = [&](const Mark& mark) { return log ? std::log(std::max(mark.x, 1e-300)) : mark.x; };
  const double first = position(marks.front());
  const double extent = position(marks.back()) - first;
  std::map<double, std::pair<std::size_t, std::size_t>> extremes;  // key: interval; value: lowest, highest
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const double part = extent > 0 ? (position(marks[i]) - first) / extent * static_cast<double>(intervals) : 0;
    const double interval = std::min(std::floor(part), static_cast<double>(intervals - 1));
    auto& [lowest, highest] = extremes.try_emplace(interval, i, i).first->second;
    if (marks[i].y < marks[lowest].y) lowest = i;
    if (marks[i].y > marks[highest].y) highest = i;
  }
  std::vector<std::size_t> kept{0, marks.size() - 1};
  for (const auto& [interval, pair] : extremes) kept.insert(kept.end(), {pair.first, pair.second});
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  std::vector<Mark> thinned;
  thinned.reserve(kept.size());
  for (const std::size_t i : kept) thinned.push_back(std::move(marks[i]));
  return thinned;
}

std::size_t count_marks(const LineChart& chart) {
  std::size_t marks = 0;
  for (const Line& line : chart.lines) marks += line.marks.size();
  return marks;
}

void limit_line_chart(LineChart& chart, std::string& caption) {
  if (const std::size_t all = chart.lines.size(); all > max_lines) {
    chart.lines.erase(chart.lines.begin() + max_lines, chart.lines.end());
    caption += " " + text(msg::report::lines_limited{.all = all, .shown = max_lines});
  }
  const std::size_t all = count_marks(chart);
  if (all <= max_marks) return;
  const std::size_t per_line = max_marks / chart.lines.size();
  for (Line& line : chart.lines) {
    // Two marks per interval, and the two ends.
    if (line.marks.size() > per_line) line.marks = thin_out(std::move(line.marks), chart.x.log, per_line / 2 - 1);
  }
  caption += " " + text(msg::report::marks_limited{.all = all, .shown = count_marks(chart)});
}

/// Keeps evenly spaced marks of each row in ascending order, with both ends.
void limit_strips(StripChart& chart, std::string& caption) {
  std::size_t all = 0;
  for (const StripRow& row : chart.rows) all += row.marks.size();
  if (all <= max_marks) return;
  const std::size_t per_row = max_marks / chart.rows.size();
  std::size_t shown = 0;
  for (StripRow& row : chart.rows) {
    if (row.marks.size() > per_row) {
      std::ranges::stable_sort(row.marks, {}, &StripMark::x);
      const double step = static_cast<double>(row.marks.size() - 1) / static_cast<double>(per_row - 1);
      std::vector<StripMark> kept;
      kept.reserve(per_row);
      for (std::size_t k = 0; k < per_row; ++k)
        kept.push_back(row.marks[static_cast<std::size_t>(std::lround(static_cast<double>(k) * step))]);
      row.marks = std::move(kept);
    }
    shown += row.marks.size();
  }
  caption += " " + text(msg::report::strip_limited{.all = all, .shown = shown});
}

}  // namespace

void limit_marks(Figure& figure) {
  for (Chart& chart : figure.panels) {
    if (auto* lines = std::get_if<LineChart>(&chart.picture)) limit_line_chart(*lines, figure.caption);
    if (auto* strips = std::get_if<StripChart>(&chart.picture)) limit_strips(*strips, figure.caption);
  }
}

}  // namespace attnscope::report
