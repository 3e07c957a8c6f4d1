// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/protocol.h"

#include <fmt/format.h>

#include <array>
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

/// Writes members. `fields(io, value)` of a struct names each member once; `io` is a JsonWriter or a JsonReader.
struct JsonWriter {
  Json& json;

  template <class T, class... Rest>
  void operator()(const char* key, const T& member, const Rest&... rest) {
    write(key, member);
    if constexpr (sizeof...(rest) > 0) (*this)(rest...);
  }
  void operator()(const PointSpec& spec) {
    write_fields(json, spec);
    Json& knobs = json["knobs"] = Json::object();
    for (const auto& [name, held] : spec.knobs) knobs[name] = to_json_value(held);
  }
  /// Omits a member that has its default.
  template <class T>
  void optional(const char* key, const T& member, const std::type_identity_t<T>& fallback = {}) {
    if (member != fallback) write(key, member);
  }
  template <class T, class Parse>
  void keyword(const char* key, const T& member, const Parse& /*parse*/) {
    json[key] = std::string(to_string(member));
  }

 private:
  template <class T>
  void write(const char* key, const T& member) {
    json[key] = value_of(member);
  }
  /// Omits an empty optional.
  template <class T>
  void write(const char* key, const std::optional<T>& member) {
    if (member) write(key, *member);
  }
  /// Writes the English text, and "<key>_code" if the message has an id.
  void write(const char* key, const Message& message) {
    json[key] = english_text(message);
    if (!message.id.empty()) json[fmt::format("{}_code", key)] = message.id;
  }
  template <class T>
  static Json value_of(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else if constexpr (requires { value.begin(); }) {
      Json list = Json::array();
      for (const auto& element : value) list.push_back(value_of(element));
      return list;
    } else {
      Json object = Json::object();
      T copy = value;  // fields() takes a mutable reference
      fields(JsonWriter{object}, copy);
      return object;
    }
  }
};

/// Reads members. An absent or null field keeps its default; a field of another type throws Message or an exception of
/// nlohmann-json. Numbers are range-checked, since nlohmann converts -1 to a huge unsigned value.
struct JsonReader {
  const Json& json;

  template <class T, class... Rest>
  void operator()(const char* key, T& member, Rest&... rest) {
    read_member(key, member);
    if constexpr (sizeof...(rest) > 0) (*this)(rest...);
  }
  void operator()(PointSpec& spec) {
    for (const Field& field : point_fields()) {
      const auto found = json.find(std::string(field.name));
      if (found == json.end() || found->is_null()) continue;
      const auto words = to_axis_text(*found, field.name);
      if (!words) throw words.error();
      if (const auto set = set_field(field, spec, *words); !set) throw set.error();
    }
    if (const auto knobs = json.find("knobs"); knobs != json.end()) {
      for (const auto& [name, value] : knobs->items()) read_knob(spec, name, value);
    }
  }
  template <class T>
  void optional(const char* key, T& member, const std::type_identity_t<T>& /*fallback*/ = {}) {
    read_member(key, member);
  }
  template <class T, class Parse>
  void keyword(const char* key, T& member, const Parse& parse) {
    std::string text;
    read_member(key, text);
    if (text.empty()) return;
    auto parsed = parse(text);
    if (!parsed) throw parsed.error();
    member = *parsed;
  }

