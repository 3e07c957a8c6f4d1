// SPDX-License-Identifier: Apache-2.0
// Comparison with a baseline: sides, first page, tables of verdicts, and ratios over N.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "messages/compare.h"
#include "messages/report.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/compare/comparison.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {

namespace {

using analysis::ComparedPair;
using analysis::ComparisonLine;
using analysis::ComparisonView;
using analysis::RatioInterval;
using analysis::Row;
using analysis::RunIndex;
using analysis::StripGroup;
using analysis::Verdict;

constexpr std::size_t max_first_page_rows = 8;

/// Returns the run's provenance, by which sides are formed, also for failed and partly simulated points.
Provenance kind_of(const analysis::PointTable& table, Row row) {
  return table.run(row).provenance;
}

/// Names of the baseline and of a candidate: their GPUs, else their files, if these differ; else their runs.
std::pair<std::string, std::string> side_names(const Input& input, const std::vector<Row>& base,
                                               const std::vector<Row>& other) {
  const analysis::PointTable& table = input.table;
  const auto only = [](const std::vector<Row>& rows, auto name_of) {
    std::set<std::string> names;
    for (const Row row : rows) names.insert(name_of(row));
    return names.size() == 1 ? *names.begin() : std::string();
  };
  const auto device = [&](Row row) { return analysis::device_title(table, table.run_index(row)); };
  const auto file = [&](Row row) {
    constexpr std::string_view suffix = ".attnscope";
    std::string name = input.runs[table.run_index(row)].file;
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return name;
  };
  std::pair names(only(base, device), only(other, device));
  if (names.first.empty() || names.second.empty() || names.first == names.second)
    names = {only(base, file), only(other, file)};
  if (names.first.empty() || names.second.empty() || names.first == names.second)
    names = {run_names(table, base), run_names(table, other)};
  return names;
}

Message no_partners(const analysis::ComparedSide& side) {
  if (analysis::has_match(side.result)) return msg::report::no_pairs{.base = side.base, .other = side.name};
  const std::string alignment = fmt::format("{}", fmt::join(side.alignment.keywords(), ", "));
  return msg::report::no_partners{.alignment = alignment, .base = side.base, .other = side.name};
}

StripMark strip_mark(const analysis::PointTable& table, const ComparedPair& pair) {
  const RatioInterval& time = pair.verdict.time;
  const bool changed = pair.verdict.verdict == Verdict::faster || pair.verdict.verdict == Verdict::slower;
  const Row row = pair.other.front();
  StripMark mark{.x = time.ratio,
                 .hollow = is_simulated(table.points().origin(row)),
                 .read_out_text = text(msg::report::strip_read_out{.point = describe(table.spec(row)),
                                                                   .ratio = analysis::ratio_text(time),
                                                                   .verdict = verdict_title(pair.verdict.verdict)})};
  if (changed) std::tie(mark.low, mark.high) = std::pair(time.interval.low, time.interval.high);
  return mark;
}

Figure strip_figure(const Context& context) {
  constexpr std::size_t max_rows = 16;
  const ComparisonView& view = context.compared->view;
  const std::vector<ComparisonLine> lines = view.lines(ComparisonView::Lines::pairs);
  std::vector<StripGroup> groups = analysis::strip_groups(view, lines, true);
  if (groups.size() > max_rows) groups = analysis::strip_groups(view, lines, false);
  const std::size_t all = groups.size();
  groups.resize(std::min(all, max_rows));
  const std::string margin = fmt::format("{:g}", 100 * view.margin);
  StripChart chart{.x_title = text(msg::report::axis_ratio{.base = view.sides.front()->base}),
                   .margin = view.margin,
                   .margin_label = text(msg::report::ratio_margin{.margin = margin}),
                   .rows = {}};
  for (const StripGroup& group : groups) {
    StripRow& row = chart.rows.emplace_back(StripRow{group.label, style::identity_of(group.algorithm)});
    for (const std::size_t line : group.lines) row.marks.push_back(strip_mark(context.table(), *lines[line].pair));
  }
  Figure figure{.id = "ratios",
                .title = text(msg::report::strip_title{.base = view.sides.front()->base}),
                .caption = text(msg::report::strip_key{})};
  if (all > groups.size()) figure.caption += " " + text(msg::report::rows_limited{.all = all, .shown = groups.size()});
  figure.panels.push_back({.alt = text(msg::report::alt_strip{.points = view.pairs(), .rows = groups.size()}),
                           .picture = std::move(chart)});
  return figure;
}

/// Returns the first rows by verdict, without columns that the page has no room for; with several candidates a column
/// each.
Table worst_table(const ComparisonView& view) {
  if (view.sides.size() > 1) {
    auto [table, common] = candidates_table(view);
    const std::size_t all = table.rows;
    table.rows = std::min(all, max_first_page_rows);
    const Message caption = msg::report::candidates_caption{.all = all, .rows = table.rows};
    return fill_table(table, "worst", fmt::format("{} {}", text(caption), text(common)));
  }
  std::vector<ComparisonLine> lines = view.worst_first();
  const std::size_t changed = view.count(Verdict::faster) + view.count(Verdict::slower);
  const std::size_t all = changed > 0 ? changed : lines.size();
  lines.resize(std::min(all, max_first_page_rows));
  const std::size_t rows = lines.size();
  auto [table, common] = comparison_table(view, std::move(lines));
  constexpr std::array<std::string_view, 8> omitted{
      "differs",           "rounds", "cycles_ratio", "note", "dram_bytes_ratio", "dram_settled_bytes_ratio",
      "l2_sm_bytes_ratio", "tiles"};
  for (const std::string_view key : omitted) table.drop(key);
  table.drop_empty_columns();
  const Message caption = changed > 0 ? Message(msg::report::worst_caption{.all = all, .rows = rows})
                                      : msg::report::largest_caption{.all = all, .rows = rows};
  return fill_table(table, "worst", fmt::format("{} {}", text(caption), text(common)));
}

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

std::string run_names(const analysis::PointTable& table, const std::vector<Row>& rows) {
  constexpr std::size_t most_named = 3;
  std::set<RunIndex> runs;
  for (const Row row : rows) runs.insert(table.run_index(row));
  if (runs.size() > most_named)
    return text(msg::report::runs_named{.first = table.runs()[*runs.begin()].title, .more = runs.size() - 1});
  std::vector<std::string> titles;
  titles.reserve(runs.size());
  for (const RunIndex run : runs) titles.push_back(table.runs()[run].title);
  return fmt::format("{}", fmt::join(titles, ", "));
}

std::optional<BaselineComparison> compare_with_baseline(const Input& input, const Request& request) {
  if (request.baseline.empty()) return std::nullopt;
  std::map<Provenance, std::vector<Row>> base;
  std::map<Provenance, std::vector<Row>> others;
  for (const Row row : input.table.rows()) {
    const bool of_base = std::ranges::count(request.baseline, input.table.run_index(row)) > 0;
    (of_base ? base : others)[kind_of(input.table, row)].push_back(row);
  }
  if (base.empty()) return std::nullopt;
  analysis::ViewRequest asked;
  for (const RunFacts& run : input.runs) {
    asked.conditions.push_back(run.conditions);
    asked.looks = std::max(asked.looks, run.looks);
  }
  // Measured, simulated and imported points form separate sides, and so do recordings that do not repeat each other.
  std::vector<std::pair<Provenance, analysis::RecordingGroup>> candidates;
  for (const auto& [kind, rows] : others) {
    for (analysis::RecordingGroup& group : analysis::group_recordings(input.table, std::array{rows}))
      candidates.emplace_back(kind, std::move(group));
  }
  for (const auto& [kind, group] : candidates) {
    const auto baseline_of_kind = base.find(kind);
    const std::vector<Row>& baseline = baseline_of_kind != base.end() ? baseline_of_kind->second : base.begin()->second;
    const auto [base_name, name] = side_names(input, baseline, group.rows);
    asked.sides.push_back(
        {.base_name = base_name,
         .name = group.title(name),
         .base = baseline,
         .other = group.rows,
         .alignment = *analysis::parse_alignment({}, input.table, baseline, group.rows, request.tiles)});
  }
  BaselineComparison compared;
  std::vector<std::shared_ptr<const analysis::ComparedSide>> sides;
  for (const auto& side : analysis::view_of(input.table, asked).sides) {
    if (side->result.pairs.empty()) {
      compared.missing.push_back(no_partners(*side));
    } else {
      sides.push_back(side);
    }
  }
  compared.view = analysis::view_of(input.table, std::move(sides), asked.looks);
  for (std::size_t i = 0; i < compared.view.sides.size(); ++i)
    compared.candidates.push_back(compared.view.select_side(i));
  return compared;
}

void add_comparison(const Context& context, Document& document) {
  constexpr std::size_t max_heads = 3;
  const BaselineComparison& compared = *context.compared;
  const analysis::ComparedSide& first = *compared.view.sides.front();
  std::set<std::string> devices;
  for (const Row row : context.table().rows()) devices.insert(context.table().run(row).device_name);
  const std::string other = compared.candidates.size() == 1
                                ? first.name
                                : text(msg::compare::all_candidates{.sides = compared.candidates.size()});
  document.title =
      devices.size() > 1
          ? text(msg::report::title_devices{.base = first.base, .other = other})
          : text(msg::report::title_compared{.base = first.base, .devices = join_texts(devices), .other = other});
  if (compared.candidates.size() > max_heads) {
    document.answer.append(plain_paragraph(compared.view.answer));
  } else {
    for (const ComparisonView& candidate : compared.candidates)
      document.answer.append(plain_paragraph(candidate.answer));
  }
  document.figure = strip_figure(context);
  document.table = worst_table(compared.view);
}

void add_verdict_tables(const Context& context, Document& document) {
  if (!context.has_pairs()) return;
  const std::vector<ComparisonView>& candidates = context.compared->candidates;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const ComparisonView& view = candidates[k];
    const auto& [base, name, alignment, result] = *view.sides.front();
    const auto add = [&](const std::string& key, const analysis::Table& table, const Message& caption) {
      const std::string unique = candidates.size() == 1 ? key : fmt::format("{}-{}", key, k + 1);
      if (table.rows > 0) document.appendix.push_back(fill_table(table, unique, text(caption)));
    };
    auto [pairs, common] = comparison_table(view, view.worst_first());
    for (const std::string_view key : {"cycles_ratio", "tiles"}) pairs.drop(key);  // exports have them
    pairs.drop_empty_columns();
    add("verdicts", pairs,
        Message::verbatim(
            fmt::format("{} {}", text(msg::report::pairs_caption{.base = base, .other = name}), text(common))));
    if (view.answers.size() > 1)
      add("summary", analysis::answer_table(view), msg::report::answers_caption{.base = base, .other = name});
    add("differences", analysis::difference_table(result),
        msg::report::differences_caption{.base = base, .other = name});
    add("not-compared", analysis::skipped_table(view), msg::report::not_compared_caption{});
  }
  std::vector<std::string> files;
  files.reserve(context.input.runs.size());
  for (const RunFacts& run : context.input.runs) files.push_back(run.file);
  document.data.push_back(fill_table(analysis::comparison_data(context.compared->view, files), "verdicts",
                                     text(msg::report::verdicts_data_caption{})));
}

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
