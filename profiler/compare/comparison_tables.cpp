// SPDX-License-Identifier: Apache-2.0
// Tables of one candidate with a row per pair, and of several with a column per candidate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "messages/compare.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/compare/compared_values.h"
#include "profiler/compare/comparison_parts.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

namespace {

using Line = ComparisonLine;
using Number = std::optional<double>;
using PairNumber = std::function<Number(const ComparedPair&)>;

constexpr std::array<std::size_t, 2> no_choice{};

Message side_title(const SkippedRows& left) {
  if (left.alike) return msg::compare::both_sides{};
  return left.of_other ? Message(msg::compare::candidate_time_label{}) : msg::compare::baseline{};
}

/// Returns whether all pairs have the same two GPUs, which the summary names.
bool have_equal_gpus(const PointTable& points, const std::vector<Line>& lines) {
  std::set<std::pair<std::string_view, std::string_view>> gpus;
  for (const Line& line : lines) {
    if (line.pair == nullptr) continue;
    gpus.emplace(points.run(line.pair->base.front()).device_name, points.run(line.pair->other.front()).device_name);
  }
  return gpus.size() < 2;
}

std::string with_remark(const std::string& what, const Message& remark) {
  return text(msg::compare::with_remark{.remark = remark, .what = what});
}

/// Returns the provenance of a side's time unless it is measured, and "throttled" if only this side was; empty for most
/// times.
std::string remark_of(const PointTable& points, const ComparedPair& pair, bool of_other) {
  const auto throttled = [&](const std::vector<Row>& rows) {
    return std::ranges::any_of(rows, [&](Row row) { return points.throttled(row); });
  };
  const std::vector<Row>& rows = of_other ? pair.other : pair.base;
  std::vector<std::string> remarks;
  const Provenance origin = points.points().origin(rows.front());
  if (origin != Provenance::measured) remarks.push_back(text(title(origin)));
  if (throttled(rows) && !throttled(of_other ? pair.base : pair.other))
    remarks.push_back(text(msg::compare::throttled{}));
  return fmt::format("{}", fmt::join(remarks, ", "));
}

/// Returns the remark that all times have, which is then said once; empty if they differ.
std::string common_remark(const PointTable& points, const std::vector<Line>& lines) {
  std::set<std::string> remarks;
  for (const Line& line : lines) {
    if (line.pair == nullptr) continue;
    for (const bool of_other : {false, true}) remarks.insert(remark_of(points, *line.pair, of_other));
  }
  return remarks.size() == 1 ? *remarks.begin() : std::string();
}

Tone tone_of(Verdict verdict) {
  static constexpr std::array<Tone, 4> tones{Tone::better, Tone::worse, Tone::plain, Tone::muted};
  return tones.at(static_cast<std::size_t>(verdict));
}

class DisplayColumns {
 public:
  DisplayColumns(const ComparisonView& view, std::vector<Line> lines) : view_(view), table_(std::move(lines)) {
    const PointTable& points = *view.points;
    table_.table().tone = table_.of([](const Line& line) { return line.pair == nullptr ? Tone::muted : Tone::plain; });
    add_verdict(points);
    add_side(view);
    add_number(
        {.key = "ratio", .title = text(msg::compare::ratio{}), .help = text(msg::compare::ratio_help{})},
        [](const ComparedPair& pair) { return pair.verdict.time.ratio; },
        [assumed = all_assumed()](const ComparedPair& pair) { return ratio_text(pair.verdict.time, !assumed); });
    add_settings(points);
    if (all_assumed()) common_.push_back(text(msg::compare::assumed_intervals{}));
    add_times(points);
    add_differences(points);
    add_factored(&DisplayColumns::add_tiles);
    for (std::size_t level = 0; level < compared_level_count; ++level)
      add_factored([level](DisplayColumns& columns) { columns.add_level(level); });
    add_factored([](DisplayColumns& columns) {
      columns.add_number(
          {.key = "rounds", .title = text(msg::compare::rounds{}), .help = text(msg::compare::rounds_help{})},
          [](const ComparedPair& pair) { return static_cast<double>(pair.verdict.rounds); },
          [](const ComparedPair& pair) { return fmt::to_string(pair.verdict.rounds); });
    });
    add_number(
        {.key = "cycles_ratio", .title = text(msg::compare::cycles{}), .help = text(msg::compare::cycles_help{})},
        [](const ComparedPair& pair) { return pair.verdict.cycles ? Number(pair.verdict.cycles->ratio) : Number(); },
        [assumed = all_assumed()](const ComparedPair& pair) { return ratio_text(*pair.verdict.cycles, !assumed); },
        nullptr, true);
    if (std::ranges::all_of(table_.lines(), [](const Line& line) { return line.left == nullptr; })) return;
    table_.add(
        {.key = "note", .title = text(msg::compare::note{}), .kind = ColumnKind::sentence},
        [&points](const Line& line) { return line.pair == nullptr ? skip_reason(points, *line.left) : Message(); });
  }
  FactoredTable take() && {
    FactoredTable result{std::move(table_).take()};
    if (!common_.empty())
      result.common = msg::compare::all_rows{.settings = fmt::format("{}", fmt::join(common_, "; "))};
    return result;
  }

