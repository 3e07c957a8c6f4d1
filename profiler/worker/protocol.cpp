// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/protocol.h"

#include <chrono>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/files/json_check.h"
#include "profiler/metrics/metrics.h"
#include "profiler/worker/json_fields.h"

namespace attnscope {
namespace {

CeilingSource parse_ceiling_source(const std::string& word) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (to_string(source) == word) return source;
  }
  throw InvalidLine{make_message("unknown 'source': '{}'", word)};
}

CounterState parse_counter_state(std::int64_t number) {
  if (number < 0 || number > static_cast<std::int64_t>(CounterState::not_requested)) {
    throw InvalidLine{"'state' is not a counter state"};
  }
  return static_cast<CounterState>(number);
}

/// Writes or reads a member through another type: `to` converts from the member, `from` to the member.
template <class Io, class T, class To, class From>
void convert_field(Io& io, const char* key, T& member, To to, From from) {
  auto other = to(member);
  io(key, other);
  member = from(other);
}

}  // namespace

// Declared in the namespace of the structs for argument-dependent lookup. Structured bindings list every member, so
// that a new member without serialization does not compile.

template <class Io>
void fields(Io&& io, PointSpec& spec) {
  io(spec);
}
template <class Io>
void fields(Io&& io, CustomRates& rates) {
  auto& [tensor_flops, exponentials, l2_bytes] = rates;
  io("tensor_flops", tensor_flops);
  io("exponentials", exponentials);
  io("l2_bytes", l2_bytes);
}
template <class Io>
void fields(Io&& io, DeviceLimits& limits) {
  auto& [name, compute_major, compute_minor, sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm,
         registers_per_sm, shared_bytes_per_block, shared_bytes_per_sm, shared_bytes_reserved, l2_bytes, dram_bytes,
         dram_bytes_per_second, l2_bytes_per_second, tensor_flops, boost_hz, stated] = limits;
  io("name", name);
  io("compute_major", compute_major);
  io("compute_minor", compute_minor);
  io("sm_count", sm_count);
  io("max_threads_per_block", max_threads_per_block);
  io("max_threads_per_sm", max_threads_per_sm);
  io("max_blocks_per_sm", max_blocks_per_sm);
  io("registers_per_sm", registers_per_sm);
  io("shared_bytes_per_block", shared_bytes_per_block);
  io("shared_bytes_per_sm", shared_bytes_per_sm);
  io("shared_bytes_reserved", shared_bytes_reserved);
  io("l2_bytes", l2_bytes);
  io("dram_bytes", dram_bytes);
  io("dram_bytes_per_second", dram_bytes_per_second);
  io("l2_bytes_per_second", l2_bytes_per_second);
  io("tensor_flops", tensor_flops);
  io("boost_hz", boost_hz);
  io("stated", stated);
}
template <class Io>
void fields(Io&& io, DeviceInfo& info) {
  auto& [uuid, simulated, ordinal, limits, l2_source, rates_source] = info;
  io("uuid", uuid);
  io("simulated", simulated);
  io("ordinal", ordinal);
  io("limits", limits);
  io("l2_from", l2_source);
  io("rates_from", rates_source);
}
template <class Io>
void fields(Io&& io, Environment& environment) {
  auto& [app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system] =
      environment;
  io("app_version", app_version);
  io("driver_version", driver_version);
  io("cuda_driver_api", cuda_driver_api);
  io("nvrtc_version", nvrtc_version);
  io("cupti_version", cupti_version);
  io("nvml_version", nvml_version);
  io("operating_system", operating_system);
}
template <class Io>
void fields(Io&& io, CounterAvailability& counters) {
  auto& [state, reason, fix] = counters;
  convert_field(
      io, "state", state, [](CounterState held) { return static_cast<std::int64_t>(held); }, parse_counter_state);
  io("reason", reason);
  io("fix", fix);
}
template <class Io>
void fields(Io&& io, MeasureOptions& options) {
  auto& [counters, verify, extra_metrics, min_samples, max_samples, max_noise, bare, timeout, seed, input_kind, spin,
         placement, keep_sources] = options;
  static_cast<void>(spin);
  // Source files are not sent with each record: the requesting side has them.
  static_cast<void>(keep_sources);
  io("counters", counters);
  io("verify", verify);
  io("extra_metrics", extra_metrics);
  io("min_samples", min_samples);
  io("max_samples", max_samples);
  io("max_noise", max_noise);
  io("bare", bare);
  convert_field(
      io, "timeout_ms", timeout, [](std::chrono::milliseconds held) { return std::int64_t{held.count()}; },
      [](std::int64_t ms) { return std::chrono::milliseconds(ms); });
  io("seed", seed);
  io.keyword("input_kind", input_kind, parse_input_kind);
  io("placement", placement);
}
template <class Io>
void fields(Io&& io, CeilingOptions& options) {
  auto& [rounds, seed] = options;
  io("rounds", rounds);
  io("seed", seed);
}
template <class Io>
void fields(Io&& io, MetricValue& metric) {
  auto& [name, value, unit, provenance] = metric;
  io("name", name);
  io.required("value", value);
  io("unit", unit);
  io.keyword("provenance", provenance, parse_provenance);
  if constexpr (std::is_same_v<std::remove_cvref_t<Io>, JsonReader>) {
    const Metric* const known = find_metric(name);
    if (known != nullptr && unit != known->unit)
      throw InvalidLine{make_message("'{}' must have the unit {}, not '{}'", name, known->unit, unit)};
  }
}
template <class Io>
void fields(Io&& io, LaunchRecord& launch) {
  auto& [kernel, source_file, entry, defines, digest, registers, local_bytes, static_shared_bytes, dynamic_shared_bytes,
         threads, grid] = launch;
  io("kernel", kernel);
  io("source_file", source_file);
  io("entry", entry);
  io("defines", defines);
  io("digest", digest);
  io("registers", registers);
  io("local_bytes", local_bytes);
  io("static_shared_bytes", static_shared_bytes);
  io("dynamic_shared_bytes", dynamic_shared_bytes);
  io("threads", threads);
  io("grid", grid);
}
template <class Io>
void fields(Io&& io, KernelRecord& record) {
  auto& [kernel, metrics, samples_ns, occupancy_limiter, launch, complete] = record;
  io("kernel", kernel);
  io("metrics", metrics);
  io("samples_ns", samples_ns);
  io("occupancy_limiter", occupancy_limiter);
  io("launch", launch);
  io("complete", complete);
}
template <class Io>
void fields(Io&& io, ClockReading& clocks) {
  auto& [sm_clock_hz, memory_clock_hz, temperature_c, power_w, throttle_reasons, throttled] = clocks;
  io("sm_clock_hz", sm_clock_hz);
  io("memory_clock_hz", memory_clock_hz);
  io("temperature_c", temperature_c);
  io("power_w", power_w);
  io("throttle_reasons", throttle_reasons);
  io("throttled", throttled);
}
template <class Io>
void fields(Io&& io, ManifestSource& source) {
  auto& [name, digest, content] = source;
  static_cast<void>(content);  // not sent, see MeasureOptions
  io("name", name);
  io("digest", digest);
}
template <class Io>
void fields(Io&& io, StoredManifest& manifest) {
  auto& [text, host_code, sources] = manifest;
  io("text", text);
  io("host_code", host_code);
  io("sources", sources);
}
template <class Io>
void fields(Io&& io, PointRecord& record) {
  // One answer covers one round; the requesting side combines rounds.
  auto& [spec, disposition, reason, provenance, kernels, clocks, max_abs_error, error_bound, rms_error, wall_seconds,
         rounds, manifest, others] = record;
  static_cast<void>(rounds);
  auto stated = manifest ? std::optional(*manifest) : std::nullopt;
  io("statement", stated);
  if (stated) manifest = std::make_shared<const StoredManifest>(std::move(*stated));
  io("point", spec);
  io.keyword("disposition", disposition, parse_disposition);
  io("reason", reason);
  io.keyword("provenance", provenance, parse_provenance);
  io("kernels", kernels);
  io("clocks", clocks);
  io("max_abs_error", max_abs_error);
  io("error_bound", error_bound);
  io("rms_error", rms_error);
  io("wall_seconds", wall_seconds);
  io("others", others);
}
template <class Io>
void fields(Io&& io, Ceiling& ceiling) {
  auto& [name, argument, value, q1, q3, unit, source] = ceiling;
  io("name", name);
  io("argument", argument);
  io("value", value);
  io("q1", q1);
  io("q3", q3);
  io("unit", unit);
  convert_field(
      io, "source", source, [](CeilingSource held) { return std::string(to_string(held)); }, parse_ceiling_source);
}
template <class Io>
void fields(Io&& io, Message& remark) {  // element of a list
  io("text", remark);
}
template <class Io>
void fields(Io&& io, CeilingSet& set) {
  auto& [ceilings, remarks] = set;
  io("ceilings", ceilings);
  io("remarks", remarks);
}

