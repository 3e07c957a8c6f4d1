// SPDX-License-Identifier: Apache-2.0
#include "app/comparison_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "app/point_words.h"
#include "app/table.h"
#include "messages/compare.h"
#include "profiler/analysis/comparison_words.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

using analysis::ComparedLevel;
using analysis::ComparedPair;
using analysis::LeftOut;
using analysis::RatioInterval;
using analysis::Row;
using analysis::Verdict;

constexpr std::array<const char*, analysis::compared_level_count> level_titles{"DRAM", "DRAM settled", "SM<->L2"};

std::string number_text(double value) {
  return fmt::format("{}", value);
}

std::string number_text(const std::optional<double>& value) {
  return value ? number_text(*value) : std::string();
}

/// "0.952 [0.949, 0.955]"
std::string interval_text(const RatioInterval& ratio) {
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

/// In what the other point differs from the base's.
std::string against(const ComparisonOutput& output, const ComparedPair& pair) {
  const analysis::PointTable& table = output.sides.table;
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  std::vector<std::string> words = axis_words_beside(table.spec(other), table.spec(base));
  if (table.run(base).device_name != table.run(other).device_name) words.push_back(table.run(other).device_name);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string settling_words_of(const ComparisonOutput& output, const ComparedPair& pair) {
  return text(analysis::settling_words(output.sides.table, pair, output.request.verdicts.margin));
}

/// Why rows of one side stand alone.
Message why_words(const ComparisonOutput& output, const LeftOut& left) {
  switch (left.why) {
    case LeftOut::Why::no_partner:
      return say::compare::no_partner{};
    case LeftOut::Why::several:
      return say::compare::several{.points = left.rows.size()};
    case LeftOut::Why::failed:
    case LeftOut::Why::both_failed:
      break;
  }
  return analysis::failure_words(output.sides.table, left);
}

Table difference_table(const ComparisonOutput& output) {
  Table table{{{"what"}, {"base"}, {"other"}}, {}};
  for (const analysis::Difference& difference : output.result.differences) {
    table.rows.push_back({difference.name, difference.base, difference.other});
  }
  return table;
}

Table left_table(const ComparisonOutput& output) {
  Table table{{{"side"}, {"point"}, {"points", true}, {"why"}}, {}};
  for (const LeftOut& left : output.result.left_out) {
    table.rows.push_back({left.of_other ? "other" : "base", describe(output.sides.table.spec(left.rows.front())),
                          fmt::to_string(left.rows.size()), text(why_words(output, left))});
  }
  return table;
}

/// What no row has takes no room.
void drop_empty_columns(Table& table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const auto is_empty = [&](const std::vector<std::string>& row) { return row.at(column).empty(); };
    if (table.rows.empty() || !std::ranges::all_of(table.rows, is_empty)) continue;
    const auto place = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + place);
    for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + place);
  }
}

Table pairs_for_people(const ComparisonOutput& output) {
  Table table{{{"point"}, {"against"}, {"base", true}, {"other", true}, {"other/base", true}, {"cycles", true}}, {}};
  for (const char* title : level_titles) table.columns.push_back({title, true});
  table.columns.push_back({"rounds", true});
  table.columns.push_back({"verdict"});
  table.columns.push_back({"what to do"});
  for (const ComparedPair& pair : output.result.pairs) {
    const analysis::RowVerdict& verdict = pair.verdict;
    std::vector<std::string> row{describe(output.sides.table.spec(pair.base.front())),
                                 against(output, pair),
                                 text(Nanoseconds(pair.base_ns)),
                                 text(Nanoseconds(pair.other_ns)),
                                 interval_text(verdict.time),
                                 verdict.cycles ? interval_text(*verdict.cycles) : ""};
    for (const ComparedLevel& level : pair.levels) {
      row.push_back(level.ratio() ? fmt::format("{:.3f}", *level.ratio()) : "");
    }
    row.push_back(fmt::to_string(verdict.rounds));
    row.emplace_back(to_string(verdict.verdict));
    row.push_back(settling_words_of(output, pair));
    table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table);
  return table;
}

