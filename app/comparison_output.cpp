// SPDX-License-Identifier: Apache-2.0
#include "app/comparison_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "app/table.h"
#include "messages/compare.h"
#include "messages/language.h"
#include "profiler/analysis/comparison_answers.h"
#include "profiler/analysis/comparison_words.h"
#include "profiler/analysis/tables/comparison_table.h"
#include "profiler/plan/text.h"

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
  return text(say::compare::counts{.faster = result.count(Verdict::faster),
                                   .slower = result.count(Verdict::slower),
                                   .same = result.count(Verdict::same),
                                   .ambiguous = result.count(Verdict::ambiguous),
                                   .left = result.left_out.size()});
}

std::vector<analysis::ComparisonAnswer> answers_of(const ComparisonOutput& output) {
  return comparison_answers(output.sides.table, output.result);
}

/// The counts, then what they come to.
std::vector<std::string> told_first(const ComparisonOutput& output) {
  std::vector<std::string> lines{counts_of(output)};
  if (output.result.pairs.empty()) return lines;
  for (const Message& words : answer_words(answers_of(output).front())) lines.push_back(text(words));
  return lines;
}

std::string title_of(const ComparisonOutput& output) {
  return text(
      say::compare::title{.other = printable(output.sides.other_name), .base = printable(output.sides.base_name)});
}

std::string no_differences() {
  return text(say::compare::no_differences{});
}

