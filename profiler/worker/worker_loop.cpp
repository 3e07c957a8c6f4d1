// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/worker_loop.h"

#include <string>

namespace attnscope {

void WorkerLoop::send_device_event(std::string_view app_version, std::string_view simulation_reason) const {
  send_(DeviceEvent{.protocol = worker_protocol,
                    .app_version = std::string(app_version),
                    .device = device_.info(),
                    .environment = device_.environment(),
                    .counters = device_.counters(),
                    .simulation_reason = std::string(simulation_reason)});
}

void WorkerLoop::answer(const WorkerRequest& request, const CancelToken& cancel) {
  if (request.request == "prepare") return prepare(request, cancel);
  if (request.request == "measure" && request.points.size() == 1 && request.options) return measure(request, cancel);
  if (request.request == "count" && request.options) return count(request, cancel);
  if (request.request == "ceilings") return measure_ceilings(request, cancel);
  if (request.request == "unknown-metrics") {
    return send_(ReplyEvent{.id = request.id, .unknown = device_.unknown_metrics(request.names)});
  }
  if (request.request == "free") return send_(ReplyEvent{.id = request.id, .bytes = device_.free_bytes()});
  const bool incomplete = request.request == "measure" || request.request == "count";
  send_(RefusedEvent{.request = request.request,
                     .id = request.id,
                     .reason = incomplete ? make_message("'{}' needs one point and its options", request.request)
                                          : make_message("unknown request '{}'", request.request)});
}

void WorkerLoop::prepare(const WorkerRequest& request, const CancelToken& cancel) {
  device_.prepare(request.points, cancel, [&](std::size_t done, std::size_t total, const BuildReport& report) {
    send_(BuildEvent{done, total, report.kernel, report.cached, report.error, request.id});
  });
  send_(ReplyEvent{.id = request.id, .usable = device_.usable()});
}

void WorkerLoop::measure(const WorkerRequest& request, const CancelToken& cancel) {
  const PointSpec& spec = request.points.front();
  Device::MeasurementResult point =
      request.whole ? Device::MeasurementResult{device_.measure(spec, *request.options, cancel), false}
                    : device_.measure_deferred(spec, *request.options, cancel);
  RecordEvent measured{.id = request.id, .usable = device_.usable()};
  if (point.counters_pending) {
    // Send the complete record only once, with its counters.
    PointRecord& brief = measured.records.emplace_back();
    brief.spec = spec;
    brief.wall_seconds = point.record.wall_seconds;
    measured.left.push_back(0);
    waiting_.push_back(std::move(point.record));
  } else {
    measured.records.push_back(std::move(point.record));
  }
  send_(measured);
}

void WorkerLoop::count(const WorkerRequest& request, const CancelToken& cancel) {
  std::vector<PointRecord*> records;
  for (PointRecord& record : waiting_) records.push_back(&record);
  const Device::CountResult result = device_.count(records, *request.options, cancel);
  RecordEvent counted{.id = request.id, .usable = device_.usable(), .fatal_point = result.fatal_point};
  for (std::size_t i = 0; i < result.whole.size(); ++i) {
    if (!result.whole[i]) counted.left.push_back(i);
  }
  counted.records = std::move(waiting_);
  waiting_.clear();
  send_(counted);
}

void WorkerLoop::measure_ceilings(const WorkerRequest& request, const CancelToken& cancel) {
  auto result =
      device_.ceilings(request.ceilings.value_or(CeilingOptions{}), cancel, [&](std::size_t done, std::size_t total) {
        send_(ProgressEvent{.done = done, .total = total, .id = request.id});
      });
  ReplyEvent ended{.id = request.id, .usable = device_.usable()};
  if (result) {
    ended.ceilings = std::move(result).value();
  } else {
    ended.reason = result.error().reason;
    ended.cancelled = result.error().cancelled;
  }
  send_(ended);
}

}  // namespace attnscope
