// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "messages/compare.h"
#include "profiler/compare/comparison_words.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis {
namespace {

/// A pair, and the result that it is of.
struct ToldPair {
  const ComparedPair* pair = nullptr;
  const ComparisonResult* result = nullptr;
};

RatioInterval mean_of(std::span<const ToldPair> told) {
  double sum = 0;
  bool assumed = false;
  std::map<const ComparisonResult*, double> squares;  // by result, of the half-widths of points in the same rounds
  double half = 0;                                    // of the others
  for (const auto& [pair, result] : told) {
    const RatioInterval& time = pair->verdict.time;
    const double width = std::log(time.interval.high / time.interval.low) / 2;
    sum += std::log(time.ratio);
    assumed = assumed || time.assumed;
    if (pair->paired && pair->verdict.floor == SpreadFloor::none) {
      squares[result] += width * width;
    } else {
      half += width;
    }
  }
  for (const auto& [result, of_result] : squares) half += std::sqrt(of_result);
  const auto count = static_cast<double>(told.size());
  return {.ratio = std::exp(sum / count),
          .interval = {.low = std::exp((sum - half) / count), .high = std::exp((sum + half) / count)},
          .assumed = assumed};
}

ComparisonAnswer answer_of(const PointTable& table, std::span<const ToldPair> told) {
  ComparisonAnswer answer;
  answer.points = told.size();
  answer.mean = mean_of(told);
  std::vector<double> detectable;
  std::vector<std::size_t> recordings;
  std::vector<std::size_t> rounds;
  for (const ToldPair& each : told) {
    const RowVerdict& row = each.pair->verdict;
    answer.margin = std::max(answer.margin, each.result->margin);
    if ((row.rounds_needed || row.recordings_needed) && is_ours(table, *each.pair)) {
      const bool turns = in_turns(table, *each.pair);
      if (turns && row.rounds_needed) rounds.push_back(*row.rounds_needed);
      if (!turns && row.recordings_needed) recordings.push_back(*row.recordings_needed);
    }
    ++answer.verdicts.at(static_cast<std::size_t>(row.verdict));
    if (row.detectable > 0) detectable.push_back(row.detectable);
    // What was computed has no error of its own, and a model's is not in it; what is no more than the margin the
    // verdict says already.
    if (is_computed(*each.pair) || row.sure <= each.result->margin) continue;
    if (row.verdict == Verdict::slower) answer.slower_by = std::max(answer.slower_by, row.sure);
    if (row.verdict == Verdict::faster) answer.faster_by = std::max(answer.faster_by, row.sure);
  }
  answer.by_recordings = settling(std::move(recordings));
  answer.by_rounds = settling(std::move(rounds));
  if (!detectable.empty()) {
    answer.detectable_at_worst = std::ranges::max(detectable);
    answer.detectable = summarize(detectable)->median;
  }
  return answer;
}

Cell share(double value) {
  return value > 0 ? Cell{.text = text(Share(value)), .number = value} : Cell{};
}

}  // namespace

Settling settling(std::vector<std::size_t> needed) {
  if (needed.empty()) return {};
  std::ranges::sort(needed);
  const std::size_t times = needed[(needed.size() * 9 + 9) / 10 - 1];
  return {.times = times, .rows = static_cast<std::size_t>(std::ranges::upper_bound(needed, times) - needed.begin())};
}

std::vector<ComparisonAnswer> comparison_answers(const PointTable& table,
                                                 std::span<const ComparisonResult* const> results) {
  const FieldColumn& algorithms = table.points().field("algorithm");
  const FieldColumn& passes = table.points().field("pass");
  std::vector<ToldPair> all;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<ToldPair>> groups;
  for (const ComparisonResult* result : results) {
    for (const ComparedPair& pair : result->pairs) {
      const Row row = pair.other.front();
      all.push_back({&pair, result});
      groups[{algorithms.key(row), passes.key(row)}].push_back({&pair, result});
    }
  }
  std::vector<ComparisonAnswer> answers;
  for (const auto& [key, pairs] : groups) {
    const Row row = pairs.front().pair->other.front();
    answers.push_back(answer_of(table, pairs));
    answers.back().algorithm = short_title(table.algorithms(), table.algorithm(row));
    answers.back().pass = table.problem(row).pass;
  }
  std::ranges::sort(answers, {},
                    [](const ComparisonAnswer& answer) { return std::pair(answer.algorithm, answer.pass); });
  if (answers.size() > 1) answers.insert(answers.begin(), answer_of(table, all));
  return answers;
}

