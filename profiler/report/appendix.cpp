// SPDX-License-Identifier: Apache-2.0
// Tables of all points and runs, the measured machines in two lines, and notes: method, caveats and sources.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/command_text.h"
#include "profiler/points/impossible_values.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {

namespace {

using analysis::Row;
using analysis::RunIndex;

struct ValueRange {
  bool known = false;
  double low = 0;
  double high = 0;

  void take(double value) {
    low = known ? std::min(low, value) : value;
    high = known ? std::max(high, value) : value;
    known = true;
  }
};

/// Returns "5" or "5 – 20"; empty if unknown.
std::string between(const ValueRange& of) {
  if (!of.known) return {};
  return of.low == of.high ? exact_text(of.low) : fmt::format("{} – {}", exact_text(of.low), exact_text(of.high));
}

struct RunTotals {
  std::size_t points = 0;
  std::size_t ok = 0;
  std::size_t throttled = 0;
  ValueRange samples;
  ValueRange clock_mhz;
  double worst_error = 0;  ///< relative to its bound
  std::size_t judged = 0;
  std::set<std::string> caches;
  std::set<std::string> digests;
  std::set<std::string> statements;  ///< descriptions of user-defined kernels
};

std::size_t samples_of(const analysis::PointTable& table, Row row) {
  const std::optional<analysis::RowKernel> sum = table.points().sum(row);
  const std::optional<SampleSummary> times = sum ? sum->times() : std::nullopt;
  return times ? times->count : 0;
}

std::vector<RunTotals> look_at_runs(const Input& input) {
  std::vector<RunTotals> runs(input.table.runs().size());
  std::set<std::pair<RunIndex, const StoredManifest*>> described;
  for (const Row row : input.table.rows()) {
    RunTotals& run = runs[input.table.run_index(row)];
    const PointFacts& facts = input.points[row];
    ++run.points;
    if (input.table.disposition(row) == Disposition::ok) ++run.ok;
    if (input.table.throttled(row)) ++run.throttled;
    if (const std::size_t samples = samples_of(input.table, row); samples > 0) {
      run.samples.take(static_cast<double>(samples));
    }
    const double clock = input.table.points().sm_clock_hz(row);
    if (clock > 0) run.clock_mhz.take(std::round(clock / 1e6));
    if (facts.max_abs_error && facts.error_bound && *facts.error_bound > 0) {
      ++run.judged;
      run.worst_error = std::max(run.worst_error, *facts.max_abs_error / *facts.error_bound);
    }
    run.caches.emplace(to_string(input.table.spec(row).cache));
    std::istringstream digests(input.table.points().sources(row));
    run.digests.insert(std::istream_iterator<std::string>(digests), {});
    if (facts.manifest && described.emplace(input.table.run_index(row), facts.manifest.get()).second)
      run.statements.insert(fmt::format("{} {}", input.table.spec(row).algorithm, describe(*facts.manifest)));
  }
  return runs;
}

/// Returns the command without folders, which are specific to the recording machine: "/folder/file",
/// "--output=/folder/file" and "-o/folder/file" lose them.
std::string command_of(const std::vector<std::string>& argv) {
  static const std::regex folder("^(--[^=]*=|-.)?/(.*/)?");
  std::string line;
  for (const std::string& word : argv) {
    const bool program = line.empty();
    line += program ? shell_quoted(word.substr(word.find_last_of('/') + 1))
                    : " " + shell_quoted(std::regex_replace(word, folder, "$1"));
  }
  return line;
}

/// Line of the table of runs.
struct RunLine {
  const analysis::Run* run;
  const RunFacts* facts;
  RunTotals totals;
};

Table run_table(const Context& context) {
  std::vector<RunLine> lines;
  std::vector<RunTotals> seen = look_at_runs(context.input);
  for (RunIndex run = 0; run < seen.size(); ++run) {
    if (seen[run].points > 0)
      lines.push_back({&context.table().runs()[run], &context.input.runs[run], std::move(seen[run])});
  }
  analysis::TableBuilder<RunLine> table(std::move(lines));
  const auto add = [&](const char* key, const Message& title, auto cell) {
    // Long texts without spaces would widen the table.
    const bool is_long = std::string_view(key) == "digest" || std::string_view(key) == "command";
    const auto kind = is_long ? analysis::ColumnKind::sentence : analysis::ColumnKind::text;
    table.add({.key = key, .title = text(title), .kind = kind}, cell);
  };
  // Simulated and imported points have no samples or clocks, even if the run's options mention them.
  const auto if_measured = [](auto cell) {
    return [cell](const RunLine& of) {
      return of.run->provenance == Provenance::measured ? std::string(cell(of)) : std::string();
    };
  };
  const auto add_fact = [&](const char* key, const Message& title, std::string RunFacts::*fact) {
    add(key, title, [fact](const RunLine& of) { return of.facts->*fact; });
  };
  add("run", msg::report::column_run{}, [](const RunLine& of) { return of.run->title; });
  add("gpu", msg::report::fact_gpu{},
      [](const RunLine& of) { return fmt::format("{} ({})", of.run->device_name, of.run->device_id); });
  add("values", msg::report::fact_origin{}, [](const RunLine& of) { return origin_text(of.run->provenance); });
  add_fact("because", msg::report::fact_simulation_reason{}, &RunFacts::simulation_reason);
  add_fact("l2", msg::report::fact_l2{}, &RunFacts::l2_source);
  add_fact("rates", msg::report::fact_rates{}, &RunFacts::rates_source);
  add_fact("program", msg::report::fact_program{}, &RunFacts::program);
  add_fact("driver", msg::report::fact_driver{}, &RunFacts::driver);
  add("cupti", msg::report::fact_cupti{},
      [](const RunLine& of) { return of.facts->counters ? of.facts->cupti : text(msg::report::no_counters{}); });
  add_fact("nvrtc", msg::report::fact_nvrtc{}, &RunFacts::nvrtc);
  add_fact("system", msg::report::fact_system{}, &RunFacts::system);
  add("sampling", msg::report::fact_sampling{}, if_measured([](const RunLine& of) {
        const RunFacts& facts = *of.facts;
        if (facts.max_samples == 0) return std::string();
        return text(msg::report::sampling{
            .least = facts.min_samples, .most = facts.max_samples, .noise = text(Share(facts.max_noise))});
      }));
  add("rounds", msg::report::fact_rounds{},
      if_measured([](const RunLine& of) { return std::to_string(of.facts->rounds); }));
  add("started", msg::report::fact_started{},
      [](const RunLine& of) { return fmt::format("{} ({})", of.facts->started_at, of.facts->state); });
  add("points", msg::report::fact_points{},
      [](const RunLine& of) { return text(msg::report::points_ok{.ok = of.totals.ok, .points = of.totals.points}); });
  add("samples", msg::report::fact_samples{},
      if_measured([](const RunLine& of) { return between(of.totals.samples); }));
  add("clock", msg::report::fact_clock{},
      [](const RunLine& of) { return of.totals.clock_mhz.known ? between(of.totals.clock_mhz) + " MHz" : ""; });
  add("throttled", msg::report::fact_throttled{},
      if_measured([](const RunLine& of) { return std::to_string(of.totals.throttled); }));
  add("cache", msg::report::fact_cache{}, [](const RunLine& of) { return join_texts(of.totals.caches); });
  add("outputs", msg::report::fact_oracle{}, [](const RunLine& of) {
    if (of.totals.judged == 0) return text(msg::report::not_verified{});
    return text(msg::report::verified{.points = of.totals.judged, .share = number_text(of.totals.worst_error)});
  });
  // Equal digests mean equal kernels.
  add("digest", msg::report::fact_digest{}, [](const RunLine& of) {
    const std::set<std::string>& digests = of.totals.digests;
    if (digests.size() < 2) return join_texts(digests);
    return text(msg::report::digests{.count = digests.size(), .first = *digests.begin(), .last = *digests.rbegin()});
  });
  add("statement", msg::report::fact_statement{}, [](const RunLine& of) { return join_texts(of.totals.statements); });
  add("command", msg::report::column_command{}, [](const RunLine& of) { return command_of(of.facts->argv); });
  table.table().drop_empty_columns();
  return fill_table(table.table(), "runs", text(msg::report::runs_caption{}));
}

Table point_table(const Context& context) {
  const analysis::PointTable& points = context.table();
  analysis::TableBuilder<Row> table(points.rows());
  using analysis::ColumnKind;
  table.add({.key = "row", .title = text(msg::report::column_row{})},
            [](Row row) { return static_cast<double>(row) + 1; });
  table.add({.key = "run", .title = text(msg::report::column_run{})}, [&](Row row) { return points.run(row).title; });
  table.add({.key = "point", .title = text(msg::report::column_point{}), .kind = ColumnKind::sentence},
            [&](Row row) { return describe(points.spec(row)); });
  table.add({.key = "n", .title = "N"}, [&](Row row) {
    return analysis::Cell{.text = analysis::lengths_text(points.problem(row)),
                          .number = static_cast<double>(points.n_k(row))};
  });
  table.add({.key = "d", .title = "d"}, [&](Row row) { return static_cast<double>(points.problem(row).d); });
  table.add({.key = "outcome", .title = text(msg::report::column_outcome{})},
            [&](Row row) { return title(points.disposition(row)); });
  // Pages show rounded values with units; files have the number of a cell.
  const auto add = [&](std::string_view key, const Message& title, const analysis::ValueColumn& values, auto shown,
                       bool needs_several = false) {
    table.add({.key = std::string(key), .title = text(title), .kind = ColumnKind::number},
              [&, shown, needs_several](Row row) {
                if (!values.has(row) || (needs_several && samples_of(points, row) < 2)) return analysis::Cell{};
                return analysis::Cell{.text = shown(values.value(row)), .number = values.value(row)};
              });
  };
  const auto time = [](double ns) { return text(Nanoseconds(ns)); };
  const auto bytes = [](double count) { return text(Bytes(count)); };
  add(metric_key::time_median_ns, msg::report::column_time{}, points.values(metric_key::time_median_ns), time);
  // A single sample has no quartiles.
  add(metric_key::time_q1_ns, msg::report::column_q1{}, points.values(metric_key::time_q1_ns), time, true);
  add(metric_key::time_q3_ns, msg::report::column_q3{}, points.values(metric_key::time_q3_ns), time, true);
  add(metric_key::tflops, Message::verbatim("TFLOP/s"), points.values(metric_key::tflops),
      [](double rate) { return number_text(rate); });
  add("dram_bytes", msg::report::column_dram{}, points.dram_traffic(), bytes);
  add(metric_key::l2_sm_bytes, msg::report::column_sm_l2{}, points.values(metric_key::l2_sm_bytes), bytes);
  add(metric_key::l2_sm_over_model, msg::report::column_over{}, points.values(metric_key::l2_sm_over_model),
      [](double ratio) { return fmt::format("{:.4f}", ratio); });
  table.add({.key = "origin", .title = text(msg::report::column_origin{})}, [&](Row row) {
    return analysis::has_values(points.disposition(row))
               ? origin_text(points.points().origin(row), points.throttled(row))
               : "";
  });
  table.add({.key = "reason", .title = text(msg::report::column_reason{}), .kind = ColumnKind::sentence},
            [&](Row row) { return points.reason(row); });
  Table written = fill_table(table.table(), "points", text(msg::report::appendix_caption{}));
  written.of_points = true;
  return written;
}

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

std::vector<Table> appendix(const Context& context) {
  std::vector<Table> tables;
  tables.push_back(point_table(context));
  tables.push_back(run_table(context));
  return tables;
}

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