 private:
  /// Adds a numeric column. `row`: the point that a cell links to. `optional`: omits the column if no pair has a value.
  void add_number(Column column, const PairNumber& number, std::function<std::string(const ComparedPair&)> words,
                  std::function<std::optional<Row>(const ComparedPair&)> row = nullptr, bool optional = false) {
    const auto line_function = [number](const Line& line) {
      return line.pair == nullptr ? Number() : number(*line.pair);
    };
    if (optional &&
        std::ranges::none_of(table_.lines(), [&](const Line& line) { return line_function(line).has_value(); })) {
      return;
    }
    column.kind = ColumnKind::number;
    column.number = table_.of(line_function);
    table_.add(std::move(column), [line_function, words = std::move(words), row = std::move(row)](const Line& line) {
      const Number found = line_function(line);
      if (!found) return Cell{};
      return Cell{.text = words(*line.pair), .number = found, .row = row ? row(*line.pair) : std::nullopt};
    });
  }

  void add_verdict(const PointTable& points) {
    const auto order = [](const Line& line) {
      return line.pair == nullptr ? Number() : Number(verdict_order(line.pair->verdict));
    };
    Column column{.key = "verdict", .title = text(msg::compare::verdict{}), .help = text(msg::compare::verdict_help{})};
    column.number = table_.of(order);
    column.tip = table_.of([&points](const Line& line) {
      if (line.pair == nullptr) return text(skip_reason(points, *line.left));
      const RowVerdict& row = line.pair->verdict;
      return text(msg::compare::verdict_tip{.change = fmt::format("{:.2g}", row.p_change),
                                            .rounds = row.rounds,
                                            .same = fmt::format("{:.2g}", row.p_same)});
    });
    column.tone = table_.of(
        [](const Line& line) { return line.pair == nullptr ? Tone::muted : tone_of(line.pair->verdict.verdict); });
    // One of all times is said once.
    const bool each = common_remark(points, table_.lines()).empty();
    table_.add(std::move(column), [order, &points, each](const Line& line) {
      if (line.pair == nullptr) return Cell{.text = text(msg::compare::not_compared{})};
      const std::string verdict = text(verdict_title(line.pair->verdict.verdict));
      const auto simulated = [&](Row row) { return is_simulated(points.points().origin(row)); };
      const bool remark = each && (simulated(line.pair->base.front()) || simulated(line.pair->other.front()));
      return Cell{.text = remark ? with_remark(verdict, title(Provenance::simulated)) : verdict, .number = order(line)};
    });
  }

  void add_side(const ComparisonView& view) {
    const std::vector<Line>& lines = table_.lines();
    if (std::ranges::all_of(lines, [&](const Line& line) { return line.side == lines.front().side; })) return;
    std::vector<std::string> names;
    for (const auto& side : view.sides) names.push_back(side->name);
    table_.add(
        {.key = "side", .title = text(msg::compare::other_side{}), .help = text(msg::compare::other_side_help{})},
        [names](const Line& line) { return Cell{.text = names[line.side], .number = static_cast<double>(line.side)}; });
  }

  /// Adds columns; one that has the same text in all pairs is listed as common to all rows instead.
  template <class Add>
  void add_factored(Add add) {
    std::vector<Column>& columns = table_.table().columns;
    const std::size_t before = columns.size();
    std::invoke(add, *this);
    if (columns.size() == before) return;
    const Column& column = columns.back();
    std::set<std::string> texts;
    for (std::size_t row = 0; row < table_.lines().size() && texts.size() < 2; ++row) {
      if (table_.lines()[row].pair != nullptr) texts.insert(column.cell(row).text);
    }
    if (texts.size() != 1) return;
    if (!texts.begin()->empty()) common_.push_back(fmt::format("{} {}", lower_label(column.title), *texts.begin()));
    columns.pop_back();
  }