std::vector<ComparisonAnswer> comparison_answers(const PointTable& table, const ComparisonResult& result) {
  const ComparisonResult* one = &result;
  return comparison_answers(table, {&one, 1});
}

Table answer_table(std::vector<ComparisonAnswer> answers) {
  TableOf<ComparisonAnswer> table(std::move(answers));
  table.add({.key = "algorithm", .title = text(say::compare::answer_of{})}, [](const ComparisonAnswer& answer) {
    if (answer.algorithm.empty()) return text(say::compare::answer_all{});
    return answer.algorithm + " " + std::string(to_string(answer.pass));
  });
  table.add({.key = "points", .title = text(say::compare::points{})},
            [](const ComparisonAnswer& answer) { return static_cast<double>(answer.points); });
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    table.add({.key = std::string(to_string(verdict)), .title = text(verdict_title(verdict))},
              [verdict](const ComparisonAnswer& answer) {
                return static_cast<double>(answer.verdicts.at(static_cast<std::size_t>(verdict)));
              });
  }
  table.add({.key = "mean_ratio",
             .title = text(say::compare::mean_ratio{}),
             .kind = ColumnKind::number,
             .help = text(say::compare::mean_ratio_help{})},
            [](const ComparisonAnswer& answer) {
              return Cell{.text = ratio_text(answer.mean), .number = answer.mean.ratio};
            });
  const auto add_share = [&](const char* key, const Message& title, const Message& help,
                             double ComparisonAnswer::*value) {
    table.add({.key = key, .title = text(title), .kind = ColumnKind::number, .help = text(help)},
              [value](const ComparisonAnswer& answer) { return share(answer.*value); });
  };
  add_share("slower_by", say::compare::slower_by{}, say::compare::by_help{}, &ComparisonAnswer::slower_by);
  add_share("faster_by", say::compare::faster_by{}, say::compare::by_help{}, &ComparisonAnswer::faster_by);
  add_share("detectable", say::compare::detectable{}, say::compare::detectable_help{}, &ComparisonAnswer::detectable);
  add_share("detectable_at_worst", say::compare::detectable_at_worst{}, say::compare::detectable_help{},
            &ComparisonAnswer::detectable_at_worst);
  Table finished = std::move(table).take();
  finished.drop_empty_columns();
  return finished;
}

Table answer_data(std::vector<ComparisonAnswer> answers) {
  TableOf<ComparisonAnswer> table(std::move(answers));
  table.add({.key = "algorithm"}, [](const ComparisonAnswer& answer) { return answer.algorithm; });
  table.add({.key = "pass"}, [](const ComparisonAnswer& answer) {
    return answer.algorithm.empty() ? std::string_view() : to_string(answer.pass);
  });
  table.add({.key = "points"}, [](const ComparisonAnswer& answer) { return static_cast<double>(answer.points); });
  table.add({.key = "mean_ratio"}, [](const ComparisonAnswer& answer) { return answer.mean.ratio; });
  table.add({.key = "mean_low"}, [](const ComparisonAnswer& answer) { return answer.mean.interval.low; });
  table.add({.key = "mean_high"}, [](const ComparisonAnswer& answer) { return answer.mean.interval.high; });
  table.add({.key = "floor"}, [](const ComparisonAnswer& answer) {
    return answer.mean.assumed ? to_string(SpreadFloor::of_percent) : std::string_view();
  });
  for (const auto& [key, value] :
       {std::pair("slower_by", &ComparisonAnswer::slower_by), std::pair("faster_by", &ComparisonAnswer::faster_by),
        std::pair("detectable", &ComparisonAnswer::detectable),
        std::pair("detectable_at_worst", &ComparisonAnswer::detectable_at_worst)}) {
    table.add({.key = key}, [value = value](const ComparisonAnswer& answer) { return answer.*value; });
  }
  for (const auto& [key, value] :
       {std::pair("recordings", &ComparisonAnswer::by_recordings), std::pair("rounds", &ComparisonAnswer::by_rounds)}) {
    table.add({.key = fmt::format("{}_needed", key)},
              [value = value](const ComparisonAnswer& answer) { return static_cast<double>((answer.*value).times); });
    table.add({.key = fmt::format("rows_settled_by_{}", key)},
              [value = value](const ComparisonAnswer& answer) { return static_cast<double>((answer.*value).rows); });
  }
  return std::move(table).take();
}

