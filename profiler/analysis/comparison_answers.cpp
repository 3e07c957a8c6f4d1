// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/comparison_answers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "messages/compare.h"
#include "profiler/analysis/comparison_words.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis {
namespace {

RatioInterval mean_of(std::span<const ComparedPair* const> pairs) {
  double sum = 0;
  double squares = 0;  // of the half-widths of points in the same rounds
  double widths = 0;   // of the others
  for (const ComparedPair* pair : pairs) {
    const RatioInterval& time = pair->verdict.time;
    const double half = std::log(time.interval.high / time.interval.low) / 2;
    sum += std::log(time.ratio);
    if (pair->paired) {
      squares += half * half;
    } else {
      widths += half;
    }
  }
  const auto count = static_cast<double>(pairs.size());
  const double half = (std::sqrt(squares) + widths) / count;
  return {.ratio = std::exp(sum / count),
          .interval = {.low = std::exp(sum / count - half), .high = std::exp(sum / count + half)}};
}

ComparisonAnswer answer_of(std::span<const ComparedPair* const> pairs) {
  ComparisonAnswer answer;
  answer.points = pairs.size();
  answer.mean = mean_of(pairs);
  std::vector<double> detectable;
  for (const ComparedPair* pair : pairs) {
    const RowVerdict& row = pair->verdict;
    ++answer.verdicts.at(static_cast<std::size_t>(row.verdict));
    if (row.verdict == Verdict::slower) answer.slower_by = std::max(answer.slower_by, row.time.interval.low - 1);
    if (row.verdict == Verdict::faster) answer.faster_by = std::max(answer.faster_by, 1 - row.time.interval.high);
    if (row.detectable > 0) detectable.push_back(row.detectable);
  }
  if (!detectable.empty()) {
    std::ranges::sort(detectable);
    answer.detectable = detectable[detectable.size() / 2];
    answer.detectable_at_worst = detectable.back();
  }
  return answer;
}

Cell share(double value) {
  return value > 0 ? Cell{.text = text(Share(value)), .number = value} : Cell{};
}

}  // namespace

std::vector<ComparisonAnswer> comparison_answers(const PointTable& table,
                                                 std::span<const ComparisonResult* const> results) {
  const FieldColumn& algorithms = table.points().field("algorithm");
  const FieldColumn& passes = table.points().field("pass");
  std::vector<const ComparedPair*> all;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<const ComparedPair*>> groups;
  for (const ComparisonResult* result : results) {
    for (const ComparedPair& pair : result->pairs) {
      const Row row = pair.other.front();
      all.push_back(&pair);
      groups[{algorithms.key(row), passes.key(row)}].push_back(&pair);
    }
  }
  std::vector<ComparisonAnswer> answers;
  for (const auto& [key, pairs] : groups) {
    const Row row = pairs.front()->other.front();
    answers.push_back(answer_of(pairs));
    answers.back().algorithm = short_title(table.algorithms(), table.algorithm(row));
    answers.back().pass = table.problem(row).pass;
  }
  std::ranges::sort(answers, {},
                    [](const ComparisonAnswer& answer) { return std::pair(answer.algorithm, answer.pass); });
  if (answers.size() > 1) answers.insert(answers.begin(), answer_of(all));
  return answers;
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

std::vector<Message> answer_words(const ComparisonAnswer& answer) {
  const auto count = [&](Verdict verdict) { return answer.verdicts.at(static_cast<std::size_t>(verdict)); };
  std::vector<Message> words;
  const bool changed = count(Verdict::faster) + count(Verdict::slower) > 0;
  const std::string mean = ratio_text(answer.mean);
  if (changed) {
    words.emplace_back(say::compare::changed{.mean = mean});
  } else if (count(Verdict::ambiguous) == 0) {
    words.emplace_back(say::compare::unchanged{.mean = mean});
  } else {
    words.emplace_back(
        say::compare::none_proven{.open = count(Verdict::ambiguous), .points = answer.points, .mean = mean});
  }
  if (count(Verdict::slower) > 0) words.emplace_back(say::compare::proven_slower{.by = text(Share(answer.slower_by))});
  if (count(Verdict::faster) > 0) words.emplace_back(say::compare::proven_faster{.by = text(Share(answer.faster_by))});
  if (answer.detectable > 0) {
    words.emplace_back(say::compare::could_show{.median = text(Share(answer.detectable)),
                                                .worst = text(Share(answer.detectable_at_worst))});
  }
  return words;
}

}  // namespace attnscope::analysis