template <class Io>
void fields(Io&& io, Device::UnknownMetric& metric) {
  auto& [name, near] = metric;
  io("name", name);
  io("near", near);
}

namespace {

PointRecord unreadable_record(const Message& why) {
  PointRecord record;
  record.disposition = Disposition::crashed;
  record.reason = make_message("The record of this point is invalid: {}.", why);
  record.kernels.emplace_back();
  return record;
}

// One line per event, with its name and fields. `io(key, member)` writes or reads a member.
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
  io.optional_member("rounds", e.rounds, 1);
  io.optional_member("shard", e.shard);
  io.optional_member("shard_points", e.shard_points, std::size_t{0});
  io.optional_member("devices", e.devices);
}
template <class Io>
void fields(Io&& io, BuildEvent& e) {
  io.optional_member("id", e.id);
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
  io.optional_member("id", e.id);
  io.optional_member("round", e.round, 0);
  io.optional_member("device", e.device);
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
  io.optional_member("id", e.id);
  io.optional_member("round", e.round, 0);
  io.optional_member("rounds", e.rounds, 1);
  io.optional_member("device", e.device);
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
  io.optional_member("id", e.id);
  io("done", e.done);
  io("total", e.total);
  io("elapsed_s", e.elapsed_s);
  io("remaining_s", e.remaining_s);
  io.optional_member("by_device", e.by_device);
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
  io("infeasible", e.infeasible);
}