 private:
  static void read_knob(PointSpec& spec, const std::string& name, const Json& value) {
    if (value.is_number_integer()) {
      spec.knobs.set(name, value.get<std::int64_t>());
    } else if (value.is_string()) {
      spec.knobs.set(name, value.get<std::string>());
    } else {
      throw make_message("knob '{}' is neither an integer nor a string", name);
    }
  }
  template <class T>
  void read_member(const char* key, T& member) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null()) read(*found, key, member);
  }
  template <class T>
  void read_member(const char* key, std::optional<T>& member) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null()) read(*found, key, member.emplace());
  }
  void read_member(const char* key, Message& message) {
    message = {};
    read_member(key, message.words);
    read_member(fmt::format("{}_code", key).c_str(), message.id);
  }
  template <class T>
  static void read(const Json& value, const char* key, T& member) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      value.get_to(member);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!value.is_number()) throw make_message("'{}' is not a number", key);
      member = value.get<T>();
    } else if constexpr (std::is_arithmetic_v<T>) {
      const bool whole = value.is_number_integer();
      if (!whole || (std::is_unsigned_v<T> && !value.is_number_unsigned())) {
        if (std::is_unsigned_v<T>) throw make_message("'{}' is not a nonnegative integer", key);
        throw make_message("'{}' is not an integer", key);
      }
      const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                   : std::in_range<T>(value.get<std::int64_t>());
      if (!fits) throw make_message("'{}' is out of range", key);
      member = value.get<T>();
    } else if constexpr (requires { member.emplace_back(); }) {
      if (!value.is_array()) throw make_message("'{}' is not a list of the expected length", key);
      for (const Json& element : value) read(element, key, member.emplace_back());
    } else if constexpr (requires { member.size(); }) {  // std::array
      if (!value.is_array() || value.size() != member.size())
        throw make_message("'{}' is not a list of the expected length", key);
      for (std::size_t i = 0; i < member.size(); ++i) read(value[i], key, member[i]);
    } else {
      if (!value.is_object()) throw Message("the line is not a JSON object");
      fields(JsonReader{value}, member);
    }
  }
};

Result<CeilingSource, Message> parse_ceiling_source(std::string_view word) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (to_string(source) == word) return source;
  }
  return Failure{make_message("unknown 'source': '{}'", word)};
}

