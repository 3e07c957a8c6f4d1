// SPDX-License-Identifier: Apache-2.0
// Tables of a comparison for export.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <utility>

#include "profiler/compare/comparison_parts.h"
#include "profiler/compare/comparison_view.h"

namespace attnscope::analysis {
namespace {

using Line = ComparisonLine;
using Number = std::optional<double>;
using PairNumber = std::function<Number(const ComparedPair&)>;

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
  number("baseline_compared_ns", [](const ComparedPair& pair) { return pair.compared_ns[0]; });
  number("candidate_compared_ns", [](const ComparedPair& pair) { return pair.compared_ns[1]; });
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

}  // namespace

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
  columns.word("differences", [&points](const ComparedPair& pair) {
    return change_text(points, pair, [](std::string_view) { return true; });
  });
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
