// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model_against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <map>
#include <new>
#include <set>
#include <span>
#include <vector>

#include "app/chosen_rates.h"
#include "app/in_parallel.h"
#include "app/interrupt.h"
#include "app/measured_points.h"
#include "kernels/registry.h"
#include "messages/terminal.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/text.h"
#include "profiler/predict/prediction_error.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

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
      by_table[run->device_name] =
          make_message("Times by rates of datasheet and architecture of {}; --ceilings FILE takes measured ones.",
                       printable(run->device_name));
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
    failed.reason = make_reason("point.host_memory", "The host has no memory left.");
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

/// Of a point that could not be simulated, why.
struct NotSimulated {
  std::size_t points = 0;
  std::string first;
  std::string reason;  ///< of the first
};

std::string names_of(std::span<const MeasuredPoints::Point* const> points) {
  std::set<std::string> names;
  for (const MeasuredPoints::Point* point : points) names.insert(printable(point->run->device_name));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// With the GPUs in every row, as the tables in assets/samples have it.
Table for_programs(Table table, const std::string& devices) {
  table.columns.push_back({"devices"});
  for (std::vector<std::string>& row : table.rows) row.push_back(devices);
  return table;
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
  NotSimulated left;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PointRecord& record = predicted[i];
    if (record.disposition == Disposition::ok && !record.kernels.empty()) {
      pairs.push_back({&points[i].record, &record, points[i].device_uuid, points[i].run->uid});
      played.push_back(&points[i]);
    } else if (record.disposition != Disposition::ok && record.disposition != Disposition::cancelled) {
      if (left.points++ > 0) continue;
      left.first = printable(describe(record.spec));
      left.reason = printable(text(record.reason));
    }
  }
  const std::string devices = names_of(played);
  if (left.points > 0) {
    spdlog::warn("{}", format_text("{} could not be played, first {}: {}", counted_points(left.points), left.first,
                                   left.reason));
  }
  const Table table =
      table_of(analysis::error_table(analysis::prediction_errors(pairs), out.for_people()), out.for_people());
  if (out.for_people()) {
    out.line(format_text("{} of {}, played on the simulated {}", counted_points(pairs.size()),
                         printable(fmt::format("{}", fmt::join(options.files, ", "))), devices));
    out.line(text(say::terminal::predicted_how{}));
    for (const Message& said : words_of(rates)) out.line(text(said));
    out.gap();
    out.table(table);
  } else {
    out.table(for_programs(table, devices), "attnscope-model-against");
  }
  if (cancel.cancelled()) {
    fmt::print(stderr, "{}\n",
               format_text("cancelled: {} of {} were played", pairs.size(), counted_points(points.size())));
    return ExitCode::partial;
  }
  return measured.with_skipped(ExitCode::ok);
}

}  // namespace attnscope