PointRecord unreadable_record(const Message& why) {
  PointRecord record;
  record.disposition = Disposition::crashed;
  record.reason = make_message("The record of this point is invalid: {}.", why);
  record.kernels.emplace_back();
  return record;
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
  io("tensor_flops", tensor_flops, "exponentials", exponentials, "l2_bytes", l2_bytes);
}
template <class Io>
void fields(Io&& io, DeviceLimits& limits) {
  auto& [name, compute_major, compute_minor, sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm,
         registers_per_sm, shared_bytes_per_block, shared_bytes_per_sm, shared_bytes_reserved, l2_bytes, dram_bytes,
         dram_bytes_per_second, l2_bytes_per_second, tensor_flops, boost_hz, stated] = limits;
  io("name", name, "compute_major", compute_major, "compute_minor", compute_minor, "sm_count", sm_count,
     "max_threads_per_block", max_threads_per_block, "max_threads_per_sm", max_threads_per_sm, "max_blocks_per_sm",
     max_blocks_per_sm, "registers_per_sm", registers_per_sm, "shared_bytes_per_block", shared_bytes_per_block,
     "shared_bytes_per_sm", shared_bytes_per_sm, "shared_bytes_reserved", shared_bytes_reserved, "l2_bytes", l2_bytes,
     "dram_bytes", dram_bytes, "dram_bytes_per_second", dram_bytes_per_second, "l2_bytes_per_second",
     l2_bytes_per_second, "tensor_flops", tensor_flops, "boost_hz", boost_hz, "stated", stated);
}
template <class Io>
void fields(Io&& io, DeviceInfo& info) {
  auto& [uuid, simulated, ordinal, limits, l2_source, rates_source] = info;
  io("uuid", uuid, "simulated", simulated, "ordinal", ordinal, "limits", limits, "l2_from", l2_source, "rates_from",
     rates_source);
}
template <class Io>
void fields(Io&& io, Environment& environment) {
  auto& [app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system] =
      environment;
  io("app_version", app_version, "driver_version", driver_version, "cuda_driver_api", cuda_driver_api, "nvrtc_version",
     nvrtc_version, "cupti_version", cupti_version, "nvml_version", nvml_version, "operating_system", operating_system);
}
template <class Io>
void fields(Io&& io, CounterAvailability& counters) {
  auto& [state, reason, fix] = counters;
  auto number = static_cast<std::int64_t>(state);
  io("state", number, "reason", reason, "fix", fix);
  if (number < 0 || number > static_cast<std::int64_t>(CounterState::not_requested))
    throw Message("'state' is not a counter state");
  state = static_cast<CounterState>(number);
}
template <class Io>
void fields(Io&& io, MeasureOptions& options) {
  auto& [counters, verify, extra_metrics, min_samples, max_samples, max_noise, bare, timeout, seed, input_kind, spin,
         placement, keep_sources] = options;
  static_cast<void>(spin);
  static_cast<void>(keep_sources);  // the requesting side has the source files
  std::int64_t timeout_ms = timeout.count();
  io("counters", counters, "verify", verify, "extra_metrics", extra_metrics, "min_samples", min_samples, "max_samples",
     max_samples, "max_noise", max_noise, "bare", bare, "timeout_ms", timeout_ms, "seed", seed);
  io.keyword("input_kind", input_kind, parse_input_kind);
  io("placement", placement);
  timeout = std::chrono::milliseconds(timeout_ms);
}
template <class Io>
void fields(Io&& io, CeilingOptions& options) {
  auto& [rounds, seed] = options;
  io("rounds", rounds, "seed", seed);
}
template <class Io>
void fields(Io&& io, MetricValue& metric) {
  auto& [name, value, unit, provenance] = metric;
  io("name", name, "value", value, "unit", unit);
  io.keyword("provenance", provenance, parse_provenance);
  if constexpr (std::is_same_v<std::remove_cvref_t<Io>, JsonReader>) {
    // Null is a number that is not finite.
    if (!io.json.contains("value") || io.json["value"].is_null()) throw Message("'value' is not a number");
    const Metric* const known = find_metric(name);
    if (known != nullptr && unit != known->unit)
      throw make_message("'{}' must have the unit {}, not '{}'", name, known->unit, unit);
  }
}
template <class Io>
void fields(Io&& io, LaunchRecord& launch) {
  auto& [kernel, source_file, entry, defines, digest, registers, local_bytes, static_shared_bytes, dynamic_shared_bytes,
         threads, grid] = launch;
  io("kernel", kernel, "source_file", source_file, "entry", entry, "defines", defines, "digest", digest, "registers",
     registers, "local_bytes", local_bytes, "static_shared_bytes", static_shared_bytes, "dynamic_shared_bytes",
     dynamic_shared_bytes, "threads", threads, "grid", grid);
}
template <class Io>
void fields(Io&& io, KernelRecord& record) {
  auto& [kernel, metrics, samples_ns, occupancy_limiter, launch, complete] = record;
  io("kernel", kernel, "metrics", metrics, "samples_ns", samples_ns, "occupancy_limiter", occupancy_limiter, "launch",
     launch, "complete", complete);
}
template <class Io>
void fields(Io&& io, ClockReading& clocks) {
  auto& [sm_clock_hz, memory_clock_hz, temperature_c, power_w, throttle_reasons, throttled] = clocks;
  io("sm_clock_hz", sm_clock_hz, "memory_clock_hz", memory_clock_hz, "temperature_c", temperature_c, "power_w", power_w,
     "throttle_reasons", throttle_reasons, "throttled", throttled);
}
template <class Io>
void fields(Io&& io, ManifestSource& source) {
  auto& [name, digest, content] = source;
  static_cast<void>(content);  // not sent, see MeasureOptions
  io("name", name, "digest", digest);
}
template <class Io>
void fields(Io&& io, StoredManifest& manifest) {
  auto& [text, host_code, sources] = manifest;
  io("text", text, "host_code", host_code, "sources", sources);
}
template <class Io>
void record_fields(Io& io, PointRecord& record) {
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
  io("kernels", kernels, "clocks", clocks, "max_abs_error", max_abs_error, "error_bound", error_bound, "rms_error",
     rms_error, "wall_seconds", wall_seconds, "others", others);
}
/// An unreadable record becomes `crashed`, with a reason.
template <class Io>
void fields(Io&& io, PointRecord& record) {
  try {
    record_fields(io, record);
  } catch (const Message& why) {
    record = unreadable_record(why);
  } catch (const Json::exception& error) {
    record = unreadable_record(Message::verbatim(error.what()));
  }
}
template <class Io>
void fields(Io&& io, Ceiling& ceiling) {
  auto& [name, argument, value, q1, q3, unit, source] = ceiling;
  io("name", name, "argument", argument, "value", value, "q1", q1, "q3", q3, "unit", unit);
  io.keyword("source", source, parse_ceiling_source);
}
template <class Io>
void fields(Io&& io, Message& remark) {  // element of a list
  io("text", remark);
}
template <class Io>
void fields(Io&& io, CeilingSet& set) {
  auto& [ceilings, remarks] = set;
  io("ceilings", ceilings, "remarks", remarks);
}

template <class Io>
void fields(Io&& io, Device::UnknownMetric& metric) {
  auto& [name, near] = metric;
  io("name", name, "near", near);
}

