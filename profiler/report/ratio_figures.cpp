// SPDX-License-Identifier: Apache-2.0
// Ratios to the baseline over N, and what explains them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "messages/compare.h"
#include "messages/report.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::ComparedPair;
using analysis::ComparisonView;
using analysis::RatioInterval;
using analysis::Row;

std::string origins_of(const analysis::PointTable& table, const ComparedPair& pair) {
  const auto origin = [&](const std::vector<Row>& rows) {
    const bool throttled = std::ranges::any_of(rows, [&](Row row) { return table.throttled(row); });
    return origin_text(table.points().origin(rows.front()), throttled);
  };
  const std::string base = origin(pair.base);
  const std::string other = origin(pair.other);
  return base == other ? base : fmt::format("{}, {}", other, base);
}

struct RatioLine {
  std::vector<std::string> words;  ///< axes of the point without N, algorithm first
  std::multimap<double, const ComparedPair*> at;
};

struct RatioLines {
  std::vector<RatioLine> drawn;
  std::size_t one_length = 0;  ///< not drawn: points at one N only
  std::size_t excess = 0;      ///< not drawn: more than max_ratio_lines have several N
};
constexpr std::size_t max_ratio_lines = 6;

/// Returns the candidate's settings without N, optionally without the tile; the algorithm first, by title.
std::vector<std::string> ratio_line_labels(const Context& context, const ComparedPair& pair, bool tile) {
  const analysis::PointTable& table = context.table();
  const Row row = pair.other.front();
  std::vector<std::string> words{analysis::short_title(table.algorithms(), table.algorithm(row))};
  for (const Field& setting : analysis::compared_settings()) {
    const bool of_length = std::ranges::count(setting.parts, field_name::n_k) > 0 && table.n_q(row) == table.n_k(row);
    if (setting.role == FieldRole::algorithm || of_length || (setting.role == FieldRole::tile && !tile)) continue;
    const std::string value = analysis::setting_text(table, setting, row);
    if (!value.empty()) words.push_back(analysis::titled_setting(setting, value));
  }
  words.push_back(table.run(row).device_name);
  return words;
}

/// Returns the lines, those with the most points first. A line with several tiles at one N is split by tile.
RatioLines ratio_lines(const Context& context, const ComparisonView& view) {
  std::map<std::vector<std::string>, std::vector<const ComparedPair*>> groups;
  for (const ComparedPair& pair : view.sides.front()->result.pairs) {
    if (!pair.verdict.time.unknown) groups[ratio_line_labels(context, pair, false)].push_back(&pair);
  }
  std::map<std::vector<std::string>, RatioLine> lines;
  for (const auto& [group, pairs] : groups) {
    std::set<std::int64_t> lengths;
    for (const ComparedPair* pair : pairs) lengths.insert(context.table().n_k(pair->other.front()));
    const bool by_tile = lengths.size() < pairs.size();
    for (const ComparedPair* pair : pairs) {
      const std::vector<std::string> words = by_tile ? ratio_line_labels(context, *pair, true) : group;
      RatioLine& line = lines[words];
      line.words = words;
      line.at.emplace(static_cast<double>(context.table().n_k(pair->other.front())), pair);
    }
  }
  RatioLines all;
  for (auto& [words, line] : lines) {
    const bool several = line.at.begin()->first < line.at.rbegin()->first;
    if (several) {
      all.drawn.push_back(std::move(line));
    } else {
      ++all.one_length;
    }
  }
  std::ranges::stable_sort(all.drawn, std::greater<>(), [](const RatioLine& line) { return line.at.size(); });
  if (all.drawn.size() > max_ratio_lines) {
    all.excess = all.drawn.size() - max_ratio_lines;
    all.drawn.resize(max_ratio_lines);
  }
  return all;
}

/// Returns the algorithm and the axes that differ between `all`.
std::string line_title(const std::vector<std::string>& words, const std::vector<std::vector<std::string>>& all) {
  std::string label = words.front();
  for (std::size_t k = 1; k < words.size(); ++k) {
    const bool everywhere = std::ranges::all_of(
        all, [&](const std::vector<std::string>& other) { return std::ranges::count(other, words[k]) > 0; });
    if (!everywhere) label += " " + words[k];
  }
  return label;
}

