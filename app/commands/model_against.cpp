// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model_against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <iostream>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "app/commands/model_launches.h"
#include "app/format.h"
#include "app/interrupt.h"
#include "app/measured_points.h"
#include "app/point_table.h"
#include "kernels/registry.h"
#include "messages/terminal.h"
#include "profiler/analysis/prediction_error.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using analysis::ErrorFigures;

/// Plays the points, each on the GPU it was measured on; those that a cancel left out have no kernels.
std::vector<PointRecord> play(std::span<const MeasuredPoints::Point> points, const CancelToken& cancel) {
  std::vector<PointRecord> predicted(points.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::map<const RunSummary*, std::unique_ptr<Device>> devices;
    for (std::size_t i = next++; i < points.size() && !cancel.cancelled(); i = next++) {
      std::unique_ptr<Device>& device = devices[points[i].run];
      if (!device) device = make_simulated_device(points[i].run->limits, built_in_algorithms());
      predicted[i] = device->measure(points[i].record.spec, MeasureOptions{}, cancel);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  return predicted;
}

/// Of one row of figures, or of ranks; empty fields where it has none.
struct Line {
  std::string algorithm;
  std::string pass;
  std::string half;
  std::string quantity;
  std::string problem;
  std::size_t points = 0;
  std::optional<ErrorFigures> errors;
  std::optional<analysis::TileRanks> ranks;
};

std::vector<Line> lines_of(const analysis::PredictionErrors& errors) {
  std::vector<Line> lines;
  for (const auto& [quantity, value] :
       {std::pair("dram_bytes", &analysis::ErrorRow::dram), std::pair("time", &analysis::ErrorRow::time)}) {
    for (const analysis::ErrorRow& row : errors.rows) {
      const std::optional<ErrorFigures>& figures = row.*value;
      if (!figures) continue;
      lines.push_back({.algorithm = row.algorithm.empty() ? "all" : row.algorithm,
                       .pass = row.pass ? std::string(to_string(*row.pass)) : "all",
                       .half = row.half ? std::string(to_string(*row.half)) : "both",
                       .quantity = quantity,
                       .problem = {},
                       .points = figures->points,
                       .errors = figures,
                       .ranks = {}});
    }
  }
  for (const analysis::TileRanks& ranks : errors.ranks) {
    lines.push_back({.algorithm = ranks.problem.algorithm,
                     .pass = std::string(to_string(ranks.problem.problem.pass)),
                     .half = std::string(to_string(ranks.half)),
                     .quantity = "tile_ranks",
                     .problem = describe(ranks.problem.problem),
                     .points = ranks.tiles,
                     .errors = {},
                     .ranks = ranks});
  }
  return lines;
}

/// `devices`: those that the points were measured on.
Table whole_table(std::span<const Line> lines, const std::string& devices) {
  Table table{{{"algorithm"},
               {"pass"},
               {"half"},
               {"quantity"},
               {"problem"},
               {"points", true},
               {"problems", true},
               {"median_error", true},
               {"p95_error", true},
               {"worst_factor", true},
               {"median_ratio", true},
               {"spearman", true},
               {"chosen_over_fastest", true},
               {"devices"}},
              {}};
  const auto number = [](double value) { return fmt::format("{:.6g}", value); };
  for (const Line& line : lines) {
    std::vector<std::string>& fields = table.rows.emplace_back(std::vector<std::string>{
        line.algorithm, line.pass, line.half, line.quantity, line.problem, fmt::to_string(line.points)});
    if (line.errors) {
      append(fields, {fmt::to_string(line.errors->problems), number(line.errors->median), number(line.errors->p95),
                      number(line.errors->worst_factor), number(line.errors->ratio), "", ""});
    } else {
      append(fields, {"1", "", "", "", "", number(line.ranks->spearman), number(line.ranks->chosen_over)});
    }
    fields.push_back(devices);
  }
  return table;
}

void print_for_people(std::span<const Line> lines, TableFormat format) {
  const auto percent = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
  Table errors{{{"quantity"},
                {"algorithm"},
                {"pass"},
                {"half"},
                {"problems", true},
                {"points", true},
                {"median error", true},
                {"95th percentile", true},
                {"worst factor", true},
                {"predicted / measured", true}},
               {}};
  Table ranks{
      {{"algorithm"}, {"pass"}, {"problem"}, {"half"}, {"tiles", true}, {"Spearman", true}, {"chosen / fastest", true}},
      {}};
  for (const Line& line : lines) {
    if (line.errors) {
      errors.rows.push_back({line.quantity == "time" ? "time" : "DRAM bytes", line.algorithm, line.pass, line.half,
                             fmt::to_string(line.errors->problems), fmt::to_string(line.points),
                             percent(line.errors->median), percent(line.errors->p95),
                             fmt::format("{:.2f}", line.errors->worst_factor),
                             fmt::format("{:.3f}", line.errors->ratio)});
    } else {
      ranks.rows.push_back({line.algorithm, line.pass, line.problem, line.half, fmt::to_string(line.points),
                            fmt::format("{:.3f}", line.ranks->spearman),
                            fmt::format("{:.3f}", line.ranks->chosen_over)});
    }
  }
  print(errors, format, std::cout);
  if (ranks.rows.empty()) return;
  std::cout << '\n' << text(say::terminal::predicted_ranks{}) << "\n\n";
  print(ranks, format, std::cout);
}

}  // namespace

ExitCode model_against(std::span<const std::string> files, bool launches, TableFormat format) {
  const MeasuredPoints measured(files);
  const std::vector<MeasuredPoints::Point>& points = measured.points();
  const CancelToken& cancel = cancel_on_signals();
  if (launches) {
    print(launch_table(measured, cancel), format, std::cout);
    return cancel.cancelled() ? ExitCode::partial : measured.with_skipped(ExitCode::ok);
  }
  const std::vector<PointRecord> predicted = play(points, cancel);
  std::vector<analysis::PredictedPoint> pairs;
  std::set<std::string> devices;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (predicted[i].disposition != Disposition::ok || predicted[i].kernels.empty()) continue;
    pairs.push_back({&points[i].record, &predicted[i]});
    devices.insert(printable(points[i].run->device_name));
  }
  const std::vector<Line> lines = lines_of(analysis::prediction_errors(pairs));
  const std::string devices_text = fmt::format("{}", fmt::join(devices, ", "));
  if (format == TableFormat::text || format == TableFormat::markdown) {
    std::cout << text(say::terminal::predicted_against{.points = counted_points(pairs.size()),
                                                       .file = printable(fmt::format("{}", fmt::join(files, ", "))),
                                                       .devices = devices_text})
              << '\n'
              << text(say::terminal::predicted_how{}) << "\n\n";
    print_for_people(lines, format);
  } else {
    print(whole_table(lines, devices_text), format, std::cout);
  }
  if (cancel.cancelled()) {
    fmt::print(stderr, "{}\n",
               text(say::terminal::predicted_cancelled{.done = pairs.size(), .points = counted_points(points.size())}));
    return ExitCode::partial;
  }
  return measured.with_skipped(ExitCode::ok);
}

}  // namespace attnscope