namespace {

template <class Io>
void fields(Io&& io, PlanEvent& e) {
  io("version", e.version, "device_name", e.device_name, "device_uuid", e.device_uuid, "simulated", e.simulated,
     "preset", e.preset, "database", e.database, "run_id", e.run_id, "total", e.total, "skipped", e.skipped,
     "max_memory_bytes", e.max_memory_bytes, "counters", e.counters);
  io.optional("rounds", e.rounds, 1);
  io.optional("shard", e.shard);
  io.optional("shard_points", e.shard_points);
  io.optional("devices", e.devices);
}
template <class Io>
void fields(Io&& io, BuildEvent& e) {
  io.optional("id", e.id);
  io("done", e.done, "total", e.total, "kernel", e.kernel, "cached", e.cached, "error", e.error);
}
template <class Io>
void fields(Io&& io, StartedEvent& e) {
  io("index", e.index, "point", e.point);
  io.optional("id", e.id);
  io.optional("round", e.round);
  io.optional("device", e.device);
}
template <class Io>
void fields(Io&& io, PointEvent& e) {
  io("index", e.index, "point_id", e.point_id, "point", e.point);
  io(e.spec);
  io("disposition", e.disposition, "reason", e.reason, "time_median_ns", e.time_median_ns, "dram_bytes", e.dram_bytes,
     "dram_settled_bytes", e.dram_settled_bytes, "l2_sm_bytes", e.l2_sm_bytes, "throttled", e.throttled, "provenance",
     e.provenance);
  io.optional("id", e.id);
  io.optional("round", e.round);
  io.optional("rounds", e.rounds, 1);
  io.optional("device", e.device);
}
template <class Io>
void fields(Io&& io, QueuedEvent& e) {
  io("id", e.id, "priority", e.priority, "point", e.point);
  io(e.spec);
}
template <class Io>
void fields(Io&& io, CancelledEvent& e) {
  io("id", e.id, "reason", e.reason);
}
template <class Io>
void fields(Io&& io, RefusedEvent& e) {
  io("request", e.request, "id", e.id, "reason", e.reason);
}
template <class Io>
void fields(Io&& io, ProgressEvent& e) {
  io.optional("id", e.id);
  io("done", e.done, "total", e.total, "elapsed_s", e.elapsed_s, "remaining_s", e.remaining_s);
  io.optional("by_device", e.by_device);
}
template <class Io>
void fields(Io&& io, LogEvent& e) {
  io("level", e.level, "text", e.text);
}
template <class Io>
void fields(Io&& io, DoneEvent& e) {
  io("state", e.state, "reason", e.reason, "ok", e.ok, "not_ok", e.not_ok, "exit_code", e.exit_code, "infeasible",
     e.infeasible);
}

template <class Io>
void fields(Io&& io, DeviceEvent& e) {
  io("protocol", e.protocol, "app_version", e.app_version, "device", e.device, "environment", e.environment, "counters",
     e.counters, "simulated_because", e.simulation_reason);
}
template <class Io>
void fields(Io&& io, RecordEvent& e) {
  io("id", e.id, "usable", e.usable, "records", e.records, "left", e.left, "lost_to", e.fatal_point);
}
template <class Io>
void fields(Io&& io, ReplyEvent& e) {
  io("id", e.id, "usable", e.usable, "unknown", e.unknown, "bytes", e.bytes, "ceilings", e.ceilings, "reason", e.reason,
     "cancelled", e.cancelled);
}
template <class Io>
void fields(Io&& io, WorkerRequest& request) {
  io("request", request.request, "id", request.id, "points", request.points, "options", request.options, "whole",
     request.whole, "names", request.names, "ceilings", request.ceilings);
}

/// In the order of the variant.
constexpr std::array event_names{"plan",     "build", "started", "point",  "queued", "cancelled", "refused",
                                 "progress", "log",   "done",    "device", "record", "reply"};
static_assert(event_names.size() == std::variant_size_v<Event>);

template <std::size_t... I>
bool read_event(const Json& json, std::string_view name, Event& event, std::index_sequence<I...>) {
  return ((name == event_names[I] && (fields(JsonReader{json}, event.emplace<I>()), true)) || ...);
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
  json["event"] = event_names.at(event.index());
  std::visit([&](auto copy) { fields(JsonWriter{json}, copy); }, event);
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
    if (read_event(json, name->get<std::string>(), event, std::make_index_sequence<event_names.size()>{})) return event;
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
