// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "profiler/measure/json_fields.h"
#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

// One line an event: its name and its fields. `io(key, member)` writes the member, or reads it; both ways in one place.
template <class Io>
void fields(Io&& io, PlanEvent& e) {
  io("version", e.version);
  io("device_name", e.device_name);
  io("device_uuid", e.device_uuid);
  io("simulated", e.simulated);
  io("preset", e.preset);
  io("database", e.database);
  io("run_id", e.run_id);
  io("total", e.total);
  io("skipped", e.skipped);
  io("max_memory_bytes", e.max_memory_bytes);
  io("counters", e.counters);
  io.where_given("rounds", e.rounds, 1);
  io.where_given("shard", e.shard);
  io.where_given("shard_points", e.shard_points, std::size_t{0});
  io.where_given("devices", e.devices);
}
template <class Io>
void fields(Io&& io, BuildEvent& e) {
  io("done", e.done);
  io("total", e.total);
  io("kernel", e.kernel);
  io("cached", e.cached);
  io("error", e.error);
}
template <class Io>
void fields(Io&& io, StartedEvent& e) {
  io("index", e.index);
  io("point", e.point);
  io.where_given("id", e.id);
  io.where_given("round", e.round, 0);
  io.where_given("device", e.device);
}
template <class Io>
void fields(Io&& io, PointEvent& e) {
  io("index", e.index);
  io("point_id", e.point_id);
  io("point", e.point);
  io(e.spec);
  io("disposition", e.disposition);
  io("reason", e.reason);
  io("time_median_ns", e.time_median_ns);
  io("dram_bytes", e.dram_bytes);
  io("dram_settled_bytes", e.dram_settled_bytes);
  io("l2_sm_bytes", e.l2_sm_bytes);
  io("throttled", e.throttled);
  io("provenance", e.provenance);
  io.where_given("id", e.id);
  io.where_given("round", e.round, 0);
  io.where_given("rounds", e.rounds, 1);
  io.where_given("device", e.device);
}
template <class Io>
void fields(Io&& io, QueuedEvent& e) {
  io("id", e.id);
  io("priority", e.priority);
  io("point", e.point);
  io(e.spec);
}
template <class Io>
void fields(Io&& io, CancelledEvent& e) {
  io("id", e.id);
  io("reason", e.reason);
}
template <class Io>
void fields(Io&& io, RefusedEvent& e) {
  io("request", e.request);
  io("id", e.id);
  io("reason", e.reason);
}
template <class Io>
void fields(Io&& io, ProgressEvent& e) {
  io("done", e.done);
  io("total", e.total);
  io("elapsed_s", e.elapsed_s);
  io("remaining_s", e.remaining_s);
  io.where_given("by_device", e.by_device);
}
template <class Io>
void fields(Io&& io, LogEvent& e) {
  io("level", e.level);
  io("text", e.text);
}
template <class Io>
void fields(Io&& io, DoneEvent& e) {
  io("state", e.state);
  io("reason", e.reason);
  io("ok", e.ok);
  io("not_ok", e.not_ok);
  io("exit_code", e.exit_code);
}

template <class E>
constexpr std::string_view event_name() {
  if constexpr (std::is_same_v<E, PlanEvent>) return "plan";
  if constexpr (std::is_same_v<E, BuildEvent>) return "build";
  if constexpr (std::is_same_v<E, StartedEvent>) return "started";
  if constexpr (std::is_same_v<E, PointEvent>) return "point";
  if constexpr (std::is_same_v<E, QueuedEvent>) return "queued";
  if constexpr (std::is_same_v<E, CancelledEvent>) return "cancelled";
  if constexpr (std::is_same_v<E, RefusedEvent>) return "refused";
  if constexpr (std::is_same_v<E, ProgressEvent>) return "progress";
  if constexpr (std::is_same_v<E, LogEvent>) return "log";
  if constexpr (std::is_same_v<E, DoneEvent>) return "done";
}

template <class E>
bool read_as(const Json& json, std::string_view name, Event& out) {
  if (name != event_name<E>()) return false;
  E event;
  fields(JsonReader{json}, event);
  out = std::move(event);
  return true;
}

template <class... E>
bool read_any(const Json& json, std::string_view name, Event& out, std::type_identity<std::variant<E...>>) {
  return (read_as<E>(json, name, out) || ...);
}

}  // namespace

PointEvent point_event(std::size_t index, std::int64_t point_id, const PointRecord& record) {
  const auto value = [&](std::string_view key) {
    const std::optional<MetricValue> metric = evaluate(key, record);
    return metric ? metric->value : 0.0;
  };
  return {.index = index,
          .point_id = point_id,
          .point = describe(record.spec),
          .spec = record.spec,
          .disposition = std::string(to_string(record.disposition)),
          .reason = record.reason,
          .time_median_ns = value(metric_key::time_median_ns),
          .dram_bytes = value(metric_key::dram_bytes),
          .dram_settled_bytes = value(metric_key::dram_settled_bytes),
          .l2_sm_bytes = value(metric_key::l2_sm_bytes),
          .throttled = record.clocks && record.clocks->throttled,
          .provenance = std::string(to_string(record.origin()))};
}

std::string to_json_line(const Event& event) {
  Json json;
  std::visit(
      [&](auto copy) {
        json["event"] = event_name<decltype(copy)>();
        fields(JsonWriter{json}, copy);
      },
      event);
  // A compile log or a path may hold bytes that are no UTF-8: they must not end the protocol.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Event, Message> parse_event(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (!json.is_object()) return Failure{"the line is no JSON object"};
    const auto name = json.find("event");
    if (name == json.end() || !name->is_string()) return Failure{"the line names no event"};
    Event event;
    if (read_any(json, name->get<std::string>(), event, std::type_identity<Event>{})) return event;
    return Failure{make_message("unknown event '{}'", name->get<std::string>())};
  } catch (const WrongLine& wrong) {
    return Failure{wrong.why};
  } catch (const std::exception& error) {
    return Failure{Message::verbatim(error.what())};
  }
}

}  // namespace attnscope