  /// Returns whether all intervals are assumed, which is then said once.
  [[nodiscard]] bool all_assumed() const {
    return std::ranges::all_of(
        table_.lines(), [](const Line& line) { return line.pair == nullptr || line.pair->verdict.time.assumed; });
  }

  void add_settings(const PointTable& points) {
    SplitSettings settings = split_settings(points, table_.lines());
    for (Field& setting : settings.varying) {
      Column column = settings_column(points, setting, table_.lines().front().example());
      if (setting_number(points, setting, table_.lines().front().example())) {
        column.number =
            table_.of([&points, setting](const Line& line) { return setting_number(points, setting, line.example()); });
      }
      table_.add(std::move(column), [&points, setting = std::move(setting)](const Line& line) {
        return Cell{.text = setting_of_line(points, setting, line)};
      });
    }
    if (!settings.common.empty()) common_.push_back(std::move(settings.common));
    const auto pairs = std::ranges::count_if(table_.lines(), [](const Line& line) { return line.pair != nullptr; });
    const auto normalized = std::ranges::count_if(
        table_.lines(), [](const Line& line) { return line.pair != nullptr && line.pair->verdict.one_clock; });
    if (normalized == 0) return;
    common_.push_back(normalized == pairs ? text(msg::compare::normalized_times{})
                                          : text(msg::compare::normalized_in_rows{.rows = normalized}));
  }

  void add_differences(const PointTable& points) {
    const bool device = !have_equal_gpus(points, table_.lines());
    table_.add(
        {.key = "differs",
         .title = text(msg::compare::differs{}),
         .kind = ColumnKind::sentence,
         .help = text(msg::compare::differs_help{})},
        [&points, device](const Line& line) {
          return line.pair == nullptr ? std::string() : change_text(points, *line.pair, [device](std::string_view key) {
            return (device && key == device_difference) ||
                   std::ranges::find(other_differences, key) != other_differences.end();
          });
        });
  }

  void add_tiles() {
    const auto chosen = [](const Line& line) { return line.pair != nullptr && line.pair->tiles != no_choice; };
    const auto several = [](const Line& line) {
      return line.pair != nullptr && std::ranges::max(line.pair->tiles) > 1;
    };
    if (std::ranges::none_of(table_.lines(), several)) return;
    table_.add({.key = "tiles", .title = text(msg::compare::tiles{}), .help = text(msg::compare::tiles_help{})},
               [chosen](const Line& line) {
                 if (!chosen(line)) return std::string();
                 const auto& [base, other] = line.pair->tiles;
                 return text(msg::compare::best_of{.base = base, .other = other});
               });
  }

  void add_times(const PointTable& points) {
    const ValueColumn& times = points.values(metric_key::time_median_ns);
    const bool one_side = view_.sides.size() == 1;
    const std::string remark = common_remark(points, table_.lines());
    if (!remark.empty()) common_.push_back(text(msg::compare::all_times{.remark = remark}));
    const auto add = [&](const char* key, const Message& title, const std::string& name, const Message& help,
                         std::size_t side, std::vector<Row> ComparedPair::*rows) {
      constexpr std::size_t longest_title = 16;
      const bool named = one_side && name.size() <= longest_title;
      add_number(
          {.key = key, .title = named ? name : text(title), .help = text(help)},
          [side](const ComparedPair& pair) { return pair.compared_ns.at(side); },
          [&points, side, common = !remark.empty()](const ComparedPair& pair) {
            const std::string time = precise_text(pair.compared_ns.at(side));
            const std::string own = common ? std::string() : remark_of(points, pair, side == 1);
            return own.empty() ? time : with_remark(time, Message::verbatim(own));
          },
          [&times, side, rows](const ComparedPair& pair) -> std::optional<Row> {
            // A normalized time, or the median over an even number of recordings, is the time of none of them.
            const auto found = std::ranges::find(pair.*rows, std::optional(pair.compared_ns.at(side)),
                                                 [&](Row row) { return times.at(row); });
            return found == (pair.*rows).end() ? std::nullopt : std::optional(*found);
          });
    };
    const ComparedSide* side = view_.sides.empty() ? nullptr : view_.sides.front().get();
    add("baseline_ns", msg::compare::base_time{}, side == nullptr ? "" : side->base, msg::compare::base_time_help{}, 0,
        &ComparedPair::base);
    add("candidate_ns", msg::compare::other_time{}, side == nullptr ? "" : side->name, msg::compare::other_time_help{},
        1, &ComparedPair::other);
  }