namespace {

std::size_t count_of(const ComparisonAnswer& answer, Verdict verdict) {
  return answer.verdicts.at(static_cast<std::size_t>(verdict));
}

/// Which side is faster, by how much, over how many points.
Message answer_sentence(const ComparisonAnswer& answer, const SideNames& names) {
  const auto& [other, base] = names;
  const std::size_t points = answer.points;
  const std::size_t open = count_of(answer, Verdict::ambiguous);
  const std::size_t faster = count_of(answer, Verdict::faster);
  const std::size_t slower = count_of(answer, Verdict::slower);
  const std::string mean = ratio_text(answer.mean);
  if (faster + slower == 0) {
    if (open == 0) return say::compare::unchanged{.other = other, .base = base, .points = points, .mean = mean};
    return say::compare::none_proven{.other = other, .base = base, .points = points, .mean = mean, .open = open};
  }
  const bool is_slower = answer.mean.interval.low > 1 + answer.margin;
  const bool is_faster = answer.mean.interval.high < 1 / (1 + answer.margin);
  if (!is_slower && !is_faster) {
    return say::compare::alike_on_average{.other = other,
                                          .base = base,
                                          .margin = text(Share(answer.margin)),
                                          .mean = mean,
                                          .points = points,
                                          .faster = faster,
                                          .slower = slower,
                                          .open = open};
  }
  constexpr double told_as_factor = 1.5;  // of one factor "slower by 100%" and "faster by 50%" would be two numbers
  const double ratio = answer.mean.ratio;
  if (const double factor = std::max(ratio, 1 / ratio); factor >= told_as_factor) {
    const std::string by = fmt::format("{:.2f}", factor);
    if (is_slower) {
      return say::compare::times_as_long_on_average{
          .other = other, .by = by, .base = base, .mean = mean, .points = points, .open = open};
    }
    return say::compare::times_as_fast_on_average{
        .other = other, .by = by, .base = base, .mean = mean, .points = points, .open = open};
  }
  const std::string by = text(Share(std::abs(ratio - 1)));
  if (is_slower) {
    return say::compare::slower_on_average{
        .other = other, .base = base, .by = by, .mean = mean, .points = points, .open = open};
  }
  return say::compare::faster_on_average{
      .other = other, .base = base, .by = by, .mean = mean, .points = points, .open = open};
}

}  // namespace

AnswerWords answer_words(const ComparisonAnswer& answer, const SideNames& names) {
  const std::size_t open = count_of(answer, Verdict::ambiguous);
  std::vector<Message> words;
  if (answer.slower_by > 0) words.emplace_back(say::compare::proven_slower{.by = text(Share(answer.slower_by))});
  if (answer.faster_by > 0) words.emplace_back(say::compare::proven_faster{.by = text(Share(answer.faster_by))});
  if (answer.detectable > 0) {
    words.emplace_back(say::compare::could_show{.median = text(Share(answer.detectable)),
                                                .worst = text(Share(answer.detectable_at_worst))});
  }
  if (const auto [times, rows] = answer.by_recordings; rows > 0) {
    words.emplace_back(say::compare::settle_all_apart{.open = open, .rows = rows, .times = times});
  }
  if (const auto [times, rows] = answer.by_rounds; rows > 0) {
    words.emplace_back(say::compare::settle_all_in_turns{.open = open, .rows = rows, .rounds = times});
  }
  return {answer_sentence(answer, names), std::move(words)};
}

}  // namespace attnscope::analysis
