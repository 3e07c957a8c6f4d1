// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/remote/device_server.h"

#include <string>
#include <utility>

namespace attnscope::remote {
namespace {

Answer answer_to(const Request& request, std::string_view what) {
  return {.answer = std::string(what), .number = request.number};
}

}  // namespace

void DeviceServer::introduce(std::string_view app_version, std::string_view simulated_because) const {
  say_({.answer = std::string(answer::device),
        .hello = Hello{.protocol = protocol,
                       .app_version = std::string(app_version),
                       .device = device_.info(),
                       .environment = device_.environment(),
                       .counters = device_.counters(),
                       .simulated_because = std::string(simulated_because)}});
}

void DeviceServer::refuse(const Request& request, Message why) const {
  Answer refused = answer_to(request, answer::refused);
  refused.reason = std::move(why);
  say_(refused);
}

void DeviceServer::answer(const Request& request, const CancelToken& cancel) {
  if (request.ask == ask::prepare) return prepare(request, cancel);
  if (request.ask == ask::measure) return measure(request, cancel);
  if (request.ask == ask::count) return count(request, cancel);
  if (request.ask == ask::ceilings) return measure_ceilings(request, cancel);
  if (request.ask == ask::unknown_metrics) {
    Answer unknown = answer_to(request, answer::unknown);
    unknown.unknown = device_.unknown_metrics(request.names);
    return say_(unknown);
  }
  if (request.ask == ask::free) {
    Answer free = answer_to(request, answer::free);
    free.bytes = device_.free_bytes();
    return say_(free);
  }
  refuse(request, make_message("unknown request '{}'", request.ask));
}

void DeviceServer::prepare(const Request& request, const CancelToken& cancel) {
  device_.prepare(request.points, cancel, [&](std::size_t done, std::size_t total, const BuildReport& report) {
    Answer built = answer_to(request, answer::built);
    built.done = static_cast<std::int64_t>(done);
    built.total = static_cast<std::int64_t>(total);
    built.build = report;
    say_(built);
  });
  say_(answer_to(request, answer::done));
}

void DeviceServer::measure(const Request& request, const CancelToken& cancel) {
  if (request.points.size() != 1 || !request.options) {
    return refuse(request, make_message("'{}' wants one point and its options", request.ask));
  }
  const PointSpec& spec = request.points.front();
  Device::Uncounted point = request.whole ? Device::Uncounted{device_.measure(spec, *request.options, cancel), false}
                                          : device_.measure_uncounted(spec, *request.options, cancel);
  Answer measured = answer_to(request, answer::record);
  measured.usable = device_.usable();
  measured.records.push_back(point.record);
  if (point.waits) {
    measured.left.push_back(0);
    waiting_.push_back(std::move(point.record));
  }
  say_(measured);
}

void DeviceServer::count(const Request& request, const CancelToken& cancel) {
  if (!request.options) return refuse(request, make_message("'{}' wants one point and its options", request.ask));
  std::vector<PointRecord*> records;
  for (PointRecord& record : waiting_) records.push_back(&record);
  const Device::Counted result = device_.count(records, *request.options, cancel);
  Answer counted = answer_to(request, answer::counted);
  counted.usable = device_.usable();
  if (result.lost_to) counted.lost_to = static_cast<std::int64_t>(*result.lost_to);
  for (std::size_t i = 0; i < result.whole.size(); ++i) {
    if (!result.whole[i]) counted.left.push_back(static_cast<std::int64_t>(i));
  }
  counted.records = std::move(waiting_);
  waiting_.clear();
  say_(counted);
}

void DeviceServer::measure_ceilings(const Request& request, const CancelToken& cancel) {
  auto result =
      device_.ceilings(request.ceilings.value_or(CeilingOptions{}), cancel, [&](std::size_t done, std::size_t total) {
        Answer progress = answer_to(request, answer::progress);
        progress.done = static_cast<std::int64_t>(done);
        progress.total = static_cast<std::int64_t>(total);
        say_(progress);
      });
  Answer ended = answer_to(request, result ? answer::ceilings : answer::failed);
  ended.usable = device_.usable();
  if (result) {
    ended.ceilings = std::move(result).value();
  } else {
    ended.reason = result.error().reason;
    ended.cancelled = result.error().cancelled;
  }
  say_(ended);
}

}  // namespace attnscope::remote
