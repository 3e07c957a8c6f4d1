// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model_against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "app/chosen_rates.h"
#include "app/commands/model_launches.h"
#include "app/in_parallel.h"
#include "app/interrupt.h"
#include "app/measured_points.h"
#include "app/point_fields.h"
#include "kernels/registry.h"
#include "messages/point.h"
#include "messages/terminal.h"
#include "profiler/analysis/prediction_error.h"
#include "profiler/analysis/published_errors.h"
#include "profiler/analysis/use_error.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

using analysis::ErrorFigures;

/// By run, what was measured of the GPU; nullptr: by table. `of_file` keeps what is pointed to, where `file` is named.
RatesOfRuns rates_of_runs(const MeasuredPoints& measured, const std::string& file,
                          std::vector<StoredCeilings>& of_file) {
  std::map<std::string, const StoredCeilings*> by_name;
  RatesOfRuns rates;
  of_file.reserve(measured.points().size());  // so that none of them moves
  for (const MeasuredPoints::Point& point : measured.points()) {
    if (rates.contains(point.run)) continue;
    const DeviceLimits& limits = point.run->limits;
    if (file.empty()) {
      rates[point.run] = newest_rates(measured.ceilings(), limits, point.device_uuid);
    } else {
      const auto [found, first] = by_name.try_emplace(limits.name, nullptr);
      if (first) found->second = &of_file.emplace_back(rates_of_file(file, limits));
      rates[point.run] = found->second;
    }
  }
  return rates;
}

/// Of each GPU whose rates were measured one sentence; one for those that go by table.
std::vector<Message> words_of(const RatesOfRuns& rates) {
  std::map<std::string, Message> measured;
  std::map<std::string, Message> by_table;
  for (const auto& [run, set] : rates) {
    if (set != nullptr) {
      measured[set->uid] = rates_said(*set, run->limits);
    } else {
      by_table[run->device_name] = say::terminal::rates_by_table{.gpu = printable(run->device_name)};
    }
  }
  std::vector<Message> words;
  for (const auto* said : {&measured, &by_table}) {
    for (const auto& [key, message] : *said) words.push_back(message);
  }
  return words;
}

/// One that cannot be played ends as others do that cannot be measured: with the reason.
PointRecord play(const PointSpec& spec, Device& device, const CancelToken& cancel) {
  PointRecord failed;
  failed.spec = spec;
  try {
    return device.measure(spec, MeasureOptions{}, cancel);
  } catch (const std::bad_alloc&) {
    failed.disposition = Disposition::out_of_memory;
    failed.reason = say::point::host_memory{};
  } catch (const std::exception& error) {
    failed.disposition = Disposition::crashed;
    failed.reason = Message::verbatim(one_line(error.what()));
  }
  return failed;
}

/// Each on the GPU it was measured on; those that a cancel left out have no kernels.
std::vector<PointRecord> play(std::span<const MeasuredPoints::Point> points, const RatesOfRuns& rates,
                              const CancelToken& cancel) {
  std::vector<PointRecord> predicted(points.size());
  in_parallel(points.size(), cancel, [&] {
    return [&, devices = std::map<const RunSummary*, std::unique_ptr<Device>>()](std::size_t i) mutable {
      std::unique_ptr<Device>& device = devices[points[i].run];
      if (!device) {
        const StoredCeilings* measured = rates.at(points[i].run);
        device = make_simulated_device(points[i].run->limits, known_algorithms(),
                                       measured != nullptr ? measured_ceilings(*measured) : MeasuredCeilings{});
      }
      predicted[i] = play(points[i].record.spec, *device, cancel);
    };
  });
  return predicted;
}

/// Points that could not be played, for one reason.
struct Unplayed {
  std::string algorithm;
  std::string pass;
  std::string reason;
  std::string first;  ///< of them
  std::size_t points = 0;
};

