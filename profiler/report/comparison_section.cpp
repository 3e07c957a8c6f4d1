// SPDX-License-Identifier: Apache-2.0
// A baseline and what is held to it: in what the circumstances differ, the verdict on each point that both have, and
// what has no partner.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "messages/compare.h"
#include "messages/report.h"
#include "profiler/compare/comparison_answers.h"
#include "profiler/compare/comparison_table.h"
#include "profiler/compare/comparison_words.h"
#include "profiler/plan/command_text.h"
#include "profiler/report/sections.h"
#include "profiler/units/spelling.h"

namespace attnscope::report {
namespace {

using analysis::ComparedPair;
using analysis::RatioInterval;
using analysis::Row;
using analysis::RunIndex;
using analysis::Verdict;

/// Verdicts that the summary tells one by one.
constexpr std::size_t verdicts_told = 8;

/// Where a row's numbers come from, as sides go: what failed, and what was simulated in part, goes with its run.
Provenance kind_of(const analysis::PointTable& table, Row row) {
  return table.run(row).provenance;
}

std::string name_of_side(const analysis::PointTable& table, const std::vector<Row>& rows) {
  constexpr std::size_t most_named = 3;
  std::set<RunIndex> runs;
  for (const Row row : rows) runs.insert(table.run_index(row));
  if (runs.size() > most_named)
    return text(say::report::runs_named{.first = table.runs()[*runs.begin()].title, .more = runs.size() - 1});
  std::vector<std::string> titles;
  titles.reserve(runs.size());
  for (const RunIndex run : runs) titles.push_back(table.runs()[run].title);
  return fmt::format("{}", fmt::join(titles, ", "));
}

/// "fa2 fwd ... " of the one that is held to the baseline.
std::string other_point(const Context& context, const ComparedPair& pair) {
  return describe(context.table().spec(pair.other.front()));
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

Table pair_table(const Context& context, const Compared& compared) {
  std::vector<analysis::ComparisonLine> lines;
  for (const std::size_t place : compared.order) lines.push_back({.pair = &compared.result.pairs[place]});
  const std::size_t rows = lines.size();
  analysis::Table told =
      analysis::comparison_table(std::move(lines), {.points = &context.table(), .margin = compared.result.margin});
  told.drop("note");  // in a table of its own, where the same words stand once
  told.drop_empty_columns();
  told.columns.insert(told.columns.begin(),
                      {.key = "entry", .title = text(say::report::column_entry{}), .cell = [&](std::size_t row) {
                         return analysis::Cell{.text = compared.place_of(row)};
                       }});
  // What a reader sorts by, beside the whole point.
  const auto spec = [&](std::size_t row) {
    return context.table().spec(compared.result.pairs[compared.order[row]].other.front());
  };
  const auto beside = std::ranges::find(told.columns, "point", &analysis::Column::key) + 1;
  told.columns.insert(
      beside, {{.key = "n",
                .title = "N",
                .kind = analysis::ColumnKind::number,
                .cell =
                    [spec](std::size_t row) {
                      const AttentionProblem problem = spec(row).problem;
                      return analysis::Cell{.text = analysis::lengths_text(problem),
                                            .number = static_cast<double>(problem.n_k)};
                    }},
               {.key = "d", .title = "d", .kind = analysis::ColumnKind::number, .cell = [spec](std::size_t row) {
                  const std::int64_t d = spec(row).problem.d;
                  return analysis::Cell{.text = std::to_string(d), .number = static_cast<double>(d)};
                }}});
  Table table = written_out(told, text(say::report::pairs_caption{.other = compared.other, .base = compared.base}));
  for (std::size_t row = 0; row < rows; ++row) table.places.push_back(compared.place_of(row));
  return table;
}

/// What is undecided, and what would decide it. The same words stand once, with the other entries that they are of.
Table settle_table(const Context& context, const Compared& compared) {
  Table table{text(say::report::settle_caption{}),
              {{text(say::report::column_entry{})}, {text(say::report::column_settle{}), false, true}},
              {}};
  std::map<std::string, std::size_t> rows;
  std::vector<std::vector<std::string>> others;
  for (std::size_t k = 0; k < compared.order.size(); ++k) {
    const ComparedPair& pair = compared.result.pairs[compared.order[k]];
    const std::string words = text(analysis::settling_words(context.table(), pair, compared.result.margin));
    if (words.empty()) continue;
    const auto [place, first] = rows.try_emplace(words, table.rows.size());
    if (first) {
      table.rows.push_back({{compared.place_of(k)}, {words}});
      others.emplace_back();
    } else {
      others[place->second].push_back(compared.place_of(k));
    }
  }
  for (std::size_t row = 0; row < others.size(); ++row) {
    if (!others[row].empty()) table.rows[row].back().text += fmt::format(" ({})", fmt::join(others[row], ", "));
  }
  return table;
}

/// Points that differ in N alone, held to the baseline's, by N.
struct RatioLine {
  std::vector<std::string> words;  ///< of its point but for N, the algorithm first
  std::map<double, const ComparedPair*> at;
};

/// The other point's axes but for N, with the tile or without; the algorithm by its title.
std::vector<std::string> words_of_line(const Context& context, const ComparedPair& pair, bool tile) {
  const analysis::PointTable& table = context.table();
  const PointSpec spec = table.spec(pair.other.front());
  std::vector<std::string> words{analysis::short_title(table.algorithms(), spec.algorithm)};
  for (const std::string& axis : axis_texts(spec)) {
    const std::string name = axis.substr(0, axis.find('='));
    const bool of_tile = name == "br" || name == "bc";
    const bool length = name == "N" || name == "n_k" || (name == "n_q" && spec.problem.n_q == spec.problem.n_k);
    if (name == "algorithm" || length || (of_tile && !tile)) continue;
    words.push_back(axis);
  }
  words.push_back(table.run(pair.other.front()).device_name);
  return words;
}

/// Those of most points first, as many as can be told apart. Where a line had several tiles at one N, a line for each
/// tile.
std::vector<RatioLine> ratio_lines(const Context& context, const Compared& compared) {
  constexpr std::size_t most_lines = 6;
  std::map<std::vector<std::string>, std::vector<const ComparedPair*>> groups;
  for (const ComparedPair& pair : compared.result.pairs) groups[words_of_line(context, pair, false)].push_back(&pair);
  std::map<std::vector<std::string>, RatioLine> lines;
  for (const auto& [words, pairs] : groups) {
    std::set<std::int64_t> lengths;
    for (const ComparedPair* pair : pairs) lengths.insert(context.table().n_k(pair->other.front()));
    const bool by_tile = lengths.size() < pairs.size();
    for (const ComparedPair* pair : pairs) {
      const std::vector<std::string> own = by_tile ? words_of_line(context, *pair, true) : words;
      RatioLine& line = lines[own];
      line.words = own;
      line.at.emplace(static_cast<double>(context.table().n_k(pair->other.front())), pair);
    }
  }
  std::vector<RatioLine> drawn;
  for (auto& [words, line] : lines) {
    if (line.at.size() > 1) drawn.push_back(std::move(line));
  }
  std::ranges::stable_sort(drawn, std::greater<>(), [](const RatioLine& line) { return line.at.size(); });
  if (drawn.size() > most_lines) drawn.resize(most_lines);
  return drawn;
}

/// The algorithm, and those words that not all lines have.
std::string label_of_line(const RatioLine& line, const std::vector<RatioLine>& all) {
  std::string label = line.words.front();
  for (std::size_t k = 1; k < line.words.size(); ++k) {
    const std::string& word = line.words[k];
    const bool everywhere =
        std::ranges::all_of(all, [&](const RatioLine& other) { return std::ranges::count(other.words, word) > 0; });
    if (!everywhere) label += " " + word;
  }
  return label;
}

/// Ratios with their intervals over N; nothing where no line has two points.
std::optional<Figure> ratio_figure(const Context& context, const Compared& compared, const std::string& id) {
  const std::vector<RatioLine> drawn = ratio_lines(context, compared);
  if (drawn.empty()) return std::nullopt;
  LineChart chart;
  chart.x = {text(say::report::axis_length{}), Quantity::length, true};
  chart.y = {text(say::report::axis_ratio{}), Quantity::number, false, false};
  Table table{"",
              {{text(say::report::column_series{})},
               {"N", true},
               {text(say::report::column_ratio{}), true},
               {text(say::report::column_verdict{})},
               {text(say::report::column_row{}), true}},
              {}};
  double least = drawn.front().at.begin()->first;
  double most = least;
  std::string list;
  for (const RatioLine& each : drawn) {
    const std::string label = label_of_line(each, drawn);
    const ComparedPair& first = *each.at.begin()->second;
    Line line{label, static_cast<int>(chart.lines.size()), kind_of(context.table(), first.other.front()), {}};
    for (const auto& [n, pair] : each.at) {
      const RatioInterval& time = pair->verdict.time;
      line.marks.push_back({n, time.ratio, time.interval.low, time.interval.high,
                            text(say::report::ratio_read_out{.series = label,
                                                             .n = exact_text(n),
                                                             .ratio = analysis::ratio_text(time),
                                                             .verdict = analysis::to_string(pair->verdict.verdict),
                                                             .origin = origins_of(context.table(), *pair)})});
      table.rows.push_back({{label},
                            {exact_text(n)},
                            {analysis::ratio_text(time)},
                            {std::string(analysis::to_string(pair->verdict.verdict))},
                            {row_name(pair->other.front()), pair->other.front()}});
      least = std::min(least, n);
      most = std::max(most, n);
    }
    list += fmt::format("{}{}", list.empty() ? "" : "; ", label);
    chart.lines.push_back(std::move(line));
  }
  const double margin = compared.result.margin;
  for (const auto& [value, label] :
       {std::pair(1.0, text(say::report::ratio_one{})), std::pair(1 / (1 + margin), text(say::report::ratio_margin{})),
        std::pair(1 + margin, text(say::report::ratio_margin{}))}) {
    chart.lines.push_back(
        {label, 5, Provenance::modelled, {{least, value, value, value, ""}, {most, value, value, value, ""}}});
  }
  Figure figure;
  figure.id = id;
  figure.chart.title = text(say::report::ratio_title{.other = compared.other, .base = compared.base});
  figure.chart.alt =
      text(say::report::alt_ratio{.other = compared.other, .base = compared.base, .lines = drawn.size(), .list = list});
  figure.caption = text(say::report::ratio_key{.margin = fmt::format("{}", 100 * margin)});
  figure.chart.picture = std::move(chart);
  figure.behind = std::move(table);
  return figure;
}

Paragraph notice(const Message& message) {
  return {{{text(message)}}, true};
}

}  // namespace

Message no_partners(const Compared& compared) {
  return say::report::no_partners{.other = compared.other,
                                  .base = compared.base,
                                  .alignment = fmt::format("{}", fmt::join(compared.alignment.words(), ", "))};
}

std::string Compared::place_of(std::size_t nth) const {
  return fmt::format("v{}", first_place + nth);
}

std::vector<Compared> compare_with_baseline(const Input& input, const Request& request) {
  std::vector<Compared> all;
  if (request.baseline.empty()) return all;
  std::map<Provenance, std::vector<Row>> base;
  std::map<Provenance, std::vector<Row>> others;
  for (const Row row : input.table.rows()) {
    const bool of_base = std::ranges::count(request.baseline, input.table.run_index(row)) > 0;
    (of_base ? base : others)[kind_of(input.table, row)].push_back(row);
  }
  if (base.empty()) return all;
  const std::vector<analysis::RunConditions> conditions = [&] {
    std::vector<analysis::RunConditions> each;
    for (const RunFacts& run : input.runs) each.push_back(run.conditions);
    return each;
  }();
  std::vector<analysis::AlignedSides> aligned;
  double margin = 0;
  // What was measured, simulated and imported are never rounds of one side.
  for (const auto& [kind, rows] : others) {
    const auto of_kind = base.find(kind);
    const std::vector<Row>& held_to = of_kind != base.end() ? of_kind->second : base.begin()->second;
    analysis::ComparisonRequest asked{
        .base = held_to, .other = rows, .alignment = {}, .margin = {}, .verdicts = {}, .conditions = conditions};
    const auto alignment = analysis::alignment_of({}, input.table, held_to, rows);
    if (alignment.ok()) asked.alignment = *alignment;
    Compared& compared = all.emplace_back();
    compared.base = name_of_side(input.table, held_to);
    compared.other = name_of_side(input.table, rows);
    compared.alignment = asked.alignment;
    compared.verdicts = asked.verdicts;
    aligned.push_back(analysis::align(input.table, asked));
    margin = std::max(margin, aligned.back().result.margin);
  }
  // One margin on a page: that of the sides that need the wider one.
  std::size_t next_place = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Compared& compared = all[i];
    compared.result = analysis::judged(std::move(aligned[i]), {}, margin);
    compared.order.resize(compared.result.pairs.size());
    std::iota(compared.order.begin(), compared.order.end(), std::size_t{0});
    std::ranges::stable_sort(compared.order, {},
                             [&](std::size_t k) { return analysis::verdict_order(compared.result.pairs[k].verdict); });
    compared.first_place = next_place;
    next_place += compared.order.size();
  }
  return all;
}

void tell_verdicts(const Context& context, std::vector<Block>& blocks) {
  for (const Compared& compared : context.compared) {
    const analysis::ComparisonResult& result = compared.result;
    if (result.pairs.empty()) {
      blocks.emplace_back(notice(no_partners(compared)));
      continue;
    }
    blocks.emplace_back(heading(say::report::comparison{}));
    blocks.emplace_back(plain(say::report::compared{.pairs = result.pairs.size(),
                                                    .other = compared.other,
                                                    .base = compared.base,
                                                    .slower = result.count(Verdict::slower),
                                                    .faster = result.count(Verdict::faster),
                                                    .same = result.count(Verdict::same),
                                                    .ambiguous = result.count(Verdict::ambiguous),
                                                    .left = result.left_out.size()}));
    const auto [answer, more] =
        analysis::answer_words(analysis::comparison_answers(context.table(), compared.result).front(),
                               {.other = compared.other, .base = compared.base});
    blocks.emplace_back(plain(answer));
    for (const Message& words : more) blocks.emplace_back(plain(words));
    const std::size_t significant = result.count(Verdict::faster) + result.count(Verdict::slower);
    for (std::size_t k = 0; k < std::min(significant, verdicts_told); ++k) {
      const ComparedPair& pair = result.pairs[compared.order[k]];
      const std::string ratio = analysis::ratio_text(pair.verdict.time);
      const std::string own = text(Nanoseconds(pair.other_ns));
      const std::string other = text(Nanoseconds(pair.base_ns));
      const std::string origin = origins_of(context.table(), pair);
      const std::string verdict(analysis::to_string(pair.verdict.verdict));
      const Message told =
          pair.same_point
              ? Message(say::report::verdict{.verdict = verdict,
                                             .point = other_point(context, pair),
                                             .ratio = ratio,
                                             .own = own,
                                             .other = other,
                                             .origin = origin})
              : Message(say::report::verdict_of{.verdict = verdict,
                                                .point = other_point(context, pair),
                                                .ratio = ratio,
                                                .base_point = describe(context.table().spec(pair.base.front())),
                                                .own = own,
                                                .other = other,
                                                .origin = origin});
      blocks.emplace_back(sentence(
          text(told),
          {{verdict, std::nullopt, compared.place_of(k)}, {own, pair.other.front()}, {other, pair.base.front()}}));
    }
    if (significant == verdicts_told + 1) blocks.emplace_back(plain(say::report::one_more_verdict{}));
    if (significant > verdicts_told + 1)
      blocks.emplace_back(plain(say::report::more_verdicts{.count = significant - verdicts_told}));
  }
}

std::vector<Block> comparison_section(const Context& context) {
  std::vector<Block> blocks;
  std::size_t number = 0;
  for (const Compared& compared : context.compared) {
    if (!compared.result.differences.empty()) {
      blocks.emplace_back(
          written_out(analysis::difference_table(compared.result),
                      text(say::report::differences_caption{.other = compared.other, .base = compared.base})));
    } else {
      blocks.emplace_back(plain(say::report::no_differences{}));
    }
    if (compared.result.pairs.empty()) {
      blocks.emplace_back(notice(no_partners(compared)));
    } else {
      blocks.emplace_back(
          plain(say::compare::aligned{.alignment = fmt::format("{}", fmt::join(compared.alignment.words(), ", "))}));
      blocks.emplace_back(plain(say::compare::method{.margin = fmt::format("{}", 100 * compared.result.margin),
                                                     .rows = compared.result.pairs.size(),
                                                     .level = fmt::format("{}", 100 * compared.verdicts.level)}));
      blocks.emplace_back(
          written_out(analysis::answer_table(analysis::comparison_answers(context.table(), compared.result)),
                      text(say::report::answers_caption{.other = compared.other, .base = compared.base})));
      for (const Message& floor : analysis::floor_words({&compared.result}, 1)) blocks.emplace_back(plain(floor));
      if (std::optional<Figure> figure = ratio_figure(context, compared, fmt::format("comparison-{}", ++number)))
        blocks.emplace_back(*std::move(figure));
      blocks.emplace_back(pair_table(context, compared));
      Table settle = settle_table(context, compared);
      if (!settle.rows.empty()) blocks.emplace_back(std::move(settle));
    }
    if (!compared.result.left_out.empty()) {
      blocks.emplace_back(with_rows(
          written_out(analysis::left_out_table(context.table(), compared.result), text(say::report::left_caption{}))));
    }
  }
  return blocks;
}

}  // namespace attnscope::report
