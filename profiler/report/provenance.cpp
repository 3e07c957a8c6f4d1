// SPDX-License-Identifier: Apache-2.0
// Notes of a report: the measured machines in two lines; method, caveats and sources in the appendix.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/points/impossible_values.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::Row;

/// Returns "NVIDIA H200 (driver 580.65, CUDA 13.0, attnscope 0.1.0)", with the provenance unless measured.
std::string device_text(const analysis::Run& run, const RunFacts& facts) {
  std::vector<std::string> words;
  if (run.provenance != Provenance::measured) words.push_back(origin_text(run.provenance));
  if (!facts.driver.empty()) words.push_back("driver " + facts.driver);
  if (!facts.nvrtc.empty()) words.push_back("CUDA " + facts.nvrtc);
  if (!facts.program.empty()) words.push_back("attnscope " + facts.program);
  return words.empty() ? run.device_name : fmt::format("{} ({})", run.device_name, fmt::join(words, ", "));
}

std::string machine_line(const Input& input) {
  constexpr std::size_t date_digits = 10;
  std::set<std::string> devices;
  std::set<std::string> measured;
  for (const Row row : input.table.rows()) {
    const analysis::Run& run = input.table.run(row);
    if (run.provenance == Provenance::measured) measured.insert(run.device_name);
  }
  for (const Row row : input.table.rows()) {
    const analysis::Run& run = input.table.run(row);
    // Imports from a GPU that is listed are counted in the second line.
    const bool listed = run.provenance == Provenance::imported && measured.contains(run.device_name);
    if (!listed) devices.insert(device_text(run, input.runs[input.table.run_index(row)]));
  }
  std::string first;
  std::string last;
  for (const RunFacts& run : input.runs) {
    if (first.empty() || run.started_at < first) first = run.started_at;
    last = std::max({last, run.started_at, run.finished_at});
  }
  first.resize(std::min(first.size(), date_digits));
  last.resize(std::min(last.size(), date_digits));
  const std::string dates = first == last ? first : text(msg::report::dates{.first = first, .last = last});
  return text(msg::report::measured_on{.dates = dates,
                                       .devices = fmt::format("{}", fmt::join(devices, "; ")),
                                       .points = input.table.size(),
                                       .runs = input.runs.size()});
}

struct ConditionCounts {
  std::size_t with_values = 0;
  std::size_t simulated = 0;
  std::size_t imported = 0;
  std::size_t throttled = 0;
  std::size_t verified = 0;
  std::set<long> clock_mhz;
  std::set<int> rounds;
};

ConditionCounts count_conditions(const Input& input) {
  ConditionCounts counts;
  for (const Row row : input.table.rows()) {
    if (!analysis::has_values(input.table.disposition(row))) continue;  // failed points have no data
    const Provenance provenance = input.table.run(row).provenance;
    ++counts.with_values;
    if (is_simulated(provenance)) ++counts.simulated;
    if (provenance == Provenance::imported) ++counts.imported;
    if (input.table.throttled(row)) ++counts.throttled;
    const PointFacts& facts = input.points[row];
    if (facts.max_abs_error && facts.error_bound && *facts.error_bound > 0) ++counts.verified;
    const double clock = input.table.points().sm_clock_hz(row);
    if (clock > 0) counts.clock_mhz.insert(std::lround(clock / 1e6));
    if (provenance == Provenance::measured) counts.rounds.insert(static_cast<int>(input.table.points().rounds(row)));
  }
  return counts;
}

template <class Number>
std::string range_text(const std::set<Number>& values) {
  if (values.size() == 1) return fmt::format("{}", *values.begin());
  return text(msg::report::range{.high = fmt::to_string(*values.rbegin()), .low = fmt::to_string(*values.begin())});
}

std::string conditions_line(const Context& context) {
  const Input& input = context.input;
  const ConditionCounts counts = count_conditions(input);
  std::vector<Message> words;
  if (!counts.clock_mhz.empty()) words.push_back(msg::report::clocks{.range = range_text(counts.clock_mhz)});
  if (counts.throttled > 0)
    words.push_back(msg::report::is_throttled{.all = counts.with_values, .points = counts.throttled});
  if (!counts.rounds.empty()) words.push_back(msg::report::rounds{.range = range_text(counts.rounds)});
  if (counts.verified > 0) words.push_back(msg::report::is_verified{.points = counts.verified});
  if (counts.simulated > 0)
    words.push_back(msg::report::is_simulated{.all = counts.with_values, .points = counts.simulated});
  if (counts.imported > 0)
    words.push_back(msg::report::is_imported{.all = counts.with_values, .points = counts.imported});
  if (!input.filter.empty()) {
    words.push_back(
        msg::report::is_filtered{.all = input.unfiltered_count, .filter = input.filter, .points = input.table.size()});
  }
  if (input.damaged_rows > 0)
    words.push_back(msg::report::is_damaged{.damage = input.first_damage, .rows = input.damaged_rows});
  if (input.unverified_runs > 0) words.push_back(msg::report::is_unverified{.runs = input.unverified_runs});
  if (context.has_pairs()) {
    const analysis::ComparisonView& view = context.compared->view;
    if (view.answers.front().detectable > 0) words.push_back(view.evidence.front());
    words.push_back(view.tally);
  }
  std::string line;
  for (const Message& each : words) line += (line.empty() ? "" : " ") + text(each);
  return line;
}

}  // namespace

std::vector<std::string> measured_lines(const Context& context) {
  std::vector<std::string> lines{machine_line(context.input)};
  if (std::string conditions = conditions_line(context); !conditions.empty()) lines.push_back(std::move(conditions));
  return lines;
}

std::vector<std::string> notes_of(const Context& context) {
  const Input& input = context.input;
  std::vector<std::string> notes;
  std::set<std::string> files;
  for (const RunFacts& run : input.runs) files.insert(run.file);
  notes.push_back(text(msg::report::files{.files = join_texts(files)}));
  if (context.has_pairs()) {
    for (const analysis::ComparisonView& view : context.compared->candidates) {
      for (const auto* part : {&view.method, &view.spreads}) {
        for (const Message& note : *part) notes.push_back(text(note));
      }
    }
    for (const Message& missing : context.compared->missing) notes.push_back(text(missing));
  }
  if (input.fuller_copies > 0) notes.push_back(text(msg::report::duplicates{.points = input.fuller_copies}));
  std::map<std::string, std::size_t> noted;
  for (const Row row : input.table.rows()) {
    const Message& note = input.table.reason(row);
    const bool is_note = input.table.disposition(row) == Disposition::ok && !note.empty();
    if (is_note && !analysis::impossible_value(input.table, row)) ++noted[text(note)];
  }
  for (const auto& [note, count] : noted) notes.push_back(text(msg::report::noted{.count = count, .note = note}));
  return notes;
}

}  // namespace attnscope::report