constexpr std::array program_columns{
    "base_file",  "other_file",  "base_run",        "other_run",        "base_device",  "other_device",
    "base_point", "other_point", "base_provenance", "other_provenance", "base_ns",      "other_ns",
    "ratio",      "ratio_low",   "ratio_high",      "base_cycles",      "other_cycles", "cycles_ratio",
    "cycles_low", "cycles_high", "rounds",          "recordings",       "interleaved",  "floor",
    "spread",     "p_change",    "p_same",          "verdict",          "undecided",    "rounds_needed",
    "settle",     "left_out",    "reason"};
constexpr std::array text_columns{"base_file",    "other_file", "base_run",    "other_run",       "base_device",
                                  "other_device", "base_point", "other_point", "base_provenance", "other_provenance",
                                  "interleaved",  "floor",      "verdict",     "undecided",       "settle",
                                  "left_out",     "reason"};

/// Fields by name, so that a row may have any of them.
using Named = std::vector<std::pair<std::string, std::string>>;

void add_side(const ComparisonOutput& output, const char* side, Row row, Named& fields) {
  const analysis::Run& run = output.sides.table.run(row);
  fields.emplace_back(fmt::format("{}_file", side), output.sides.files[output.sides.table.run_index(row)]);
  fields.emplace_back(fmt::format("{}_run", side), run.title);
  fields.emplace_back(fmt::format("{}_provenance", side),
                      std::string(to_string(output.sides.table.points().origin(row))));
  fields.emplace_back(fmt::format("{}_device", side), run.device_name);
  fields.emplace_back(fmt::format("{}_point", side), describe(output.sides.table.spec(row)));
}

Named pair_for_programs(const ComparisonOutput& output, const ComparedPair& pair) {
  const analysis::RowVerdict& verdict = pair.verdict;
  Named fields;
  add_side(output, "base", pair.base.front(), fields);
  add_side(output, "other", pair.other.front(), fields);
  fields.insert(fields.end(), {{"base_ns", number_text(pair.base_ns)},
                               {"other_ns", number_text(pair.other_ns)},
                               {"ratio", number_text(verdict.time.ratio)},
                               {"ratio_low", number_text(verdict.time.interval.low)},
                               {"ratio_high", number_text(verdict.time.interval.high)},
                               {"base_cycles", number_text(pair.base_cycles)},
                               {"other_cycles", number_text(pair.other_cycles)},
                               {"rounds", fmt::to_string(verdict.rounds)},
                               {"recordings", fmt::to_string(pair.recordings)},
                               {"interleaved", pair.paired ? "yes" : "no"},
                               {"floor", std::string(to_string(verdict.floor))},
                               {"p_change", number_text(verdict.p_change)},
                               {"p_same", number_text(verdict.p_same)},
                               {"verdict", std::string(to_string(verdict.verdict))},
                               {"undecided", std::string(to_string(verdict.undecided))},
                               {"settle", settling_words_of(output, pair)}});
  if (verdict.spread > 0) fields.emplace_back("spread", number_text(verdict.spread));
  if (verdict.rounds_needed) fields.emplace_back("rounds_needed", fmt::to_string(*verdict.rounds_needed));
  if (verdict.cycles) {
    fields.emplace_back("cycles_ratio", number_text(verdict.cycles->ratio));
    fields.emplace_back("cycles_low", number_text(verdict.cycles->interval.low));
    fields.emplace_back("cycles_high", number_text(verdict.cycles->interval.high));
  }
  for (std::size_t level = 0; level < pair.levels.size(); ++level) {
    const std::string key(analysis::compared_levels()[level]);
    fields.emplace_back("base_" + key, number_text(pair.levels.at(level).base));
    fields.emplace_back("other_" + key, number_text(pair.levels.at(level).other));
    fields.emplace_back("ratio_" + key, number_text(pair.levels.at(level).ratio()));
  }
  return fields;
}

