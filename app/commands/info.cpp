// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/user_kernels.h"
#include "profiler/metrics/manifest.h"
#include "profiler/plan/text.h"
#include "profiler/predict/unit_utilization.h"
#include "profiler/units/number_format.h"
#include "storage/run_store.h"
#include "storage/schema.h"

namespace attnscope {
namespace {

struct InfoOptions {
  std::string file;
  std::string filter;
  Output output;
};

struct PointSummary {
  std::map<Disposition, std::size_t> dispositions;
  std::set<Pass> passes;
  std::set<std::int64_t> n_q;  // decoding points only
  std::set<std::int64_t> dims;
  std::set<std::int64_t> lengths;
  std::set<std::string> algorithms;
  std::set<std::pair<std::string, std::string>> statements;  // user-defined kernels: algorithm, short description
  std::map<std::string, std::size_t> notes;                  // notes on points that are ok, with counts
  int rounds = 1;                                            // rounds that were measured
  std::size_t extrapolated = 0;                              // extrapolated points
  std::map<std::string, std::size_t> busiest;                // busiest units of points measured with --utilization

  [[nodiscard]] std::size_t points() const {
    std::size_t sum = 0;
    for (const auto& [disposition, count] : dispositions) sum += count;
    return sum;
  }
  void add(const PointRecord& record) {
    const PointSpec& spec = record.spec;
    ++dispositions[record.disposition];
    passes.insert(spec.problem.pass);
    if (spec.problem.n_q != spec.problem.n_k) n_q.insert(spec.problem.n_q);
    dims.insert(spec.problem.d);
    lengths.insert(spec.problem.n_k);
    algorithms.insert(spec.algorithm);
    if (record.manifest) statements.emplace(spec.algorithm, describe(*record.manifest));
    if (record.disposition == Disposition::ok && !record.reason.empty()) ++notes[text(record.reason)];
    if (!record.rounds.empty()) rounds = std::max(rounds, record.rounds.back().round + 1);
    if (record.origin() == Provenance::extrapolated) ++extrapolated;
    if (const auto bound = analysis::busiest_unit(record)) ++busiest[text(bound->metric->label())];
  }
};

/// Summaries keyed by run; runs without points are missing.
std::map<std::int64_t, PointSummary> summarize_points(const RunStore& store,
                                                      const std::optional<std::set<std::int64_t>>& ids) {
  std::map<std::int64_t, PointSummary> seen;
  const auto add = [&](StoredPoint&& point) {
    if (!ids || ids->contains(point.id)) seen[point.run_id].add(point.record);
  };
  store.visit_points(
      {}, 0, [&] { seen.clear(); }, add);
  return seen;
}

/// "fwd; d 64, 128; N 1024 to 16384; fa1, fa2": distinguishes runs of one name.
std::string contents(const PointSummary& of_run) {
  if (of_run.dispositions.empty()) return {};
  std::vector<std::string_view> passes;
  for (const Pass pass : of_run.passes) passes.push_back(to_string(pass));
  const std::int64_t first = *of_run.lengths.begin();
  const std::int64_t last = *of_run.lengths.rbegin();
  std::string words = fmt::format("{}; {}d {}; {} {}; {}", fmt::join(passes, ", "),
                                  of_run.n_q.empty() ? "" : fmt::format("n_q {}; ", fmt::join(of_run.n_q, ", ")),
                                  fmt::join(of_run.dims, ", "), of_run.n_q.empty() ? "N" : "n_k",
                                  first == last ? fmt::to_string(first) : format_text("{} to {}", first, last),
                                  fmt::join(of_run.algorithms, ", "));
  if (of_run.rounds > 1) words += "; " + format_text("{} rounds", of_run.rounds);
  if (of_run.extrapolated > 0) {
    words += "; " + format_text("{} extrapolated", points_text(of_run.extrapolated));
  }
  if (!of_run.busiest.empty()) {
    std::vector<std::string> units;
    for (const auto& [unit, points] : of_run.busiest) units.push_back(fmt::format("{} ({})", unit, points));
    words += "; " + format_text("busiest unit (points): {}", fmt::join(units, ", "));
  }
  return words;
}

/// "80 ok, 3 infeasible".
std::string dispositions(const PointSummary& of_run) {
  std::string words;
  for (const auto& [disposition, count] : of_run.dispositions) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, text(title(disposition)));
  }
  return words;
}

/// Number of planned points; empty for a session.
std::string planned(const RunSummary& run) {
  return run.planned_points > 0 || run.points == 0 ? fmt::to_string(run.planned_points) : std::string();
}

/// Prints which measured data each simulation uses, and why no GPU was measured.
void print_simulation_sources(std::span<const RunSummary> runs, Output& out) {
  for (const RunSummary& run : runs) {
    if (!run.l2_source.empty())
      out.line(format_text("run {} uses the L2 model of the {}; it is not validated on the {}", run.id,
                           printable(run.l2_source), printable(run.device_name)));
    if (!run.rates_source.empty())
      out.line(format_text("run {} predicts times with the rates measured on {}", run.id, printable(run.rates_source)));
    if (!run.simulation_reason.empty())
      out.line(format_text("run {} is simulated because no GPU was available: {}", run.id,
                           printable(run.simulation_reason)));
  }
}

