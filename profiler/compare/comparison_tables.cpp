// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "messages/compare.h"
#include "messages/difference.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

using Line = ComparisonLine;
using Number = std::optional<double>;
using PairNumber = std::function<Number(const ComparedPair&)>;

constexpr std::array<std::size_t, 2> no_choice{};

/// Returns "tile 128x64 → 64x64; stages 2 → 3". `device`: with the GPU.
std::string change_text(const PointTable& points, const ComparedPair& pair, bool device) {
  std::vector<std::string> words;
  for (const PointDifference& each : point_differences(points, pair)) {
    if (!device && each.key == device_difference) continue;
    words.push_back(text(msg::difference::change{.base = each.base, .name = each.name, .other = each.other}));
  }
  return fmt::format("{}", fmt::join(words, "; "));
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

/// Returns the time with its provenance unless measured, and "throttled" if it was.
std::string time_text(const PointTable& points, double ns, const std::vector<Row>& rows) {
  std::vector<std::string> remarks;
  const Provenance origin = points.points().origin(rows.front());
  if (origin != Provenance::measured) remarks.push_back(text(title(origin)));
  if (std::ranges::any_of(rows, [&](Row row) { return points.throttled(row); })) {
    remarks.push_back(text(msg::compare::throttled{}));
  }
  const std::string time = text(Nanoseconds(ns));
  return remarks.empty() ? time : with_remark(time, Message::verbatim(fmt::format("{}", fmt::join(remarks, ", "))));
}

class DisplayColumns {
 public:
  DisplayColumns(const ComparisonView& view, std::vector<Line> lines) : table_(std::move(lines)) {
    const PointTable& points = *view.points;
    const double margin = view.margin;
    table_.table().tone = table_.of([](const Line& line) { return line.pair == nullptr ? Tone::muted : Tone::plain; });
    add_verdict(points);
    table_.add({.key = "point", .title = text(msg::compare::point{}), .kind = ColumnKind::sentence},
               [&points](const Line& line) {
                 const bool of_other = line.pair == nullptr && line.left->of_other;
                 return describe(points.spec(*line.point(of_other)));
               });
    add_side(view);
    add_number(
        {.key = "ratio", .title = text(msg::compare::ratio{}), .help = text(msg::compare::ratio_help{})},
        [](const ComparedPair& pair) { return pair.verdict.time.ratio; },
        [](const ComparedPair& pair) { return ratio_text(pair.verdict.time); });
    const bool device = !have_equal_gpus(points, table_.lines());
    table_.add({.key = "differs",
                .title = text(msg::compare::differs{}),
                .kind = ColumnKind::sentence,
                .help = text(msg::compare::differs_help{})},
               [&points, device](const Line& line) {
                 return line.pair == nullptr ? std::string() : change_text(points, *line.pair, device);
               });
    add_tiles();
    add_times(points);
    for (std::size_t level = 0; level < compared_level_count; ++level) add_level(level);
    add_number(
        {.key = "rounds", .title = text(msg::compare::rounds{}), .help = text(msg::compare::rounds_help{})},
        [](const ComparedPair& pair) { return static_cast<double>(pair.verdict.rounds); },
        [](const ComparedPair& pair) { return fmt::to_string(pair.verdict.rounds); });
    table_.add({.key = "note",
                .title = text(msg::compare::note{}),
                .kind = ColumnKind::sentence,
                .help = text(msg::compare::note_help{})},
               [&points, margin](const Line& line) {
                 return line.pair == nullptr ? skip_reason(points, *line.left)
                                             : undecided_note(points, *line.pair, margin);
               });
  }
  Table take() && { return std::move(table_).take(); }

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
    column.tone = table_.of([](const Line& line) {
      if (line.pair == nullptr || line.pair->verdict.verdict == Verdict::ambiguous) return Tone::muted;
      if (line.pair->verdict.verdict == Verdict::same) return Tone::plain;
      return line.pair->verdict.verdict == Verdict::faster ? Tone::better : Tone::worse;
    });
    table_.add(std::move(column), [order, &points](const Line& line) {
      if (line.pair == nullptr) return Cell{.text = text(msg::compare::not_compared{})};
      const std::string verdict = text(verdict_title(line.pair->verdict.verdict));
      const auto simulated = [&](Row row) { return is_simulated(points.points().origin(row)); };
      const bool remark = simulated(line.pair->base.front()) || simulated(line.pair->other.front());
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

  void add_tiles() {
    const auto chosen = [](const Line& line) { return line.pair != nullptr && line.pair->tiles != no_choice; };
    if (std::ranges::none_of(table_.lines(), chosen)) return;
    table_.add({.key = "tiles", .title = text(msg::compare::tiles{}), .help = text(msg::compare::tiles_help{})},
               [chosen](const Line& line) {
                 if (!chosen(line)) return std::string();
                 const auto& [base, other] = line.pair->tiles;
                 return text(msg::compare::best_of{.base = base, .other = other});
               });
  }

  void add_times(const PointTable& points) {
    const ValueColumn& times = points.values(metric_key::time_median_ns);
    const auto add = [&](Column column, double ComparedPair::*ns, std::vector<Row> ComparedPair::*rows) {
      add_number(
          std::move(column), [ns](const ComparedPair& pair) { return pair.*ns; },
          [&points, ns, rows](const ComparedPair& pair) { return time_text(points, pair.*ns, pair.*rows); },
          [&times, ns, rows](const ComparedPair& pair) -> std::optional<Row> {
            // The median over an even number of recordings is the time of none of them.
            const auto found =
                std::ranges::find(pair.*rows, std::optional(pair.*ns), [&](Row row) { return times.at(row); });
            return found == (pair.*rows).end() ? std::nullopt : std::optional(*found);
          });
    };
    add({.key = "baseline_ns", .title = text(msg::compare::base_time{}), .help = text(msg::compare::base_time_help{})},
        &ComparedPair::base_ns, &ComparedPair::base);
    add({.key = "candidate_ns",
         .title = text(msg::compare::other_time{}),
         .help = text(msg::compare::other_time_help{})},
        &ComparedPair::other_ns, &ComparedPair::other);
    add_number(
        {.key = "cycles_ratio", .title = text(msg::compare::cycles{}), .help = text(msg::compare::cycles_help{})},
        [](const ComparedPair& pair) { return pair.verdict.cycles ? Number(pair.verdict.cycles->ratio) : Number(); },
        [](const ComparedPair& pair) { return ratio_text(*pair.verdict.cycles); }, nullptr, true);
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

  TableBuilder<Line> table_;
};

/// Columns of exported data. Cells of pairs are empty for excluded rows and vice versa.
struct ExportColumns {
  TableBuilder<Line> table;

  template <class Value>
  void side(const char* what, Value value) {
    for (const bool of_other : {false, true}) {
      table.add({.key = fmt::format("{}_{}", of_other ? "candidate" : "baseline", what)},
                [value, of_other](const Line& line) {
                  const std::optional<Row> row = line.point(of_other);
                  return row ? std::string(value(*row)) : std::string();
                });
    }
  }
  void number(std::string key, PairNumber value) {
    table.add({.key = std::move(key)}, [value = std::move(value)](const Line& line) {
      return line.pair == nullptr ? Number() : value(*line.pair);
    });
  }
  template <class Value>
  void word(const char* key, Value value) {
    table.add({.key = key}, [value](const Line& line) {
      return line.pair == nullptr ? std::string() : std::string(value(*line.pair));
    });
  }
  template <class Value>
  void reason(const char* key, Value value) {
    table.add({.key = key}, [value](const Line& line) {
      return line.left == nullptr ? std::string() : std::string(value(*line.left));
    });
  }
  template <class Of>
  void interval(const std::string& ratio, const std::string& bounds, Of of) {
    const auto add = [&](const std::string& key, auto part) {
      number(key, [of, part](const ComparedPair& pair) {
        const std::optional<RatioInterval> found = of(pair.verdict);
        return found && !found->unknown ? Number(part(*found)) : Number();
      });
    };
    add(ratio, [](const RatioInterval& found) { return found.ratio; });
    add(bounds + "_low", [](const RatioInterval& found) { return found.interval.low; });
    add(bounds + "_high", [](const RatioInterval& found) { return found.interval.high; });
  }
  void judgment();
};

void ExportColumns::judgment() {
  number("baseline_ns", [](const ComparedPair& pair) { return pair.base_ns; });
  number("candidate_ns", [](const ComparedPair& pair) { return pair.other_ns; });
  interval("ratio", "ratio", [](const RowVerdict& row) { return row.time; });
  number("baseline_cycles", [](const ComparedPair& pair) { return pair.base_cycles; });
  number("candidate_cycles", [](const ComparedPair& pair) { return pair.other_cycles; });
  interval("cycles_ratio", "cycles", [](const RowVerdict& row) { return row.cycles; });
  number("rounds", [](const ComparedPair& pair) { return static_cast<double>(pair.verdict.rounds); });
  number("recordings", [](const ComparedPair& pair) { return static_cast<double>(pair.recordings); });
  word("interleaved", [](const ComparedPair& pair) { return pair.paired ? "yes" : "no"; });
  word("spread_source", [](const ComparedPair& pair) { return to_string(pair.verdict.floor); });
  word("clock_normalized", [](const ComparedPair& pair) { return pair.verdict.one_clock ? "yes" : "no"; });
  number("clock_shift", [](const ComparedPair& pair) {
    return pair.verdict.one_clock ? Number(std::expm1(pair.verdict.clock_shift)) : Number();
  });
  number("spread",
         [](const ComparedPair& pair) { return pair.verdict.spread > 0 ? Number(pair.verdict.spread) : Number(); });
  number("p_change", [](const ComparedPair& pair) { return pair.verdict.p_change; });
  number("p_same", [](const ComparedPair& pair) { return pair.verdict.p_same; });
  word("verdict", [](const ComparedPair& pair) { return to_string(pair.verdict.verdict); });
  word("undecided", [](const ComparedPair& pair) { return to_string(pair.verdict.undecided); });
  number("rounds_needed", [](const ComparedPair& pair) {
    const auto& needed = pair.verdict.rounds_needed;
    return needed ? Number(static_cast<double>(*needed)) : Number();
  });
}

template <class Text>
Table table_of_differences(const ComparisonResult& result, Text text_of) {
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

constexpr std::array change_columns{std::pair("min_slowdown", &ComparisonAnswer::slower_by),
                                    std::pair("min_speedup", &ComparisonAnswer::faster_by),
                                    std::pair("min_detectable_median", &ComparisonAnswer::detectable),
                                    std::pair("min_detectable_worst", &ComparisonAnswer::detectable_at_worst)};

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

Table comparison_table(const ComparisonView& view, std::vector<ComparisonLine> lines) {
  return DisplayColumns(view, std::move(lines)).take();
}

Table comparison_data(const ComparisonView& view, std::span<const std::string> files) {
  const PointTable& points = *view.points;
  const double margin = view.margin;
  ExportColumns columns{TableBuilder<Line>(view.lines(ComparisonView::Lines::each_row))};
  if (view.sides.size() > 1) {
    columns.table.add({.key = "candidate"}, [&view](const Line& line) { return view.sides[line.side]->name; });
  }
  columns.side("file", [&points, files](Row row) { return files[points.run_index(row)]; });
  columns.side("run", [&points](Row row) { return points.run(row).title; });
  columns.side("device", [&points](Row row) { return points.run(row).device_name; });
  columns.side("point", [&points](Row row) { return describe(points.spec(row)); });
  columns.side("provenance", [&points](Row row) { return attnscope::to_string(points.points().origin(row)); });
  columns.judgment();
  columns.word("differs", [&points](const ComparedPair& pair) {
    std::vector<std::string> keys;
    for (const PointDifference& each : point_differences(points, pair)) keys.push_back(each.key);
    return fmt::format("{}", fmt::join(keys, " "));
  });
  columns.word("differences", [&points](const ComparedPair& pair) { return change_text(points, pair, true); });
  for (const std::size_t side : {0U, 1U}) {
    columns.number(side == 0 ? "baseline_tiles" : "candidate_tiles", [side](const ComparedPair& pair) {
      return pair.tiles.at(side) > 0 ? Number(static_cast<double>(pair.tiles.at(side))) : Number();
    });
  }
  columns.word("to_decide",
               [&points, margin](const ComparedPair& pair) { return text(undecided_note(points, pair, margin)); });
  columns.reason("skipped", [](const SkippedRows& left) { return to_string(left.why); });
  columns.reason("reason", [&points](const SkippedRows& left) { return text(skip_reason(points, left)); });
  for (std::size_t level = 0; level < compared_level_count; ++level) {
    const std::string key(compared_levels()[level]);
    columns.number("baseline_" + key, [level](const ComparedPair& pair) { return pair.levels.at(level).base; });
    columns.number("candidate_" + key, [level](const ComparedPair& pair) { return pair.levels.at(level).other; });
    columns.number("ratio_" + key, [level](const ComparedPair& pair) { return pair.levels.at(level).ratio(); });
  }
  return std::move(columns.table).take();
}

Table difference_table(const ComparisonResult& result) {
  return table_of_differences(result, [](const Message& message) { return text(message); });
}

Table difference_data(const ComparisonResult& result) {
  return table_of_differences(result, [](const Message& message) { return english_text(message); });
}

Table skipped_table(const ComparisonView& view) {
  const PointTable& points = *view.points;
  std::vector<SkippedRows> all;
  for (const auto& side : view.sides) {
    std::ranges::copy_if(side->result.left_out, std::back_inserter(all), &SkippedRows::is_listed);
  }
  TableBuilder<SkippedRows> table(std::move(all));
  table.add({.key = "side", .title = text(msg::compare::side{})}, [](const SkippedRows& left) {
    if (left.alike) return Message(msg::compare::both_sides{});
    return left.of_other ? Message(msg::compare::candidate_time_label{}) : msg::compare::baseline{};
  });
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
  const std::array<std::pair<Message, Message>, change_columns.size()> titles{
      {{msg::compare::slower_by{}, msg::compare::by_help{}},
       {msg::compare::faster_by{}, msg::compare::by_help{}},
       {msg::compare::detectable{}, msg::compare::detectable_help{}},
       {msg::compare::detectable_at_worst{}, msg::compare::detectable_help{}}}};
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

Table answer_data(const ComparisonView& view) {
  TableBuilder<ComparisonAnswer> table(view.answers);
  const auto add = [&](const std::string& key, auto value) { table.add({.key = key}, value); };
  add("algorithm", [](const ComparisonAnswer& answer) { return answer.algorithm; });
  add("pass", [](const ComparisonAnswer& answer) {
    return answer.algorithm.empty() ? std::string_view() : to_string(answer.pass);
  });
  add("points", [](const ComparisonAnswer& answer) { return static_cast<double>(answer.points); });
  add("problems", [](const ComparisonAnswer& answer) { return static_cast<double>(answer.problems); });
  const auto add_mean = [&](const std::string& key, auto part) {
    add(key, [part](const ComparisonAnswer& answer) { return answer.mean.unknown ? Number() : part(answer.mean); });
  };
  add_mean("mean_ratio", [](const RatioInterval& mean) { return Number(mean.ratio); });
  add_mean("mean_low", [](const RatioInterval& mean) { return Number(mean.interval.low); });
  add_mean("mean_high", [](const RatioInterval& mean) { return Number(mean.interval.high); });
  add("spread_source", [](const ComparisonAnswer& answer) {
    return answer.mean.assumed ? to_string(SpreadFloor::assumed_percent) : std::string_view();
  });
  for (const auto& [key, change] : change_columns) {
    add(key, [change = change](const ComparisonAnswer& answer) { return answer.*change; });
  }
  for (const auto& [key, required_samples] :
       {std::pair("recordings", &ComparisonAnswer::by_recordings), std::pair("rounds", &ComparisonAnswer::by_rounds)}) {
    const auto number = [required_samples = required_samples](std::size_t RequiredSamples::*part) {
      return [required_samples, part](const ComparisonAnswer& answer) {
        return static_cast<double>(answer.*required_samples.*part);
      };
    };
    add(fmt::format("{}_needed", key), number(&RequiredSamples::times));
    add(fmt::format("rows_decided_by_{}", key), number(&RequiredSamples::rows));
  }
  return std::move(table).take();
}

}  // namespace attnscope::analysis
