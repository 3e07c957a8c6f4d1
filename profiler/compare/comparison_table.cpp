// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "messages/compare.h"
#include "profiler/compare/comparison_words.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/command_text.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis {
namespace {

using Line = ComparisonLine;
using Number = std::optional<double>;

int rank_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return 0;
    case Verdict::faster:
      return 1;
    case Verdict::ambiguous:
      return 2;
    case Verdict::same:
      break;
  }
  return 3;
}

/// In what the other point differs from the baseline's, as axes.
std::string differs_in(const PointTable& points, const ComparedPair& pair) {
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  const std::vector<std::string> known = axis_texts(points.spec(base));
  std::vector<std::string> words = axis_texts(points.spec(other));
  std::erase_if(words, [&](const std::string& word) { return std::ranges::find(known, word) != known.end(); });
  if (points.run(base).device_name != points.run(other).device_name) words.push_back(points.run(other).device_name);
  return fmt::format("{}", fmt::join(words, " "));
}

/// What sets a side's time apart from one that a GPU took at its own clocks: "simulated", "throttled"; else nothing.
std::string remark_of(const PointTable& points, const std::vector<Row>& rows) {
  std::vector<std::string> words;
  const Provenance origin = points.points().origin(rows.front());
  if (origin != Provenance::measured) words.push_back(text(title(origin)));
  if (std::ranges::any_of(rows, [&](Row row) { return points.throttled(row); })) {
    words.push_back(text(say::compare::throttled{}));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Columns for people.
class PeopleColumns {
 public:
  PeopleColumns(std::vector<Line> lines, ComparisonOf of) : of_(std::move(of)), table_(std::move(lines)) {
    table_.table().tone = table_.of([](const Line& line) { return line.pair == nullptr ? Tone::muted : Tone::plain; });
    add_verdict();
    add_points();
    add_number(
        {.key = "ratio", .title = text(say::compare::ratio{}), .help = text(say::compare::ratio_help{})},
        [](const ComparedPair& pair) { return pair.verdict.time.ratio; },
        [](const ComparedPair& pair) { return ratio_text(pair.verdict.time); });
    add_side();
    add_times();
    for (std::size_t level = 0; level < compared_level_count; ++level) add_level(level);
    add_number(
        {.key = "rounds", .title = text(say::compare::rounds{}), .help = text(say::compare::rounds_help{})},
        [](const ComparedPair& pair) { return static_cast<double>(pair.verdict.rounds); },
        [](const ComparedPair& pair) { return fmt::to_string(pair.verdict.rounds); });
    table_.add({.key = "note",
                .title = text(say::compare::note{}),
                .kind = ColumnKind::sentence,
                .help = text(say::compare::note_help{})},
               [of = of_](const Line& line) {
                 return line.pair == nullptr ? left_out_words(*of.points, *line.left)
                                             : settling_words(*of.points, *line.pair, of.margin);
               });
  }
  Table take() && { return std::move(table_).take(); }

 private:
  using PairNumber = std::function<Number(const ComparedPair&)>;
  using PairText = std::function<std::string(const ComparedPair&)>;
  using PairRow = std::function<Row(const ComparedPair&)>;

  /// `row`: the point that the number is of, where it is one's.
  void add_number(Column column, const PairNumber& number, PairText words, PairRow row = nullptr) {
    column.kind = ColumnKind::number;
    column.number =
        table_.of([number](const Line& line) { return line.pair == nullptr ? Number() : number(*line.pair); });
    table_.add(std::move(column), [number, words = std::move(words), row = std::move(row)](const Line& line) {
      const Number found = line.pair == nullptr ? Number() : number(*line.pair);
      if (!found) return Cell{};
      return Cell{
          .text = words(*line.pair), .number = found, .row = row ? std::optional(row(*line.pair)) : std::nullopt};
    });
  }

  [[nodiscard]] bool any(const PairNumber& number) const {
    return std::ranges::any_of(
        table_.lines(), [&](const Line& line) { return line.pair != nullptr && number(*line.pair).has_value(); });
  }

  void add_verdict() {
    const auto order = [](const Line& line) {
      return line.pair == nullptr ? Number() : Number(verdict_order(line.pair->verdict));
    };
    Column column{.key = "verdict", .title = text(say::compare::verdict{}), .help = text(say::compare::verdict_help{})};
    column.number = table_.of(order);
    column.tip = table_.of([of = of_](const Line& line) {
      if (line.pair == nullptr) return text(left_out_words(*of.points, *line.left));
      const RowVerdict& row = line.pair->verdict;
      return text(say::compare::verdict_tip{.rounds = row.rounds,
                                            .change = fmt::format("{:.2g}", row.p_change),
                                            .same = fmt::format("{:.2g}", row.p_same)});
    });
    column.tone = table_.of([](const Line& line) {
      if (line.pair == nullptr || line.pair->verdict.verdict == Verdict::ambiguous) return Tone::muted;
      if (line.pair->verdict.verdict == Verdict::same) return Tone::plain;
      return line.pair->verdict.verdict == Verdict::faster ? Tone::better : Tone::worse;
    });
    table_.add(std::move(column), [order, of = of_](const Line& line) {
      if (line.pair == nullptr) return Cell{.text = text(say::compare::not_compared{}), .number = order(line)};
      const std::string verdict = text(verdict_title(line.pair->verdict.verdict));
      const auto simulated = [&](const std::vector<Row>& rows) {
        return is_simulated(of.points->points().origin(rows.front()));
      };
      if (simulated(line.pair->base) || simulated(line.pair->other)) {  // it is no verdict on a GPU
        return Cell{.text = text(say::compare::with_remark{.what = verdict, .remark = title(Provenance::simulated)}),
                    .number = order(line)};
      }
      return Cell{.text = verdict, .number = order(line)};
    });
  }

  void add_points() {
    table_.add({.key = "point", .title = text(say::compare::point{}), .kind = ColumnKind::sentence},
               [of = of_](const Line& line) {
                 const bool of_other = line.pair == nullptr && line.left->of_other;
                 return describe(of.points->spec(*line.point(of_other)));
               });
    table_.add({.key = "against", .title = text(say::compare::against{})}, [of = of_](const Line& line) {
      return line.pair == nullptr ? std::string() : differs_in(*of.points, *line.pair);
    });
  }

  void add_side() {
    const std::vector<Line>& lines = table_.lines();
    const auto alike = [&](const Line& line) { return line.other == lines.front().other; };
    if (std::ranges::all_of(lines, alike)) return;
    table_.add(
        {.key = "side", .title = text(say::compare::other_side{}), .help = text(say::compare::other_side_help{})},
        [of = of_](const Line& line) {
          return Cell{.text = of.others[line.other], .number = static_cast<double>(line.other)};
        });
  }

  /// The median time of one side. That it was not measured, or at throttled clocks, stands beside it.
  void add_time(Column column, double ComparedPair::*ns, std::vector<Row> ComparedPair::*rows) {
    add_number(
        std::move(column), [ns](const ComparedPair& pair) { return pair.*ns; },
        [of = of_, ns, rows](const ComparedPair& pair) {
          const std::string time = text(Nanoseconds(pair.*ns));
          const std::string remark = remark_of(*of.points, pair.*rows);
          return remark.empty() ? time : text(say::compare::with_remark{.what = time, .remark = remark});
        },
        [rows](const ComparedPair& pair) { return (pair.*rows).front(); });
  }

  void add_times() {
    add_time({.key = "base_ns", .title = text(say::compare::base_time{}), .help = text(say::compare::base_time_help{})},
             &ComparedPair::base_ns, &ComparedPair::base);
    add_time(
        {.key = "other_ns", .title = text(say::compare::other_time{}), .help = text(say::compare::other_time_help{})},
        &ComparedPair::other_ns, &ComparedPair::other);
    const PairNumber cycles = [](const ComparedPair& pair) {
      return pair.verdict.cycles ? Number(pair.verdict.cycles->ratio) : Number();
    };
    if (!any(cycles)) return;
    add_number(
        {.key = "cycles_ratio", .title = text(say::compare::cycles{}), .help = text(say::compare::cycles_help{})},
        cycles, [](const ComparedPair& pair) { return ratio_text(*pair.verdict.cycles); });
  }

  void add_level(std::size_t level) {
    const PairNumber ratio = [level](const ComparedPair& pair) { return pair.levels.at(level).ratio(); };
    if (!any(ratio)) return;
    const std::string_view metric = compared_levels()[level];
    const std::string title = metric_title(metric);
    Column column{.key = std::string(metric) + "_ratio",
                  .title = text(say::compare::bytes{.level = title}),
                  .help = text(say::compare::bytes_help{.level = title})};
    column.tip = table_.of([level](const Line& line) {
      if (line.pair == nullptr || !line.pair->levels.at(level).ratio()) return std::string();
      const ComparedLevel& bytes = line.pair->levels.at(level);
      return fmt::format("{} → {}", text(Bytes(*bytes.base)), text(Bytes(*bytes.other)));
    });
    add_number(std::move(column), ratio,
               [ratio](const ComparedPair& pair) { return fmt::format("{:.3f}", *ratio(pair)); });
  }

  ComparisonOf of_;
  TableOf<Line> table_;
};

/// Columns for programs.
class ProgramColumns {
 public:
  ProgramColumns(std::vector<Line> lines, const PointTable& points) : points_(points), table_(std::move(lines)) {}

  template <class Said>
  void sides(const char* what, Said said) {
    for (const bool of_other : {false, true}) {
      table_.add({.key = fmt::format("{}_{}", of_other ? "other" : "base", what)},
                 [&points = points_, said, of_other](const Line& line) {
                   const std::optional<Row> row = line.point(of_other);
                   return row ? std::string(said(points, *row)) : std::string();
                 });
    }
  }
  void number(std::string key, std::function<Number(const ComparedPair&)> value) {
    table_.add({.key = std::move(key)}, [value = std::move(value)](const Line& line) {
      return line.pair == nullptr ? Number() : value(*line.pair);
    });
  }
  template <class Said>
  void word(const char* key, Said said) {
    table_.add({.key = key}, [said](const Line& line) {
      return line.pair == nullptr ? std::string() : std::string(said(*line.pair));
    });
  }
  template <class Said>
  void of_left(const char* key, Said said) {
    table_.add({.key = key}, [said](const Line& line) {
      return line.left == nullptr ? std::string() : std::string(said(*line.left));
    });
  }
  void interval(const std::string& ratio, const std::string& bounds,
                const std::function<std::optional<RatioInterval>(const RowVerdict&)>& of) {
    const auto add = [&](const std::string& key, auto part) {
      number(key, [of, part](const ComparedPair& pair) {
        const std::optional<RatioInterval> found = of(pair.verdict);
        return found ? Number(part(*found)) : Number();
      });
    };
    add(ratio, [](const RatioInterval& found) { return found.ratio; });
    add(bounds + "_low", [](const RatioInterval& found) { return found.interval.low; });
    add(bounds + "_high", [](const RatioInterval& found) { return found.interval.high; });
  }
  Table take() && { return std::move(table_).take(); }

 private:
  const PointTable& points_;
  TableOf<Line> table_;
};

void add_judgement(ProgramColumns& columns) {
  columns.number("base_ns", [](const ComparedPair& pair) { return pair.base_ns; });
  columns.number("other_ns", [](const ComparedPair& pair) { return pair.other_ns; });
  columns.interval("ratio", "ratio", [](const RowVerdict& row) { return row.time; });
  columns.number("base_cycles", [](const ComparedPair& pair) { return pair.base_cycles; });
  columns.number("other_cycles", [](const ComparedPair& pair) { return pair.other_cycles; });
  columns.interval("cycles_ratio", "cycles", [](const RowVerdict& row) { return row.cycles; });
  columns.number("rounds", [](const ComparedPair& pair) { return static_cast<double>(pair.verdict.rounds); });
  columns.number("recordings", [](const ComparedPair& pair) { return static_cast<double>(pair.recordings); });
  columns.word("interleaved", [](const ComparedPair& pair) { return pair.paired ? "yes" : "no"; });
  columns.word("floor", [](const ComparedPair& pair) { return to_string(pair.verdict.floor); });
  columns.word("one_clock", [](const ComparedPair& pair) { return pair.verdict.one_clock ? "yes" : "no"; });
  columns.number("clock_shift", [](const ComparedPair& pair) {
    return pair.verdict.one_clock ? Number(std::expm1(pair.verdict.clock_shift)) : Number();
  });
  columns.number("spread", [](const ComparedPair& pair) {
    return pair.verdict.spread > 0 ? Number(pair.verdict.spread) : Number();
  });
  columns.number("p_change", [](const ComparedPair& pair) { return pair.verdict.p_change; });
  columns.number("p_same", [](const ComparedPair& pair) { return pair.verdict.p_same; });
  columns.word("verdict", [](const ComparedPair& pair) { return to_string(pair.verdict.verdict); });
  columns.word("undecided", [](const ComparedPair& pair) { return to_string(pair.verdict.undecided); });
  columns.number("rounds_needed", [](const ComparedPair& pair) {
    const auto& needed = pair.verdict.rounds_needed;
    return needed ? Number(static_cast<double>(*needed)) : Number();
  });
}

}  // namespace

std::optional<Row> ComparisonLine::point(bool of_other) const {
  if (pair != nullptr) return of_other ? pair->other.front() : pair->base.front();
  return left->of_other == of_other ? std::optional(left->rows[member]) : std::nullopt;
}

void add_pairs(std::vector<ComparisonLine>& lines, const ComparisonResult& result, std::size_t other) {
  for (const ComparedPair& pair : result.pairs) lines.push_back({.other = other, .pair = &pair});
}

void add_left_out(std::vector<ComparisonLine>& lines, const ComparisonResult& result, std::size_t other,
                  bool each_row) {
  for (const LeftOut& left : result.left_out) {
    const std::size_t members = each_row ? left.rows.size() : 1;
    for (std::size_t member = 0; member < members; ++member) {
      lines.push_back({.other = other, .left = &left, .member = member});
    }
  }
}

double verdict_order(const RowVerdict& row) {
  const double change = std::atan(std::log(row.time.ratio)) / std::numbers::pi;  // within half of 0
  const double within = row.verdict == Verdict::faster ? change
                        : row.verdict == Verdict::same ? -std::abs(change)
                                                       : -change;
  return rank_of(row.verdict) + within;
}

Table comparison_table(std::vector<ComparisonLine> lines, const ComparisonOf& of) {
  return PeopleColumns(std::move(lines), of).take();
}

Table comparison_data(std::vector<ComparisonLine> lines, const ComparisonOf& of, std::span<const std::string> files) {
  ProgramColumns columns(std::move(lines), *of.points);
  columns.sides("file", [files](const PointTable& points, Row row) { return files[points.run_index(row)]; });
  columns.sides("run", [](const PointTable& points, Row row) { return points.run(row).title; });
  columns.sides("device", [](const PointTable& points, Row row) { return points.run(row).device_name; });
  columns.sides("point", [](const PointTable& points, Row row) { return describe(points.spec(row)); });
  columns.sides("provenance",
                [](const PointTable& points, Row row) { return attnscope::to_string(points.points().origin(row)); });
  add_judgement(columns);
  columns.word("settle", [of](const ComparedPair& pair) { return text(settling_words(*of.points, pair, of.margin)); });
  columns.of_left("left_out", [](const LeftOut& left) { return to_string(left.why); });
  columns.of_left("reason", [of](const LeftOut& left) { return text(left_out_words(*of.points, left)); });
  for (std::size_t level = 0; level < compared_level_count; ++level) {
    const std::string key(compared_levels()[level]);
    columns.number("base_" + key, [level](const ComparedPair& pair) { return pair.levels.at(level).base; });
    columns.number("other_" + key, [level](const ComparedPair& pair) { return pair.levels.at(level).other; });
    columns.number("ratio_" + key, [level](const ComparedPair& pair) { return pair.levels.at(level).ratio(); });
  }
  return std::move(columns).take();
}

Table difference_table(const ComparisonResult& result) {
  TableOf<Difference> table(result.differences);
  table.add({.key = "what", .title = text(say::compare::what{})},
            [](const Difference& each) { return text(each.name); });
  table.add({.key = "base", .title = text(say::compare::baseline{})},
            [](const Difference& each) { return words_of(each.base); });
  table.add({.key = "other", .title = text(say::compare::other{})},
            [](const Difference& each) { return words_of(each.other); });
  return std::move(table).take();
}

Table difference_data(const ComparisonResult& result) {
  const auto english = [](const std::vector<Message>& values) {
    std::string words;
    for (const Message& value : values) words += (words.empty() ? "" : ", ") + english_text(value);
    return words;
  };
  TableOf<Difference> table(result.differences);
  table.add({.key = "what"}, [](const Difference& each) { return english_text(each.name); });
  table.add({.key = "base"}, [english](const Difference& each) { return english(each.base); });
  table.add({.key = "other"}, [english](const Difference& each) { return english(each.other); });
  return std::move(table).take();
}

Table left_out_table(const PointTable& points, const ComparisonResult& result) {
  TableOf<LeftOut> table(result.left_out);
  table.add({.key = "side", .title = text(say::compare::side{})}, [](const LeftOut& left) {
    return left.of_other ? Message(say::compare::other{}) : say::compare::baseline{};
  });
  table.add({.key = "point", .title = text(say::compare::point{}), .kind = ColumnKind::sentence},
            [&points](const LeftOut& left) {
              return Cell{.text = describe(points.spec(left.rows.front())), .row = left.rows.front()};
            });
  table.add({.key = "points", .title = text(say::compare::points{})},
            [](const LeftOut& left) { return static_cast<double>(left.rows.size()); });
  table.add({.key = "why", .title = text(say::compare::why{}), .kind = ColumnKind::sentence},
            [&points](const LeftOut& left) { return left_out_words(points, left); });
  return std::move(table).take();
}

}  // namespace attnscope::analysis
