// SPDX-License-Identifier: Apache-2.0
// Comparison with a baseline: verdicts of common points, differing conditions, and unmatched points.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "messages/compare.h"
#include "messages/report.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/compare/recordings.h"
#include "profiler/plan/command_text.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::ComparedPair;
using analysis::RatioInterval;
using analysis::Row;
using analysis::RunIndex;
using analysis::Verdict;

constexpr std::size_t max_first_page_rows = 8;

/// Returns the run's provenance, by which sides are formed, also for failed and partly simulated points.
Provenance kind_of(const analysis::PointTable& table, Row row) {
  return table.run(row).provenance;
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

analysis::Table pair_table(const CandidateComparison& compared, std::size_t count) {
  std::vector<analysis::ComparisonLine> lines;
  for (std::size_t k = 0; k < count; ++k) lines.push_back({.pair = &compared.side().result.pairs[compared.order[k]]});
  analysis::Table pairs = analysis::comparison_table(compared.view, std::move(lines)).table;
  pairs.drop_empty_columns();
  return pairs;
}

struct RatioLine {
  std::vector<std::string> words;  ///< axes of the point without N, algorithm first
  std::vector<std::string> group;  ///< the same without the tile
  std::multimap<double, const ComparedPair*> at;
};

struct RatioLines {
  std::vector<RatioLine> drawn;
  std::vector<RatioLine> one_length;  ///< not drawn: points at one N only
  std::vector<RatioLine> excess;      ///< not drawn: more than max_ratio_lines have several N
};
constexpr std::size_t max_ratio_lines = 6;

/// Returns the candidate's axes without N, optionally without the tile; the algorithm by title.
std::vector<std::string> ratio_line_labels(const Context& context, const ComparedPair& pair, bool tile) {
  const analysis::PointTable& table = context.table();
  const PointSpec spec = table.spec(pair.other.front());
  std::vector<std::string> words{analysis::short_title(table.algorithms(), spec.algorithm)};
  for (const std::string& axis : axis_arguments(spec)) {
    const std::string name = axis.substr(0, axis.find('='));
    const bool of_tile = name == "br" || name == "bc";
    const bool length = name == "N" || name == "n_k" || (name == "n_q" && spec.problem.n_q == spec.problem.n_k);
    if (name == "algorithm" || length || (of_tile && !tile)) continue;
    words.push_back(axis);
  }
  words.push_back(table.run(pair.other.front()).device_name);
  return words;
}

/// Returns the lines, those with the most points first. A line with several tiles at one N is split by tile.
RatioLines ratio_lines(const Context& context, const CandidateComparison& compared) {
  std::map<std::vector<std::string>, std::vector<const ComparedPair*>> groups;
  for (const ComparedPair& pair : compared.side().result.pairs) {
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
      line.group = group;
      line.at.emplace(static_cast<double>(context.table().n_k(pair->other.front())), pair);
    }
  }
  RatioLines all;
  for (auto& [words, line] : lines) {
    const bool several = line.at.begin()->first < line.at.rbegin()->first;
    (several ? all.drawn : all.one_length).push_back(std::move(line));
  }
  std::ranges::stable_sort(all.drawn, std::greater<>(), [](const RatioLine& line) { return line.at.size(); });
  if (all.drawn.size() > max_ratio_lines) {
    const auto first = all.drawn.begin() + max_ratio_lines;
    std::move(first, all.drawn.end(), std::back_inserter(all.excess));
    all.drawn.erase(first, all.drawn.end());
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

/// Returns the titles of lines, several that differ only in their tile as one: "FA1 d=64; FA2 d=64 (12 tiles)".
std::string list_of(const std::vector<RatioLine>& lines, const std::vector<std::vector<std::string>>& all) {
  std::map<std::vector<std::string>, std::vector<const RatioLine*>> groups;
  for (const RatioLine& line : lines) groups[line.group].push_back(&line);
  std::vector<std::string> titles;
  titles.reserve(groups.size());
  for (const auto& [group, of_group] : groups) {
    titles.push_back(of_group.size() == 1
                         ? line_title(of_group.front()->words, all)
                         : text(msg::report::ratio_tiles{.line = line_title(group, all), .tiles = of_group.size()}));
  }
  return fmt::format("{}", fmt::join(titles, "; "));
}

/// Names the lines that are not drawn and why; empty if there are none.
std::string not_drawn_note(const RatioLines& lines) {
  std::vector<std::vector<std::string>> all;
  for (const auto* each : {&lines.drawn, &lines.one_length, &lines.excess}) {
    for (const RatioLine& line : *each) all.push_back(line.words);
  }
  std::string note;
  if (!lines.one_length.empty())
    note += " " + text(msg::report::ratio_one_length{.lines = list_of(lines.one_length, all)});
  if (!lines.excess.empty()) {
    note += " " + text(msg::report::ratio_excess{.lines = list_of(lines.excess, all), .most = max_ratio_lines});
  }
  return note;
}

/// Returns a figure of ratios with intervals over N; nullopt if no line has two points.
std::optional<Figure> ratio_figure(const Context& context, const CandidateComparison& compared, const std::string& id) {
  const RatioLines lines = ratio_lines(context, compared);
  const std::vector<RatioLine>& drawn = lines.drawn;
  if (drawn.empty()) return std::nullopt;
  LineChart chart;
  chart.x = {text(msg::report::axis_length{}), Quantity::length, true};
  chart.y = {text(msg::report::axis_ratio{}), Quantity::number, false, false};
  double least = drawn.front().at.begin()->first;
  double most = least;
  std::string list;
  std::vector<std::vector<std::string>> words;
  words.reserve(drawn.size());
  for (const RatioLine& each : drawn) words.push_back(each.words);
  for (const RatioLine& each : drawn) {
    const std::string label = line_title(each.words, words);
    const ComparedPair& first = *each.at.begin()->second;
    Line line{.label = label,
              .identity = style::identity_of(context.table().algorithm(first.other.front())),
              .provenance = kind_of(context.table(), first.other.front())};
    for (const auto& [n, pair] : each.at) {
      const RatioInterval& time = pair->verdict.time;
      line.marks.push_back({n, time.ratio, time.interval.low, time.interval.high,
                            text(msg::report::ratio_read_out{.n = exact_text(n),
                                                             .origin = origins_of(context.table(), *pair),
                                                             .ratio = analysis::ratio_text(time),
                                                             .series = label,
                                                             .verdict = analysis::to_string(pair->verdict.verdict)})});
      least = std::min(least, n);
      most = std::max(most, n);
    }
    list += fmt::format("{}{}", list.empty() ? "" : "; ", label);
    chart.lines.push_back(std::move(line));
  }
  const double margin = compared.view.margin;
  for (const auto& [value, label] :
       {std::pair(1.0, text(msg::report::ratio_one{})), std::pair(1 / (1 + margin), text(msg::report::ratio_margin{})),
        std::pair(1 + margin, text(msg::report::ratio_margin{}))}) {
    chart.lines.push_back({.label = label,
                           .provenance = Provenance::modeled,
                           .marks = {{least, value, value, value, ""}, {most, value, value, value, ""}}});
  }
  Figure figure;
  figure.id = id;
  const analysis::ComparedSide& side = compared.side();
  figure.chart.title = text(msg::compare::ratio_title{.base = side.base, .other = side.name});
  figure.chart.alt =
      text(msg::report::alt_ratio{.base = side.base, .lines = drawn.size(), .list = list, .other = side.name});
  figure.caption = text(msg::report::ratio_key{.margin = fmt::format("{}", 100 * margin)}) + not_drawn_note(lines);
  figure.chart.picture = std::move(chart);
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

Message no_partners(const CandidateComparison& compared) {
  const analysis::ComparedSide& side = compared.side();
  if (analysis::has_match(side.result)) return msg::report::no_pairs{.base = side.base, .other = side.name};
  const std::string alignment = fmt::format("{}", fmt::join(side.alignment.keywords(), ", "));
  return msg::report::no_partners{.alignment = alignment, .base = side.base, .other = side.name};
}

std::vector<CandidateComparison> compare_with_baseline(const Input& input, const Request& request) {
  std::vector<CandidateComparison> all;
  if (request.baseline.empty()) return all;
  std::map<Provenance, std::vector<Row>> base;
  std::map<Provenance, std::vector<Row>> others;
  for (const Row row : input.table.rows()) {
    const bool of_base = std::ranges::count(request.baseline, input.table.run_index(row)) > 0;
    (of_base ? base : others)[kind_of(input.table, row)].push_back(row);
  }
  if (base.empty()) return all;
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
    asked.sides.push_back(
        {.base_name = run_names(input.table, baseline),
         .name = group.title(run_names(input.table, group.rows)),
         .base = baseline,
         .other = group.rows,
         .alignment = *analysis::parse_alignment({}, input.table, baseline, group.rows, request.tiles)});
  }
  const analysis::ComparisonView view = analysis::view_of(input.table, asked);
  for (std::size_t i = 0; i < view.sides.size(); ++i) {
    CandidateComparison& compared = all.emplace_back(CandidateComparison{.view = view.select_side(i), .order = {}});
    const std::vector<ComparedPair>& pairs = compared.side().result.pairs;
    compared.order.resize(pairs.size());
    std::iota(compared.order.begin(), compared.order.end(), std::size_t{0});
    std::ranges::stable_sort(compared.order, {},
                             [&](std::size_t k) { return analysis::verdict_order(pairs[k].verdict); });
  }
  return all;
}

void add_verdicts(const Context& context, std::vector<Block>& blocks) {
  for (const CandidateComparison& compared : context.compared) {
    if (compared.order.empty()) {
      blocks.emplace_back(plain_paragraph(no_partners(compared)));
      continue;
    }
    blocks.emplace_back(plain_paragraph(compared.view.answer));
    for (const Message& words : compared.view.evidence) blocks.emplace_back(plain_paragraph(words));
    const std::size_t significant = compared.view.count(Verdict::faster) + compared.view.count(Verdict::slower);
    const std::size_t rows = std::min(significant, max_first_page_rows);
    if (rows == 0) continue;
    analysis::Table worst = pair_table(compared, rows);
    constexpr std::array<std::string_view, 7> shown{"verdict", "point",       "differs",     "tiles",
                                                    "ratio",   "baseline_ns", "candidate_ns"};
    std::erase_if(worst.columns,
                  [&](const analysis::Column& column) { return std::ranges::count(shown, column.key) == 0; });
    blocks.emplace_back(fill_table(worst, "worst", text(msg::report::worst_caption{.all = significant, .rows = rows})));
  }
}

void add_method(const Context& context, std::vector<Block>& blocks) {
  for (const CandidateComparison& compared : context.compared) {
    std::set<std::string> names;
    for (const analysis::Difference& each : compared.side().result.differences) names.insert(text(each.name));
    if (!names.empty()) {
      blocks.emplace_back(plain_paragraph(msg::report::differs{
          .base = compared.side().base, .other = compared.side().name, .what = join_texts(names)}));
    }
    if (compared.order.empty()) continue;
    for (const Message& words : compared.view.method) blocks.emplace_back(plain_paragraph(words));
    for (const Message& words : compared.view.spreads) blocks.emplace_back(plain_paragraph(words));
    if (const RatioLines lines = ratio_lines(context, compared); lines.drawn.empty())
      blocks.emplace_back(plain_paragraph(msg::report::no_ratio_figure{.reasons = not_drawn_note(lines)}));
  }
}

void add_ratios(const Context& context, std::vector<Figure>& figures) {
  for (const CandidateComparison& compared : context.compared) {
    if (std::optional<Figure> figure =
            ratio_figure(context, compared, fmt::format("comparison-{}", figures.size() + 1)))
      figures.push_back(*std::move(figure));
  }
}

void add_verdict_tables(const Context& context, std::vector<Table>& tables) {
  for (std::size_t k = 0; k < context.compared.size(); ++k) {
    const CandidateComparison& compared = context.compared[k];
    const auto& [base, name, alignment, result] = compared.side();
    const auto add = [&](const char* key, const analysis::Table& table, const Message& caption) {
      if (table.rows > 0) tables.push_back(fill_table(table, fmt::format("{}-{}", key, k + 1), text(caption)));
    };
    add("verdicts", pair_table(compared, compared.order.size()),
        msg::report::pairs_caption{.base = base, .other = name});
    add("summary", analysis::answer_table(compared.view), msg::report::answers_caption{.base = base, .other = name});
    add("differences", analysis::difference_table(result),
        msg::report::differences_caption{.base = base, .other = name});
    add("not-compared", analysis::skipped_table(compared.view), msg::report::not_compared_caption{});
  }
}

}  // namespace attnscope::report
