// SPDX-License-Identifier: Apache-2.0
#include "app/comparison_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "messages/compare.h"
#include "profiler/compare/comparison_answers.h"
#include "profiler/compare/comparison_table.h"
#include "profiler/compare/comparison_words.h"
#include "profiler/plan/text.h"
#include "profiler/points/markup.h"

namespace attnscope {
namespace {

using analysis::Verdict;

analysis::ComparisonOf of(const ComparisonOutput& output) {
  return {.points = &output.sides.table, .margin = output.result.margin};
}

analysis::Table pairs_for_people(const ComparisonOutput& output) {
  std::vector<analysis::ComparisonLine> lines;
  add_pairs(lines, output.result);
  analysis::Table table = comparison_table(std::move(lines), of(output));
  table.drop_empty_columns();
  return table;
}

analysis::Table rows_for_programs(const ComparisonOutput& output) {
  std::vector<analysis::ComparisonLine> lines;
  add_pairs(lines, output.result);
  add_left_out(lines, output.result, 0, true);
  return comparison_data(std::move(lines), of(output), output.sides.files);
}

analysis::Table left_table(const ComparisonOutput& output) {
  return left_out_table(output.sides.table, output.result);
}

/// What has to be known of the verdicts, a sentence each.
std::vector<std::string> notes_of(const ComparisonOutput& output) {
  const analysis::ComparisonResult& result = output.result;
  std::vector<std::string> notes{
      text(say::compare::aligned{.alignment = fmt::format("{}", fmt::join(output.request.alignment.words(), ", "))}),
      text(say::compare::method{.margin = fmt::format("{}", 100 * output.result.margin),
                                .rows = result.pairs.size(),
                                .level = fmt::format("{}", 100 * output.request.verdicts.level)})};
  for (const Message& note : analysis::floor_words({&result}, output.request.looks)) {
    notes.push_back(text(note));
  }
  return notes;
}

/// What came of it, in one line.
std::string counts_of(const ComparisonOutput& output) {
  const analysis::ComparisonResult& result = output.result;
  return format_text("{} FASTER, {} SLOWER, {} SAME, {} UNDECIDED; {} without a comparison.",
                     grouped(result.count(Verdict::faster)), grouped(result.count(Verdict::slower)),
                     grouped(result.count(Verdict::same)), grouped(result.count(Verdict::ambiguous)),
                     grouped(result.left_out.size()));
}

std::vector<analysis::ComparisonAnswer> answers_of(const ComparisonOutput& output) {
  return comparison_answers(output.sides.table, output.result);
}

/// The answer, then the counts, then the rest.
std::vector<std::string> told_first(const ComparisonOutput& output) {
  if (output.result.pairs.empty()) return {counts_of(output)};
  const analysis::SideNames names{printable(output.sides.other_name), printable(output.sides.base_name)};
  const auto [answer, more] = answer_words(answers_of(output).front(), names);
  std::vector<std::string> lines{text(answer), counts_of(output)};
  for (const Message& words : more) lines.push_back(text(words));
  return lines;
}

std::string title_of(const ComparisonOutput& output) {
  return format_text("{} against {}", printable(output.sides.other_name), printable(output.sides.base_name));
}

void print_for_people(const ComparisonOutput& output, Output& out) {
  out.title(title_of(output));
  for (const std::string& line : told_first(output)) out.line(line);
  out.gap();
  if (!output.result.pairs.empty()) {
    out.table(answer_table(answers_of(output)));
    out.gap();
  }
  out.heading("What else differs");
  if (output.result.differences.empty()) {
    out.line("Nothing else that is known differs.");
  } else {
    out.table(difference_table(output.result));
  }
  out.gap();
  out.heading("Points");
  if (output.result.pairs.empty()) {
    out.line("No point ran on both sides.");
  } else {
    out.table(pairs_for_people(output));
  }
  if (!output.result.left_out.empty()) {
    out.gap();
    out.heading("Without a comparison");
    out.table(left_table(output));
  }
  out.gap();
  for (const std::string& note : notes_of(output)) out.line(note);
}

/// Of JUnit's XML; `message` says what is wrong, or of one that passed what came of it.
struct TestCase {
  enum class Outcome { passed, failure, error, skipped };
  PointSpec point;
  std::string_view side;
  Outcome outcome;
  std::string message;
};

/// What ran and no longer does is an error; what is not decided, or has no partner, was not tested.
std::vector<TestCase> test_cases(const ComparisonOutput& output) {
  using enum TestCase::Outcome;
  const analysis::ComparisonResult& result = output.result;
  const std::set<const analysis::ComparedPair*> failing(output.failing.begin(), output.failing.end());
  std::vector<TestCase> cases;
  for (const analysis::ComparedPair& pair : result.pairs) {
    const bool undecided = pair.verdict.verdict == Verdict::ambiguous;
    cases.push_back(
        {.point = output.sides.table.spec(pair.other.front()),
         .side = "",
         .outcome = failing.contains(&pair) ? failure
                    : undecided             ? skipped
                                            : passed,
         .message = fmt::format("{} {}", to_string(pair.verdict.verdict), analysis::ratio_text(pair.verdict.time))});
  }
  for (const analysis::LeftOut& left : result.left_out) {
    cases.push_back({.point = output.sides.table.spec(left.rows.front()),
                     .side = left.of_other ? " (other)" : " (baseline)",
                     .outcome = no_longer_run(output.sides.table, left) > 0 ? error : skipped,
                     .message = text(left_out_words(output.sides.table, left))});
  }
  return cases;
}

void print_junit(const ComparisonOutput& output) {
  using analysis::markup;
  using enum TestCase::Outcome;
  const std::vector<TestCase> cases = test_cases(output);
  const auto count = [&](TestCase::Outcome outcome) { return std::ranges::count(cases, outcome, &TestCase::outcome); };
  std::cout << fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      markup(title_of(output)), cases.size(), count(failure), count(error), count(skipped));
  for (const TestCase& each : cases) {
    const std::string message = markup(each.message);
    std::cout << fmt::format("<testcase classname=\"{}\" name=\"{}\">", markup(each.point.algorithm),
                             markup(describe(each.point) + std::string(each.side)))
              << (each.outcome == passed    ? fmt::format("<system-out>{}</system-out>", message)
                  : each.outcome == failure ? fmt::format("<failure message=\"{}\"/>", message)
                  : each.outcome == error   ? fmt::format("<error message=\"{}\"/>", message)
                                            : fmt::format("<skipped message=\"{}\"/>", message))
              << "</testcase>\n";
  }
  std::cout << "</testsuite>\n";
}

nlohmann::ordered_json json_of(const analysis::Table& table) {
  return rows_of(table_of(table, false));
}

void print_json(const ComparisonOutput& output, Output& out) {
  nlohmann::ordered_json document;
  document["base"] = output.sides.base_name;
  document["other"] = output.sides.other_name;
  document["aligned"] = output.request.alignment.words();
  document["margin"] = output.result.margin;
  document["level"] = output.request.verdicts.level;
  document["notes"] = notes_of(output);
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    document["counts"][std::string(to_string(verdict))] = output.result.count(verdict);
  }
  document["counts"]["left_out"] = output.result.left_out.size();
  document["answers"] = json_of(answer_data(answers_of(output)));
  document["differences"] = json_of(difference_data(output.result));
  document["rows"] = json_of(rows_for_programs(output));
  out.object(std::move(document), "attnscope-comparison");
}

}  // namespace

void print(const ComparisonOutput& output, Output& out) {
  if (out.is("json")) return print_json(output, out);
  if (out.is("junit")) return print_junit(output);
  if (out.is("csv")) return out.table(rows_for_programs(output));
  print_for_people(output, out);
}

}  // namespace attnscope