/// Characters that would be markup of a line of Markdown.
std::string markdown_line(const std::string& line) {
  std::string escaped;
  for (const char c : line) {
    if (c == '<') {
      escaped += "&lt;";
      continue;
    }
    if (c == '*' || c == '_' || c == '[' || c == '`' || c == '#') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void print_text(const ComparisonOutput& output, bool markdown, std::ostream& out) {
  const TableFormat format = markdown ? TableFormat::markdown : TableFormat::text;
  const auto heading = [&](const std::string& words) { out << (markdown ? "## " : "") << words << "\n\n"; };
  out << (markdown ? "# " + markdown_line(title_of(output)) : title_of(output)) << "\n\n";
  for (const std::string& line : told_first(output)) out << (markdown ? "- " + markdown_line(line) : line) << '\n';
  out << '\n';
  if (!output.result.pairs.empty()) {
    print(answer_table(answers_of(output)), format, out);
    out << '\n';
  }
  heading(text(say::compare::differences{}));
  if (output.result.differences.empty()) {
    out << no_differences() << '\n';
  } else {
    print(difference_table(output.result), format, out);
  }
  out << '\n';
  heading(text(say::compare::rows{}));
  if (output.result.pairs.empty()) {
    out << text(say::compare::no_pairs{}) << '\n';
  } else {
    print(pairs_for_people(output), format, out);
  }
  if (!output.result.left_out.empty()) {
    out << '\n';
    heading(text(say::compare::left_out{}));
    print(left_table(output), format, out);
  }
  out << '\n';
  for (const std::string& note : notes_of(output)) out << (markdown ? "- " + markdown_line(note) : note) << '\n';
}

std::string html_text(const std::string& words) {
  std::string escaped;
  for (const char c : printable(words)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

const char* class_of(const analysis::Column& column, analysis::Tone tone) {
  if (column.kind == analysis::ColumnKind::number) return " class=\"n\"";
  if (tone == analysis::Tone::better) return " class=\"better\"";
  if (tone == analysis::Tone::worse) return " class=\"worse\"";
  return tone == analysis::Tone::muted ? " class=\"muted\"" : "";
}

void print_html_table(const analysis::Table& table, std::ostream& out) {
  out << "<table>\n<thead><tr>";
  for (const analysis::Column& column : table.columns)
    out << "<th scope=\"col\">" << html_text(column.title) << "</th>";
  out << "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < table.rows; ++row) {
    out << "<tr>";
    for (const analysis::Column& column : table.columns) {
      out << "<td" << class_of(column, table.tone_of(column, row)) << '>' << html_text(column.cell(row).text)
          << "</td>";
    }
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

void print_html(const ComparisonOutput& output, std::ostream& out) {
  out << "<!DOCTYPE html>\n<html lang=\"" << html_text(text(say::language::code{}))
      << "\"><head><meta charset=\"utf-8\"><title>" << html_text(title_of(output))
      << "</title>\n<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:2em}"
         "table{border-collapse:collapse;margin:0 0 1.5em}th,td{border:1px solid #8888;padding:.25em "
         ".6em;text-align:left;"
         "vertical-align:top}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
         ".better{font-weight:bold;color:#0a7d32}.worse{font-weight:bold;color:#c62828}.muted{font-style:italic}"
         "@media(prefers-color-scheme:dark){.better{color:#6fd08c}.worse{color:#ff8a80}}</style></head><body>\n<h1>"
      << html_text(title_of(output)) << "</h1>\n";
  for (const std::string& line : told_first(output)) out << "<p>" << html_text(line) << "</p>\n";
  if (!output.result.pairs.empty()) print_html_table(answer_table(answers_of(output)), out);
  out << "<h2>" << html_text(text(say::compare::differences{})) << "</h2>\n";
  if (output.result.differences.empty()) {
    out << "<p>" << html_text(no_differences()) << "</p>\n";
  } else {
    print_html_table(difference_table(output.result), out);
  }
  out << "<h2>" << html_text(text(say::compare::rows{})) << "</h2>\n";
  print_html_table(pairs_for_people(output), out);
  if (!output.result.left_out.empty()) {
    out << "<h2>" << html_text(text(say::compare::left_out{})) << "</h2>\n";
    print_html_table(left_table(output), out);
  }
  for (const std::string& note : notes_of(output)) out << "<p>" << html_text(note) << "</p>\n";
  out << "</body></html>\n";
}

/// As CI reads it: what ran and no longer does is an error; what is not decided, or has no partner, was not tested.
void print_junit(const ComparisonOutput& output, std::ostream& out) {
  const analysis::ComparisonResult& result = output.result;
  const auto broken = static_cast<std::size_t>(std::ranges::count_if(
      result.left_out, [&](const auto& left) { return no_longer_run(output.sides.table, left) > 0; }));
  const std::set<const analysis::ComparedPair*> failing(output.failing.begin(), output.failing.end());
  const auto add = [&](const PointSpec& spec, const char* side, const char* outcome, const std::string& message) {
    out << "<testcase classname=\"" << html_text(spec.algorithm) << "\" name=\"" << html_text(describe(spec)) << side
        << "\"><" << outcome << " message=\"" << html_text(message) << "\"/></testcase>\n";
  };
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" << html_text(title_of(output))
      << "\" tests=\"" << result.pairs.size() + result.left_out.size() << "\" failures=\"" << output.failing.size()
      << "\" errors=\"" << broken << "\" skipped=\""
      << result.count(Verdict::ambiguous) + result.left_out.size() - broken << "\">\n";
  for (const analysis::ComparedPair& pair : result.pairs) {
    const PointSpec spec = output.sides.table.spec(pair.other.front());
    const std::string verdict =
        std::string(to_string(pair.verdict.verdict)) + " " + analysis::ratio_text(pair.verdict.time);
    const bool failed = failing.contains(&pair);
    if (failed || pair.verdict.verdict == Verdict::ambiguous) {
      add(spec, "", failed ? "failure" : "skipped", verdict);
    } else {
      out << "<testcase classname=\"" << html_text(spec.algorithm) << "\" name=\"" << html_text(describe(spec))
          << "\"><system-out>" << verdict << "</system-out></testcase>\n";
    }
  }
  for (const analysis::LeftOut& left : result.left_out) {
    add(output.sides.table.spec(left.rows.front()), left.of_other ? " (other)" : " (baseline)",
        no_longer_run(output.sides.table, left) > 0 ? "error" : "skipped",
        text(left_out_words(output.sides.table, left)));
  }
  out << "</testsuite>\n";
}

nlohmann::ordered_json json_of(const analysis::Table& table) {
  std::ostringstream written;
  print(table, TableFormat::json, written);
  return nlohmann::ordered_json::parse(written.str());
}

void print_json(const ComparisonOutput& output, std::ostream& out) {
  nlohmann::ordered_json document;
  document["format"] = "attnscope-comparison";
  document["version"] = 1;
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
  document["differences"] = json_of(difference_table(output.result));
  document["rows"] = json_of(rows_for_programs(output));
  out << document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

void print(const ComparisonOutput& output, ComparisonFormat format, std::ostream& out) {
  switch (format) {
    case ComparisonFormat::text:
      return print_text(output, false, out);
    case ComparisonFormat::markdown:
      return print_text(output, true, out);
    case ComparisonFormat::csv:
      return print(rows_for_programs(output), TableFormat::csv, out);
    case ComparisonFormat::json:
      return print_json(output, out);
    case ComparisonFormat::html:
      return print_html(output, out);
    case ComparisonFormat::junit:
      return print_junit(output, out);
  }
}

}  // namespace attnscope
