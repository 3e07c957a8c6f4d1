// SPDX-License-Identifier: Apache-2.0
#include "app/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "messages/compare.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using analysis::ComparisonView;
using analysis::Verdict;

/// Names of the view's candidates.
std::string candidate_names(const ComparisonView& view) {
  std::string names;
  for (const auto& side : view.sides) names += (names.empty() ? "" : ", ") + side->name;
  return names;
}

std::string title_of(const ComparedSides& sides, const ComparisonView& view) {
  return format_text("{} compared with {}", candidate_names(view), printable(sides.base_name));
}

std::vector<std::string> notes_of(const ComparisonView& view) {
  std::vector<std::string> notes;
  for (const auto* part : {&view.method, &view.spreads}) {
    for (const Message& note : *part) notes.push_back(text(note));
  }
  return notes;
}

/// Returns the rows of one candidate, or one column for each of several.
analysis::FactoredTable rows_for_people(const ComparisonView& view) {
  if (view.sides.size() > 1) return candidates_table(view);
  analysis::FactoredTable rows = comparison_table(view, view.worst_first());
  rows.table.drop("differs");  // summed up above
  const auto by_clocks = [](const analysis::ComparisonLine& line) {
    return line.pair->verdict.undecided == analysis::Undecided::clocks;
  };
  if (std::ranges::none_of(view.lines(ComparisonView::Lines::pairs), by_clocks)) rows.table.drop("cycles_ratio");
  rows.table.drop_empty_columns();
  return rows;
}

void print_for_people(const ComparisonView& view, Output& out) {
  for (std::size_t i = 0; i < view.sides.size(); ++i) out.line(text(view.select_side(i).answer));
  for (const Message& words : {view.tally, view.differences}) {
    if (!words.empty()) out.line(text(words));
  }
  for (const Message& words : view.evidence) out.line(text(words));
  out.blank_line();
  if (view.answers.size() > 1) {
    out.table(answer_table(view));
    out.blank_line();
  }
  if (view.pairs() > 0) {
    const analysis::FactoredTable rows = rows_for_people(view);
    if (!rows.common.empty()) out.line(text(rows.common));
    out.table(rows.table);
    out.blank_line();
  }
  if (view.left_out > 0) {
    out.heading("Not compared");
    out.table(skipped_summary(view));
    out.blank_line();
  }
  for (const std::string& note : notes_of(view)) out.line(note);
  if (!view.decide.empty()) out.line(text(view.decide));
}

/// A point that ran only on the baseline's side is an error; an undecided or unmatched point is skipped.
void print_junit(const ComparedSides& sides, const ComparisonView& view,
                 const std::vector<const analysis::ComparedPair*>& failing) {
  const analysis::PointTable& points = sides.table;
  enum Outcome : std::size_t { passed, failure, error, skipped };
  constexpr std::array elements{"<system-out>{}</system-out>", "<failure message=\"{}\"/>", "<error message=\"{}\"/>",
                                "<skipped message=\"{}\"/>"};
  std::array<std::size_t, elements.size()> counts{};
  std::string cases;
  const auto add = [&](Outcome outcome, analysis::Row row, const std::string& side, const std::string& message) {
    ++counts.at(outcome);
    const PointSpec spec = points.spec(row);
    cases +=
        fmt::format("<testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", markup(spec.algorithm),
                    markup(describe(spec) + side), fmt::format(fmt::runtime(elements.at(outcome)), markup(message)));
  };
  for (const analysis::ComparisonLine& line : view.lines(ComparisonView::Lines::all)) {
    const std::string candidate = view.sides.size() > 1 ? ", " + view.sides[line.side]->name : std::string();
    if (line.pair != nullptr) {
      const analysis::RowVerdict& row = line.pair->verdict;
      const bool fails = std::ranges::find(failing, line.pair) != failing.end();
      add(fails                               ? failure
          : row.verdict == Verdict::ambiguous ? skipped
                                              : passed,
          line.pair->other.front(), candidate,
          fmt::format("{} {}", to_string(row.verdict), analysis::ratio_text(row.time)));
    } else {
      add(newly_failed(points, *line.left) > 0 ? error : skipped, line.left->rows.front(),
          (line.left->of_other ? " (candidate)" : " (baseline)") + candidate, text(skip_reason(points, *line.left)));
    }
  }
  std::cout << fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
      markup(title_of(sides, view)), counts[passed] + counts[failure] + counts[error] + counts[skipped],
      counts[failure], counts[error], counts[skipped], cases);
}