/// Returns the number of lines that are not drawn, by reason; empty if all are.
std::string not_drawn_note(const RatioLines& lines) {
  std::string note;
  if (lines.one_length > 0) note += " " + text(msg::report::ratio_one_length{.lines = lines.one_length});
  if (lines.excess > 0) note += " " + text(msg::report::ratio_excess{.lines = lines.excess, .most = max_ratio_lines});
  return note;
}

/// Returns the ratios of a candidate with their intervals over N; nullopt if no line has two points. Appends to `note`
/// what is not drawn.
std::optional<LineChart> ratio_chart(const Context& context, const ComparisonView& view, std::string& note) {
  const RatioLines lines = ratio_lines(context, view);
  note += not_drawn_note(lines);
  if (lines.drawn.empty()) return std::nullopt;
  LineChart chart;
  chart.x = {text(msg::report::axis_length{}), Quantity::length, true};
  chart.y = {text(msg::report::axis_ratio{.base = view.sides.front()->base}), Quantity::number, false, false};
  std::vector<std::vector<std::string>> words;
  words.reserve(lines.drawn.size());
  for (const RatioLine& each : lines.drawn) words.push_back(each.words);
  for (const RatioLine& each : lines.drawn) {
    const std::string label = line_title(each.words, words);
    const Row first = each.at.begin()->second->other.front();
    const std::string& algorithm = context.table().algorithm(first);
    Line line{
        .label = label, .identity = style::identity_of(algorithm), .provenance = context.table().run(first).provenance};
    for (const auto& [n, pair] : each.at) {
      const RatioInterval& time = pair->verdict.time;
      line.marks.push_back({n, time.ratio, time.interval.low, time.interval.high,
                            text(msg::report::ratio_read_out{.n = exact_text(n),
                                                             .origin = origins_of(context.table(), *pair),
                                                             .ratio = analysis::ratio_text(time),
                                                             .series = label,
                                                             .verdict = analysis::to_string(pair->verdict.verdict)})});
    }
    chart.lines.push_back(std::move(line));
  }
  chart.band = view.margin;
  return chart;
}

std::optional<Figure> ratio_figure(const Context& context) {
  constexpr std::size_t max_panels = 3;
  const std::vector<ComparisonView>& candidates = context.compared->candidates;
  const std::string margin = fmt::format("{:g}", 100 * context.compared->view.margin);
  Figure figure{.id = "comparison",
                .title = text(msg::report::ratio_title{}),
                .caption = text(msg::report::ratio_key{.margin = margin})};
  std::vector<LineChart> charts;
  std::vector<std::string> names;
  for (const ComparisonView& view : candidates) {
    if (charts.size() == max_panels) break;
    if (std::optional<LineChart> chart = ratio_chart(context, view, figure.caption)) {
      charts.push_back(*std::move(chart));
      names.push_back(view.sides.front()->name);
    }
  }
  if (charts.empty()) return std::nullopt;
  add_panels(figure, std::move(charts), names,
             [&](const LineChart& chart) { return text(msg::report::alt_ratio{.lines = chart.lines.size()}); });
  return figure;
}

}  // namespace

std::optional<Section> ratio_section(const Context& context) {
  if (!context.has_pairs()) return std::nullopt;
  Section section{.title = text(msg::report::ratios{}), .figure = ratio_figure(context)};
  for (const ComparisonView& view : context.compared->candidates) {
    std::vector<Message> words{view.differences};
    // The detectable change is among what was measured.
    const bool first = view.answers.front().detectable > 0;
    words.insert(words.end(), view.evidence.begin() + (first ? 1 : 0), view.evidence.end());
    words.push_back(view.decide);
    for (const Message& each : words) {
      if (!each.empty()) section.text.push_back(plain_paragraph(each));
    }
  }
  return section;
}

}  // namespace attnscope::report