/// Prints the manifests of user-defined kernels, and notes on points that are ok.
void print_manifests(const std::map<std::int64_t, PointSummary>& seen, Output& out) {
  std::set<std::pair<std::string, std::string>> statements;
  std::map<std::string, std::size_t> notes;
  for (const auto& [run, of_run] : seen) {
    statements.insert(of_run.statements.begin(), of_run.statements.end());
    for (const auto& [note, count] : of_run.notes) notes[note] += count;
  }
  for (const auto& [kernel, manifest] : statements) {
    out.line(format_text("user-defined kernel {}: manifest {}", printable(kernel), printable(manifest)));
  }
  for (const auto& [note, count] : notes) {
    out.line(format_text("{} (points: {})", printable(note), grouped(count)));
  }
}

void print_file_summary(const RunStore& store, std::span<const RunSummary> runs, std::size_t hidden,
                        std::size_t deleted, const std::map<std::int64_t, PointSummary>& seen, Output& out) {
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(store.file()));
  out.line(format_text("{}: schema version {}, {}, {}", store.file().string(), schema_version,
                       runs_text(runs.size() + deleted, hidden, deleted), text(Capacity(bytes))));
  std::map<std::string, const RunSummary*> devices;
  for (const RunSummary& run : runs) devices[run.device_uuid] = &run;
  for (const auto& [uuid, run] : devices) {
    const DeviceLimits& limits = run->limits;
    out.line(format_text("device {} {}: compute capability {}.{}, {} SMs, {} shared memory per block, {} L2, {} DRAM",
                         printable(limits.name), printable(uuid), limits.compute_major, limits.compute_minor,
                         limits.sm_count, text(Capacity(limits.shared_bytes_per_block)),
                         text(Capacity(limits.l2_bytes)), text(Capacity(limits.dram_bytes))));
  }
  for (const StoredCeilings& set : store.ceilings()) {
    out.line(format_text("ceilings of {} ({}): {} values, measured {}", printable(set.device_name),
                         printable(set.device_uuid), set.ceilings.size(), printable(set.measured_at)));
  }
  print_manifests(seen, out);
  print_simulation_sources(runs, out);
  if (!runs.empty()) out.blank_line();
}

ExitCode info(InfoOptions& options) {
  const std::string file = file_or_sample(options.file);
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  register_stored_kernels(store);
  const std::vector<RunSummary> runs = store.runs();
  std::optional<std::set<std::int64_t>> chosen;
  if (!options.filter.empty()) {
    const std::vector<std::int64_t> ids = load_points({file}, options.filter).ids();
    chosen.emplace(ids.begin(), ids.end());
  }
  std::map<std::int64_t, PointSummary> seen = summarize_points(store, chosen);
  TableRows rows;
  for (const RunSummary& run : runs) {
    if (chosen && seen[run.id].points() == 0) continue;
    rows.push_back({fmt::to_string(run.id), run.annotations.name, run.preset, std::string(to_string(run.state)),
                    run.device_name, std::string(to_string(run.provenance)), run.started_at, run.finished_at,
                    planned(run), fmt::to_string(chosen ? seen[run.id].points() : run.points),
                    dispositions(seen[run.id]), contents(seen[run.id]),
                    fmt::format("{}", fmt::join(run.annotations.tags, " ")),
                    options.output.is_text_output() ? one_line(run.annotations.note) : run.annotations.note,
                    run.environment.app_version, run.environment.driver_version, run.environment.cupti_version});
  }
  Output& out = options.output;
  const auto hidden = static_cast<std::size_t>(
      std::ranges::count_if(runs, [](const RunSummary& run) { return run.annotations.hidden; }));
  const std::size_t deleted = store.runs(true).size() - runs.size();
  if (out.is_text_output()) print_file_summary(store, runs, hidden, deleted, seen, out);
  const analysis::Table table = text_table(
      columns_named({"#run", "name", "preset", "state", "device", "provenance", "started_at", "finished_at", "#planned",
                     "#points", "dispositions", "contents", "tags", "note", "app", "driver", "cupti"}),
      std::move(rows));
  if (out.has_format("json")) {
    out.object({{"runs", runs.size() + deleted}, {"hidden", hidden}, {"deleted", deleted}, {"rows", rows_of(table)}});
  } else if (!out.is_text_output() || !runs.empty()) {
    out.table(table);
  }
  const std::vector<InvalidRow> skipped = store.invalid_rows();
  // CSV and JSON do not contain damaged rows; they go to stderr.
  std::ostream& to = out.is_text_output() ? std::cout : std::cerr;
  if (!skipped.empty()) out.blank_line();
  if (!skipped.empty())
    to << (skipped.size() == 1 ? "1 damaged row:" : format_text("{} damaged rows:", skipped.size())) << '\n';
  for (const InvalidRow& row : skipped)
    to << fmt::format("{}: {}\n", printable(text(row.where)), printable(text(row.why)));
  return log_skipped_rows(store, ExitCode::ok);
}

}  // namespace

Action add_info(CLI::App& command) {
  auto options = std::make_shared<InfoOptions>();
  command.add_option("FILE", options->file, ".attnscope file (default: the recorded sample)");
  add_filter_option(command, options->filter);
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return info(*options); }); };
}

}  // namespace attnscope