Table pairs_for_programs(const ComparisonOutput& output) {
  Table table;
  for (const char* name : program_columns) {
    table.columns.push_back({name, std::ranges::find(text_columns, std::string_view(name)) == text_columns.end()});
  }
  for (const std::string_view key : analysis::compared_levels()) {
    for (const char* part : {"base", "other", "ratio"})
      table.columns.push_back({fmt::format("{}_{}", part, key), true});
  }
  const auto add = [&](const Named& fields) {
    std::vector<std::string>& row = table.rows.emplace_back(table.columns.size());
    for (const auto& [name, value] : fields) {
      const auto column = std::ranges::find(table.columns, name, &TableColumn::name);
      row.at(static_cast<std::size_t>(column - table.columns.begin())) = value;
    }
  };
  for (const ComparedPair& pair : output.result.pairs) add(pair_for_programs(output, pair));
  for (const LeftOut& left : output.result.left_out) {
    for (const Row row : left.rows) {
      Named fields;
      add_side(output, left.of_other ? "other" : "base", row, fields);
      fields.emplace_back("left_out", std::string(to_string(left.why)));
      fields.emplace_back("reason", text(why_words(output, left)));
      add(fields);
    }
  }
  return table;
}

/// What has to be known of the verdicts, a sentence each.
std::vector<std::string> notes_of(const ComparisonOutput& output) {
  const analysis::ComparisonResult& result = output.result;
  std::vector<std::string> notes{
      text(say::compare::aligned{.alignment = fmt::format("{}", fmt::join(output.request.alignment.words(), ", "))}),
      text(say::compare::method{.margin = fmt::format("{}", 100 * output.request.verdicts.margin),
                                .rows = result.pairs.size(),
                                .level = fmt::format("{}", 100 * output.request.verdicts.level)})};
  for (const Message& note : analysis::floor_words({&result}, output.request.verdicts, output.request.looks)) {
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
  out << counts_of(output) << "\n\n";
  heading(text(say::compare::differences{}));
  if (output.result.differences.empty()) {
    out << no_differences() << '\n';
  } else {
    print(difference_table(output), format, out);
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

void print_html_table(const Table& table, std::ostream& out) {
  out << "<table>\n<thead><tr>";
  for (const TableColumn& column : table.columns) out << "<th scope=\"col\">" << html_text(column.name) << "</th>";
  out << "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out << "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool verdict = table.columns[i].name == "verdict";
      out << (table.columns[i].number ? "<td class=\"n\">"
              : verdict               ? "<td class=\"" + html_text(row[i]) + "\">"
                                      : "<td>")
          << html_text(row[i]) << "</td>";
    }
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

void print_html(const ComparisonOutput& output, std::ostream& out) {
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << html_text(title_of(output))
      << "</title>\n<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:2em}"
         "table{border-collapse:collapse;margin:0 0 1.5em}th,td{border:1px solid #8888;padding:.25em "
         ".6em;text-align:left;"
         "vertical-align:top}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
         ".FASTER{font-weight:bold;color:#0a7d32}.SLOWER{font-weight:bold;color:#c62828}.AMBIGUOUS{font-style:italic}"
         "@media(prefers-color-scheme:dark){.FASTER{color:#6fd08c}.SLOWER{color:#ff8a80}}</style></head><body>\n<h1>"
      << html_text(title_of(output)) << "</h1>\n<p>" << html_text(counts_of(output)) << "</p>\n<h2>"
      << html_text(text(say::compare::differences{})) << "</h2>\n";
  if (output.result.differences.empty()) {
    out << "<p>" << html_text(no_differences()) << "</p>\n";
  } else {
    print_html_table(difference_table(output), out);
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

nlohmann::ordered_json json_of(const Table& table) {
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
  document["margin"] = output.request.verdicts.margin;
  document["level"] = output.request.verdicts.level;
  document["notes"] = notes_of(output);
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    document["counts"][std::string(to_string(verdict))] = output.result.count(verdict);
  }
  document["counts"]["left_out"] = output.result.left_out.size();
  document["differences"] = json_of(difference_table(output));
  document["rows"] = json_of(pairs_for_programs(output));
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
      return print(pairs_for_programs(output), TableFormat::csv, out);
    case ComparisonFormat::json:
      return print_json(output, out);
    case ComparisonFormat::html:
      return print_html(output, out);
  }
}

}  // namespace attnscope