template <class Io>
void fields(Io&& io, DeviceEvent& e) {
  io("protocol", e.protocol);
  io("app_version", e.app_version);
  io("device", e.device);
  io("environment", e.environment);
  io("counters", e.counters);
  io("simulated_because", e.simulation_reason);
}
template <class Io>
void fields(Io&& io, RecordEvent& e) {
  io("id", e.id);
  io("usable", e.usable);
  io.list("records", e.records, unreadable_record);
  io.optional_member("left", e.left);
  io("lost_to", e.fatal_point);
}
template <class Io>
void fields(Io&& io, ReplyEvent& e) {
  io("id", e.id);
  io("usable", e.usable);
  io.optional_member("unknown", e.unknown);
  io("bytes", e.bytes);
  io("ceilings", e.ceilings);
  io("reason", e.reason);
  io("cancelled", e.cancelled);
}
template <class Io>
void fields(Io&& io, WorkerRequest& request) {
  io("request", request.request);
  io("id", request.id);
  io.optional_member("points", request.points);
  io("options", request.options);
  io("whole", request.whole);
  io.optional_member("names", request.names);
  io("ceilings", request.ceilings);
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
  if constexpr (std::is_same_v<E, DeviceEvent>) return "device";
  if constexpr (std::is_same_v<E, RecordEvent>) return "record";
  if constexpr (std::is_same_v<E, ReplyEvent>) return "reply";
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

/// Parses the line as a JSON object and applies `read`.
template <class T, class Read>
Result<T, Message> parsed(std::string_view line, const Read& read) {
  try {
    const Json json = parse_checked_json(line);
    if (!json.is_object()) return Failure{"the line is not a JSON object"};
    return read(json);
  } catch (const Message& why) {
    return Failure{why};
  } catch (const InvalidLine& wrong) {
    return Failure{wrong.why};
  } catch (const std::exception& error) {
    return Failure{Message::verbatim(error.what())};
  }
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
  return line_of(json);
}

std::string to_json_line(const WorkerRequest& request) {
  Json json;
  WorkerRequest copy = request;
  fields(JsonWriter{json}, copy);
  return line_of(json);
}

Result<Event, Message> parse_event(std::string_view line) {
  return parsed<Event>(line, [](const Json& json) -> Result<Event, Message> {
    const auto name = json.find("event");
    if (name == json.end() || !name->is_string()) return Failure{"the line has no event name"};
    Event event;
    if (read_any(json, name->get<std::string>(), event, std::type_identity<Event>{})) return event;
    return Failure{make_message("unknown event '{}'", name->get<std::string>())};
  });
}

Result<WorkerRequest, Message> parse_worker_request(std::string_view line) {
  return parsed<WorkerRequest>(line, [](const Json& json) -> Result<WorkerRequest, Message> {
    WorkerRequest request;
    fields(JsonReader{json}, request);
    return request;
  });
}

}  // namespace attnscope