  void add_level(std::size_t level) {
    const PairNumber ratio = [level](const ComparedPair& pair) { return pair.levels.at(level).ratio(); };
    const std::string_view metric = compared_levels()[level];
    const std::string title = metric_title(metric);
    Column column{.key = std::string(metric) + "_ratio",
                  .title = text(msg::compare::bytes{.level = title}),
                  .help = text(msg::compare::bytes_help{.level = title})};
    column.tip = table_.of([level](const Line& line) {
      if (line.pair == nullptr || !line.pair->levels.at(level).ratio()) return std::string();
      const ComparedLevel& bytes = line.pair->levels.at(level);
      return fmt::format("{} → {}", text(Bytes(*bytes.base)), text(Bytes(*bytes.other)));
    });
    add_number(
        std::move(column), ratio, [ratio](const ComparedPair& pair) { return fmt::format("{:.3f}", *ratio(pair)); },
        nullptr, true);
  }

  const ComparisonView& view_;
  TableBuilder<Line> table_;
  std::vector<std::string> common_;
};

/// `english`: for export.
Table table_of_differences(const ComparisonResult& result, bool english) {
  const auto text_of = [english](const Message& message) { return english ? english_text(message) : text(message); };
  const auto words = [text_of](const std::vector<Message>& values) {
    std::vector<std::string> all;
    all.reserve(values.size());
    for (const Message& value : values) all.push_back(text_of(value));
    return fmt::format("{}", fmt::join(all, ", "));
  };
  TableBuilder<Difference> table(result.differences);
  table.add({.key = "what", .title = text(msg::compare::what{})},
            [text_of](const Difference& each) { return text_of(each.name); });
  table.add({.key = "baseline", .title = text(msg::compare::baseline{})},
            [words](const Difference& each) { return words(each.base); });
  table.add({.key = "candidate", .title = text(msg::compare::candidate_time_label{})},
            [words](const Difference& each) { return words(each.other); });
  const auto rows = [all = result.pairs.size()](const Difference& each) {
    return each.rows == 0 ? Cell{} : Cell{.text = fmt::format("{}/{}", each.rows, all)};
  };
  table.add({.key = "rows", .title = text(msg::compare::rows{})}, rows);
  return std::move(table).take();
}

/// A point of the baseline and its pair of each candidate; null if the candidate has none.
struct CandidateRow {
  Row base = 0;
  std::vector<const ComparedPair*> pairs;

  [[nodiscard]] const ComparedPair& first() const {
    return **std::ranges::find_if(pairs, [](const ComparedPair* pair) { return pair != nullptr; });
  }
  [[nodiscard]] double order() const {
    double least = std::numeric_limits<double>::infinity();
    for (const ComparedPair* pair : pairs) {
      if (pair != nullptr) least = std::min(least, verdict_order(pair->verdict));
    }
    return least;
  }
};

std::vector<CandidateRow> candidate_rows(const ComparisonView& view) {
  std::map<Row, CandidateRow> rows;
  for (std::size_t side = 0; side < view.sides.size(); ++side) {
    for (const ComparedPair& pair : view.sides[side]->result.pairs) {
      CandidateRow& row = rows[pair.base.front()];
      row.base = pair.base.front();
      row.pairs.resize(view.sides.size());
      row.pairs[side] = &pair;
    }
  }
  std::vector<CandidateRow> sorted;
  sorted.reserve(rows.size());
  for (auto& [base, row] : rows) sorted.push_back(std::move(row));
  std::ranges::stable_sort(sorted, {}, &CandidateRow::order);
  return sorted;
}

template <class Holds>
bool hold_for_all(const std::vector<CandidateRow>& rows, Holds holds) {
  return std::ranges::all_of(rows, [&](const CandidateRow& row) {
    return std::ranges::all_of(row.pairs, [&](const ComparedPair* pair) { return pair == nullptr || holds(*pair); });
  });
}

}  // namespace