std::vector<Unplayed> unplayed(std::span<const PointRecord> predicted) {
  std::map<std::tuple<std::string, Pass, std::string>, Unplayed> groups;
  for (const PointRecord& record : predicted) {
    if (record.disposition == Disposition::ok || record.disposition == Disposition::cancelled) continue;
    const std::string reason = printable(text(record.reason));
    Unplayed& group = groups[{record.spec.algorithm, record.spec.problem.pass, reason}];
    if (group.points++ > 0) continue;
    group.algorithm = printable(record.spec.algorithm);
    group.pass = to_string(record.spec.problem.pass);
    group.reason = reason;
    group.first = printable(describe(record.spec));
  }
  std::vector<Unplayed> result;
  result.reserve(groups.size());
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

/// Of GPUs by their uuid; those of one name are told apart by it.
using DeviceNames = std::map<std::string, std::string>;

DeviceNames names_of(std::span<const MeasuredPoints::Point* const> points) {
  DeviceNames names;
  for (const MeasuredPoints::Point* point : points) names[point->device_uuid] = printable(point->run->device_name);
  std::map<std::string, int> shared;
  for (const auto& [uuid, name] : names) ++shared[name];
  for (auto& [uuid, name] : names) {
    if (shared[name] > 1) name += fmt::format(" ({})", printable(uuid));
  }
  return names;
}

/// Of one row of figures, of ranks, or of points that were left out; empty fields where it has none.
struct Line {
  std::string algorithm;
  std::string pass;
  std::string half;
  std::string quantity;
  std::string problem;  ///< of points that were left out, why they were
  std::size_t points = 0;
  std::optional<ErrorFigures> errors;
  std::optional<analysis::TileRanks> ranks;
};

/// Of tiles either may stand above the other: what their ratios are off by has no direction.
bool has_direction(const Line& line) {
  return line.quantity != "tile_ratio";
}

/// Errors of uses as lines of the same table: shares of a launch's time.
void append_uses(Table& table, const analysis::UseErrors& uses, const std::string& devices) {
  const auto add = [&](const std::string& quantity, std::size_t launches, double median, const std::string& p95) {
    table.rows.push_back({"all", "all", "both", quantity, "", fmt::to_string(launches)});
    append(table.rows.back(), {"", fmt::format("{:.6g}", median), p95, "", "", "", "", devices});
  };
  for (const GpuUnit unit : gpu_units) {
    const auto& error = uses.units.at(static_cast<std::size_t>(unit));
    if (!error) continue;
    add(fmt::format("use {}", to_string(unit)), error->launches, error->median, fmt::format("{:.6g}", error->p95));
  }
}

void print_uses(const analysis::UseErrors& uses, Output& out) {
  if (uses.bounds + uses.quiet == 0) return;
  out.gap();
  out.line(
      text(say::terminal::predicted_uses{.bounds = uses.bounds, .confirmed = uses.confirmed, .quiet = uses.quiet}));
  out.gap();
  Table table{{{"unit"}, {"launches", true}, {"median error", true}, {"95th percentile", true}}, {}};
  const auto points = [](double share) { return fmt::format("{:.1f} points", 100 * share); };
  for (const GpuUnit unit : gpu_units) {
    const auto& error = uses.units.at(static_cast<std::size_t>(unit));
    if (!error) continue;
    table.rows.push_back(
        {text(analysis::title_of(unit)), fmt::to_string(error->launches), points(error->median), points(error->p95)});
  }
  out.table(table);
}

Line line_of(const analysis::TileRanks& ranks) {
  return {.algorithm = analysis::judged_as(ranks.problem.algorithm, ranks.problem.problem.dtype),
          .pass = std::string(to_string(ranks.problem.problem.pass)),
          .half = std::string(to_string(ranks.half)),
          .quantity = "tile_ranks",
          .problem = describe(ranks.problem.problem),
          .points = ranks.tiles,
          .errors = {},
          .ranks = ranks};
}

Line left_out(std::string algorithm, std::string pass, std::string quantity, std::string why, std::size_t points) {
  return {.algorithm = std::move(algorithm),
          .pass = std::move(pass),
          .half = "both",
          .quantity = std::move(quantity),
          .problem = std::move(why),
          .points = points,
          .errors = {},
          .ranks = {}};
}

std::vector<Line> lines_of(const analysis::PredictionErrors& errors) {
  std::vector<Line> lines;
  for (const auto& [quantity, value] :
       {std::pair("dram_bytes", &analysis::ErrorRow::dram), std::pair("time", &analysis::ErrorRow::time),
        std::pair("tile_ratio", &analysis::ErrorRow::tiles)}) {
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
  for (const analysis::TileRanks& ranks : errors.ranks) lines.push_back(line_of(ranks));
  return lines;
}

std::string joined(const DeviceNames& names) {
  std::vector<std::string> all;
  all.reserve(names.size());
  for (const auto& [uuid, name] : names) all.push_back(name);
  std::ranges::sort(all);
  return fmt::format("{}", fmt::join(all, ", "));
}

Table whole_table(std::span<const Line> lines, const DeviceNames& names) {
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
      append(fields,
             {fmt::to_string(line.errors->problems), number(line.errors->median), number(line.errors->p95),
              number(line.errors->worst_factor), has_direction(line) ? number(line.errors->ratio) : "", "", ""});
    } else if (line.ranks) {
      append(fields, {"1", "", "", "", "", number(line.ranks->spearman), number(line.ranks->chosen_over)});
    } else {
      append(fields, {"", "", "", "", "", "", ""});
    }
    fields.push_back(line.ranks ? names.at(line.ranks->device) : joined(names));
  }
  return table;
}

