// SPDX-License-Identifier: Apache-2.0
// Tables of all rows: verdicts, points, and runs with conditions and commands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/command_text.h"
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

/// Keeps `prefix` characters and the file name: "prefix/folder/file" becomes "prefixfile".
std::string without_path(const std::string& word, std::size_t prefix) {
  return word.substr(0, prefix) + word.substr(word.find_last_of('/') + 1);
}

/// Removes the folder from "/folder/file", "--output=/folder/file" and "-o/folder/file".
std::string without_folder(const std::string& word) {
  if (word.starts_with('/')) return without_path(word, 0);
  const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 2;
  const bool of_option = word.size() > 2 && word.starts_with('-') && value > 0 && word.substr(value).starts_with('/');
  return of_option ? without_path(word, value) : word;
}

std::string command_of(const std::vector<std::string>& argv) {
  std::string line;
  for (std::size_t k = 0; k < argv.size(); ++k) {
    // Paths are specific to the recording machine.
    const std::string word = k == 0 ? without_path(argv[k], 0) : without_folder(argv[k]);
    if (k > 0) line += ' ';
    line += shell_quoted(word);
  }
  return line;
}

Table run_table(const Context& context) {
  const std::vector<RunTotals> seen = look_at_runs(context.input);
  std::vector<RunIndex> runs;
  for (RunIndex run = 0; run < seen.size(); ++run) {
    if (seen[run].points > 0) runs.push_back(run);
  }
  analysis::TableBuilder<RunIndex> table(std::move(runs));
  const auto add = [&](const char* key, const Message& title, auto cell) {
    // Long texts without spaces would widen the table.
    const bool is_long = std::string_view(key) == "digest" || std::string_view(key) == "command";
    const auto kind = is_long ? analysis::ColumnKind::sentence : analysis::ColumnKind::text;
    table.add({.key = key, .title = text(title), .kind = kind}, [&, cell](RunIndex run) {
      return std::string(cell(context.table().runs()[run], context.input.runs[run], seen[run]));
    });
  };
  using analysis::Run;
  const auto measured = [](const Run& run) { return run.provenance == Provenance::measured; };
  add("run", msg::report::column_run{}, [](const Run& run, const RunFacts&, const RunTotals&) { return run.title; });
  add("gpu", msg::report::fact_gpu{}, [](const Run& run, const RunFacts&, const RunTotals&) {
    return fmt::format("{} ({})", run.device_name, run.device_id);
  });
  add("values", msg::report::fact_origin{},
      [](const Run& run, const RunFacts&, const RunTotals&) { return origin_text(run.provenance); });
  const auto add_fact = [&](const char* key, const Message& title, std::string RunFacts::*fact) {
    add(key, title, [fact](const Run&, const RunFacts& facts, const RunTotals&) { return facts.*fact; });
  };
  add_fact("because", msg::report::fact_simulation_reason{}, &RunFacts::simulation_reason);
  add_fact("l2", msg::report::fact_l2{}, &RunFacts::l2_source);
  add_fact("rates", msg::report::fact_rates{}, &RunFacts::rates_source);
  add_fact("program", msg::report::fact_program{}, &RunFacts::program);
  add_fact("driver", msg::report::fact_driver{}, &RunFacts::driver);
  add("cupti", msg::report::fact_cupti{}, [](const Run&, const RunFacts& facts, const RunTotals&) {
    return facts.counters ? facts.cupti : text(msg::report::no_counters{});
  });
  add_fact("nvrtc", msg::report::fact_nvrtc{}, &RunFacts::nvrtc);
  add_fact("system", msg::report::fact_system{}, &RunFacts::system);
  // Simulated and imported points have no samples or clocks, even if the run's options mention them.
  add("sampling", msg::report::fact_sampling{}, [=](const Run& run, const RunFacts& facts, const RunTotals&) {
    if (!measured(run) || facts.max_samples == 0) return std::string();
    return text(msg::report::sampling{
        .least = facts.min_samples, .most = facts.max_samples, .noise = text(Share(facts.max_noise))});
  });
  add("rounds", msg::report::fact_rounds{}, [=](const Run& run, const RunFacts& facts, const RunTotals&) {
    return measured(run) ? std::to_string(facts.rounds) : "";
  });
  add("started", msg::report::fact_started{}, [](const Run&, const RunFacts& facts, const RunTotals&) {
    return fmt::format("{} ({})", facts.started_at, facts.state);
  });
  add("points", msg::report::fact_points{}, [](const Run&, const RunFacts&, const RunTotals& of) {
    return text(msg::report::points_ok{.ok = of.ok, .points = of.points});
  });
  add("samples", msg::report::fact_samples{},
      [=](const Run& run, const RunFacts&, const RunTotals& of) { return measured(run) ? between(of.samples) : ""; });
  add("clock", msg::report::fact_clock{}, [](const Run&, const RunFacts&, const RunTotals& of) {
    return of.clock_mhz.known ? between(of.clock_mhz) + " MHz" : "";
  });
  add("throttled", msg::report::fact_throttled{}, [=](const Run& run, const RunFacts&, const RunTotals& of) {
    return measured(run) ? std::to_string(of.throttled) : "";
  });
  add("cache", msg::report::fact_cache{},
      [](const Run&, const RunFacts&, const RunTotals& of) { return join_texts(of.caches); });
  add("outputs", msg::report::fact_oracle{}, [](const Run&, const RunFacts&, const RunTotals& of) {
    return of.judged > 0 ? text(msg::report::verified{.points = of.judged, .share = number_text(of.worst_error)})
                         : text(msg::report::not_verified{});
  });
  // Equal digests mean equal kernels.
  add("digest", msg::report::fact_digest{}, [](const Run&, const RunFacts&, const RunTotals& of) {
    if (of.digests.size() < 2) return join_texts(of.digests);
    return text(
        msg::report::digests{.count = of.digests.size(), .first = *of.digests.begin(), .last = *of.digests.rbegin()});
  });
  add("statement", msg::report::fact_statement{},
      [](const Run&, const RunFacts&, const RunTotals& of) { return join_texts(of.statements); });
  add("command", msg::report::column_command{},
      [](const Run&, const RunFacts& facts, const RunTotals&) { return command_of(facts.argv); });
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

}  // namespace

std::vector<Table> appendix(const Context& context) {
  std::vector<Table> tables;
  tables.push_back(point_table(context));
  tables.push_back(run_table(context));
  return tables;
}

}  // namespace attnscope::report