void print_json(const ComparedSides& sides, const ComparisonView& view, Output& out) {
  nlohmann::ordered_json document;
  document["baseline"] = sides.base_name;
  document["candidate"] = candidate_names(view);
  document["aligned"] = view.sides.front()->alignment.keywords();
  document["tiles"] = to_string(view.sides.front()->alignment.tiles);
  document["margin"] = view.margin;
  document["level"] = view.level;
  document["head"] = text(view.answer);
  document["notes"] = notes_of(view);
  document["command"] = view.command;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    document["counts"][std::string(to_string(verdict))] = view.count(verdict);
  }
  document["counts"]["skipped"] = view.left_out;
  document["answers"] = rows_of(answer_data(view));
  document["differences"] = rows_of(difference_data(view.sides.front()->result));
  for (std::size_t i = 0; view.sides.size() > 1 && i < view.sides.size(); ++i) {
    document["candidates"].push_back({{"candidate", view.sides[i]->name},
                                      {"head", text(view.select_side(i).answer)},
                                      {"aligned", view.sides[i]->alignment.keywords()},
                                      {"answers", rows_of(answer_data(view.select_side(i)))},
                                      {"differences", rows_of(difference_data(view.sides[i]->result))}});
  }
  if (view.sides.size() > 1) document["points"] = rows_of(candidates_data(view));
  document["rows"] = rows_of(comparison_data(view, sides.files));
  out.object(std::move(document), "attnscope-comparison");
}

}  // namespace

void add_tiles_option(CLI::App& command, std::optional<analysis::ComparedTiles>& tiles) {
  std::vector<std::string> words;
  words.reserve(std::size(analysis::tile_choices));
  for (const analysis::ComparedTiles each : analysis::tile_choices) words.emplace_back(to_string(each));
  command
      .add_option_function<std::string>(
          "--tiles", [&tiles](const std::string& word) { tiles = analysis::parse_compared_tiles(word); },
          "Tiles to compare: best (each side's fastest correct one), automatic or equal (default: equal if both sides "
          "have one GPU model and share a tile of an algorithm, else best)")
      ->check(CLI::IsMember(words));
}

ComparisonView view_of(const ComparedSides& sides, const std::vector<std::string>& align, double margin_percent,
                       std::optional<analysis::ComparedTiles> tiles) {
  analysis::ViewRequest request{.sides = {},
                                .margin = margin_percent > 0 ? std::optional(margin_percent / 100) : std::nullopt,
                                .looks = sides.looks,
                                .conditions = sides.conditions,
                                .hide_unmatched = true};
  for (const ComparedSides::Candidate& candidate : sides.candidates) {
    const Result<analysis::Alignment, Message> alignment =
        sides.halves && align.empty() && !tiles
            ? analysis::infer_alignment(sides.table, sides.base, candidate.rows)
            : analysis::parse_alignment(align, sides.table, sides.base, candidate.rows, tiles);
    if (!alignment) throw CommandError(ExitCode::usage, alignment.error());
    request.sides.push_back({.base_name = printable(sides.base_name),
                             .name = printable(candidate.name),
                             .base = sides.base,
                             .other = candidate.rows,
                             .alignment = *alignment});
  }
  return analysis::view_of(sides.table, request);
}

void print(const ComparedSides& sides, const ComparisonView& view, Output& out,
           const std::vector<const analysis::ComparedPair*>& failing) {
  if (out.has_format("json")) return print_json(sides, view, out);
  if (out.has_format("junit")) return print_junit(sides, view, failing);
  if (out.has_format("csv")) return out.table(comparison_data(view, sides.files));
  print_for_people(view, out);
}

}  // namespace attnscope