void print_for_people(std::span<const Line> lines, const DeviceNames& names, Output& out) {
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
  if (names.size() > 1) ranks.columns.push_back({"device"});
  for (const Line& line : lines) {
    if (line.errors) {
      errors.rows.push_back({text(analysis::title_of_quantity(line.quantity)), line.algorithm, line.pass, line.half,
                             fmt::to_string(line.errors->problems), fmt::to_string(line.points),
                             text(Share(line.errors->median)), text(Share(line.errors->p95)),
                             fmt::format("{:.2f}", line.errors->worst_factor),
                             has_direction(line) ? fmt::format("{:.3f}", line.errors->ratio) : ""});
    } else if (line.ranks) {
      ranks.rows.push_back({line.algorithm, line.pass, line.problem, line.half, fmt::to_string(line.points),
                            fmt::format("{:.3f}", line.ranks->spearman),
                            fmt::format("{:.3f}", line.ranks->chosen_over)});
      if (names.size() > 1) ranks.rows.back().push_back(names.at(line.ranks->device));
    }
  }
  out.table(errors);
  if (ranks.rows.empty()) return;
  out.gap();
  out.line(text(say::terminal::predicted_ranks{}));
  out.gap();
  out.table(ranks);
}

}  // namespace

ExitCode model_against(const AgainstOptions& options, Output& out) {
  const MeasuredPoints measured(options.files, options.filter);
  const std::vector<MeasuredPoints::Point>& points = measured.points();
  const CancelToken& cancel = cancel_on_signals();
  std::vector<StoredCeilings> of_file;
  const RatesOfRuns rates = rates_of_runs(measured, options.ceilings, of_file);
  if (options.launches) {
    out.table(launch_table(measured, rates, cancel), "attnscope-model-launches");
    return cancel.cancelled() ? ExitCode::partial : measured.with_skipped(ExitCode::ok);
  }
  const std::vector<PointRecord> predicted = play(points, rates, cancel);
  std::vector<analysis::PredictedPoint> pairs;
  std::vector<const MeasuredPoints::Point*> played;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (predicted[i].disposition != Disposition::ok || predicted[i].kernels.empty()) continue;
    pairs.push_back({&points[i].record, &predicted[i], points[i].device_uuid, points[i].run->uid});
    played.push_back(&points[i]);
  }
  const DeviceNames names = names_of(played);
  const analysis::PredictionErrors errors = analysis::prediction_errors(pairs);
  const analysis::UseErrors uses = analysis::use_errors(pairs);
  const std::vector<Unplayed> left = unplayed(predicted);
  std::vector<Line> lines = lines_of(errors);
  if (out.for_people()) {
    out.line(text(say::terminal::predicted_against{.points = counted_points(pairs.size()),
                                                   .file = printable(fmt::format("{}", fmt::join(options.files, ", "))),
                                                   .devices = joined(names)}));
    out.line(text(say::terminal::predicted_how{}));
    for (const Message& said : words_of(rates)) out.line(text(said));
    if (errors.unsettled > 0) {
      out.line(text(say::terminal::predicted_unsettled{.points = counted_points(errors.unsettled)}));
    }
    for (const Unplayed& each : left) {
      out.line(text(say::terminal::predicted_not{
          .points = counted_points(each.points), .first = each.first, .reason = each.reason}));
    }
    out.gap();
    print_for_people(lines, names, out);
    print_uses(uses, out);
  } else {
    if (errors.unsettled > 0) lines.push_back(left_out("all", "all", "not_settled", {}, errors.unsettled));
    for (const Unplayed& each : left) {
      lines.push_back(left_out(each.algorithm, each.pass, "not_played", each.reason, each.points));
    }
    Table table = whole_table(lines, names);
    append_uses(table, uses, joined(names));
    out.table(table, "attnscope-model-against");
  }
  if (cancel.cancelled()) {
    fmt::print(stderr, "{}\n",
               text(say::terminal::predicted_cancelled{.done = pairs.size(), .points = counted_points(points.size())}));
    return ExitCode::partial;
  }
  return measured.with_skipped(ExitCode::ok);
}

}  // namespace attnscope