double verdict_order(const RowVerdict& row) {
  const double change = std::atan(std::log(row.time.ratio)) / std::numbers::pi;  // within (-0.5, 0.5)
  switch (row.verdict) {
    case Verdict::slower:
      return -change;
    case Verdict::faster:
      return 1 + change;
    case Verdict::ambiguous:
      return 2 - change;
    case Verdict::same:
      break;
  }
  return 3 - std::abs(change);
}

FactoredTable comparison_table(const ComparisonView& view, std::vector<ComparisonLine> lines) {
  return DisplayColumns(view, std::move(lines)).take();
}

Table difference_table(const ComparisonResult& result) {
  return table_of_differences(result, false);
}

Table difference_data(const ComparisonResult& result) {
  return table_of_differences(result, true);
}

Table skipped_table(const ComparisonView& view) {
  const PointTable& points = *view.points;
  std::vector<SkippedRows> all;
  for (const auto& side : view.sides) {
    std::ranges::copy_if(side->result.left_out, std::back_inserter(all), &SkippedRows::is_listed);
  }
  TableBuilder<SkippedRows> table(std::move(all));
  table.add({.key = "side", .title = text(msg::compare::side{})}, side_title);
  table.add({.key = "point", .title = text(msg::compare::point{}), .kind = ColumnKind::sentence},
            [&points](const SkippedRows& left) {
              return Cell{.text = describe(points.spec(left.rows.front())), .row = left.rows.front()};
            });
  table.add({.key = "points", .title = text(msg::compare::points{})},
            [](const SkippedRows& left) { return static_cast<double>(left.rows.size()); });
  table.add({.key = "why", .title = text(msg::compare::why{}), .kind = ColumnKind::sentence},
            [&points](const SkippedRows& left) { return skip_reason(points, left); });
  return std::move(table).take();
}

Table skipped_summary(const ComparisonView& view) {
  std::map<std::pair<std::string, std::string>, double> points;
  for (const auto& compared : view.sides) {
    for (const SkippedRows& left : compared->result.left_out) {
      if (!left.is_listed()) continue;
      // Reasons of failed points contain their sizes.
      const Disposition end = view.points->disposition(left.rows.front());
      const Message why = has_values(end) ? skip_reason(*view.points, left) : title(end);
      points[{text(side_title(left)), text(why)}] += static_cast<double>(left.rows.size());
    }
  }
  using Reason = decltype(points)::value_type;
  TableBuilder<Reason> table({points.begin(), points.end()});
  table.add({.key = "points", .title = text(msg::compare::points{})}, [](const Reason& each) { return each.second; });
  table.add({.key = "side", .title = text(msg::compare::side{})}, [](const Reason& each) { return each.first.first; });
  table.add({.key = "why", .title = text(msg::compare::why{}), .kind = ColumnKind::sentence},
            [](const Reason& each) { return each.first.second; });
  return std::move(table).take();
}

Table answer_table(const ComparisonView& view) {
  TableBuilder<ComparisonAnswer> table(view.answers);
  table.add({.key = "algorithm", .title = text(msg::compare::answer_of{})}, [](const ComparisonAnswer& answer) {
    if (answer.algorithm.empty()) return text(msg::compare::answer_all{});
    return answer.algorithm + " " + std::string(to_string(answer.pass));
  });
  table.add({.key = "points", .title = text(msg::compare::points{})},
            [](const ComparisonAnswer& answer) { return static_cast<double>(answer.points); });
  table.add({.key = "problems", .title = text(msg::compare::problems{})},
            [](const ComparisonAnswer& answer) { return static_cast<double>(answer.problems); });
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    table.add({.key = std::string(to_string(verdict)), .title = text(verdict_title(verdict))},
              [verdict](const ComparisonAnswer& answer) {
                return static_cast<double>(answer.verdicts.at(static_cast<std::size_t>(verdict)));
              });
  }
  table.add({.key = "mean_ratio",
             .title = text(msg::compare::mean_ratio{}),
             .kind = ColumnKind::number,
             .help = text(msg::compare::mean_ratio_help{})},
            [](const ComparisonAnswer& answer) {
              return Cell{.text = ratio_text(answer.mean), .number = answer.mean.ratio};
            });
  const std::array<std::pair<Message, Message>, change_columns.size() - 1> titles{
      {{msg::compare::slower_by{}, msg::compare::by_help{}},
       {msg::compare::faster_by{}, msg::compare::by_help{}},
       {msg::compare::detectable{}, msg::compare::detectable_help{}}}};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    table.add({.key = change_columns[i].first,
               .title = text(titles[i].first),
               .kind = ColumnKind::number,
               .help = text(titles[i].second)},
              [change = change_columns[i].second](const ComparisonAnswer& answer) {
                const double value = answer.*change;
                return value > 0 ? Cell{.text = text(Share(value)), .number = value} : Cell{};
              });
  }
  Table finished = std::move(table).take();
  finished.drop_empty_columns();
  return finished;
}

FactoredTable candidates_table(const ComparisonView& view) {
  const PointTable& points = *view.points;
  TableBuilder<CandidateRow> table(candidate_rows(view));
  const std::vector<CandidateRow>& rows = table.lines();
  std::vector<Row> bases;
  bases.reserve(rows.size());
  for (const CandidateRow& row : rows) bases.push_back(row.base);
  const SplitSettings settings = split_settings(points, bases);
  std::vector<std::string> common;
  if (!settings.common.empty()) common.push_back(settings.common);
  for (const Field& setting : settings.varying) {
    table.add(settings_column(points, setting, bases.front()), [&points, setting](const CandidateRow& row) {
      return Cell{.text = setting_text(points, setting, row.base), .number = setting_number(points, setting, row.base)};
    });
  }
  table.add({.key = "baseline_ns",
             .title = view.sides.empty() ? text(msg::compare::base_time{}) : view.sides.front()->base,
             .kind = ColumnKind::number},
            [](const CandidateRow& row) {
              return Cell{.text = precise_text(row.first().base_ns), .number = row.first().base_ns, .row = row.base};
            });
  const bool assumed = hold_for_all(rows, [](const ComparedPair& pair) { return pair.verdict.time.assumed; });
  if (assumed) common.push_back(text(msg::compare::assumed_intervals{}));
  if (hold_for_all(rows, [](const ComparedPair& pair) { return pair.verdict.one_clock; }))
    common.push_back(text(msg::compare::normalized_ratios{}));
  for (std::size_t side = 0; side < view.sides.size(); ++side) {
    Column column{
        .key = fmt::format("ratio_{}", side + 1), .title = view.sides[side]->name, .kind = ColumnKind::number};
    column.tone = table.of([side](const CandidateRow& row) {
      return row.pairs[side] == nullptr ? Tone::plain : tone_of(row.pairs[side]->verdict.verdict);
    });
    table.add(std::move(column), [side, assumed](const CandidateRow& row) {
      const ComparedPair* pair = row.pairs[side];
      if (pair == nullptr) return Cell{.text = "–"};
      const RowVerdict& row_verdict = pair->verdict;
      return Cell{.text = fmt::format("{} {}", ratio_text(row_verdict.time, !assumed),
                                      text(verdict_title(row_verdict.verdict))),
                  .number = row_verdict.time.ratio};
    });
  }
  FactoredTable factored{std::move(table).take()};
  if (!common.empty()) factored.common = msg::compare::all_rows{.settings = fmt::format("{}", fmt::join(common, "; "))};
  return factored;
}

Table candidates_data(const ComparisonView& view) {
  const PointTable& points = *view.points;
  using Number = std::optional<double>;
  TableBuilder<CandidateRow> table(candidate_rows(view));
  table.add({.key = "baseline_point"}, [&points](const CandidateRow& row) { return describe(points.spec(row.base)); });
  table.add({.key = "baseline_ns"}, [](const CandidateRow& row) { return row.first().base_ns; });
  for (std::size_t side = 0; side < view.sides.size(); ++side) {
    const auto number = [&](const char* key, auto value) {
      table.add({.key = fmt::format("{}_{}", key, side + 1)}, [side, value](const CandidateRow& row) {
        const ComparedPair* pair = row.pairs[side];
        return pair == nullptr || pair->verdict.time.unknown ? Number() : Number(value(pair->verdict.time));
      });
    };
    number("ratio", [](const RatioInterval& time) { return time.ratio; });
    number("ratio_low", [](const RatioInterval& time) { return time.interval.low; });
    number("ratio_high", [](const RatioInterval& time) { return time.interval.high; });
    table.add({.key = fmt::format("verdict_{}", side + 1)}, [side](const CandidateRow& row) {
      const ComparedPair* pair = row.pairs[side];
      return pair == nullptr ? std::string_view() : to_string(pair->verdict.verdict);
    });
  }
  return std::move(table).take();
}

}  // namespace attnscope::analysis
