// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/remote/wire.h"

#include <chrono>
#include <exception>
#include <type_traits>

#include "profiler/measure/json_fields.h"

namespace attnscope {
namespace {

CeilingSource parse_ceiling_source(const std::string& word) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (to_string(source) == word) return source;
  }
  throw WrongLine{say::event::unknown_word{.key = "source", .word = word}};
}

CounterState parse_counter_state(std::int64_t number) {
  if (number < 0 || number > static_cast<std::int64_t>(CounterState::not_asked)) {
    throw WrongLine{say::event::no_count{.key = "state"}};
  }
  return static_cast<CounterState>(number);
}

/// Through a number or word that is written, and read again: `to` of what the member is, `from` of what was read.
template <class Io, class T, class To, class From>
void through(Io& io, const char* key, T& member, To to, From from) {
  auto other = to(member);
  io(key, other);
  member = from(other);
}

}  // namespace

// In the namespace of the structs, where the writer and the reader look for them.

template <class Io>
void fields(Io&& io, PointSpec& spec) {
  io(spec);
}
template <class Io>
void fields(Io&& io, DeviceLimits& limits) {
  io("name", limits.name);
  io("compute_major", limits.compute_major);
  io("compute_minor", limits.compute_minor);
  io("sm_count", limits.sm_count);
  io("max_threads_per_block", limits.max_threads_per_block);
  io("max_threads_per_sm", limits.max_threads_per_sm);
  io("max_blocks_per_sm", limits.max_blocks_per_sm);
  io("registers_per_sm", limits.registers_per_sm);
  io("shared_bytes_per_block", limits.shared_bytes_per_block);
  io("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  io("shared_bytes_reserved", limits.shared_bytes_reserved);
  io("l2_bytes", limits.l2_bytes);
  io("dram_bytes", limits.dram_bytes);
  io("dram_bytes_per_second", limits.dram_bytes_per_second);
  io("l2_bytes_per_second", limits.l2_bytes_per_second);
  io("tensor_flops", limits.tensor_flops);
  io("boost_hz", limits.boost_hz);
}
template <class Io>
void fields(Io&& io, DeviceInfo& info) {
  io("uuid", info.uuid);
  io("simulated", info.simulated);
  io("ordinal", info.ordinal);
  io("limits", info.limits);
  io("l2_from", info.l2_from);
}
template <class Io>
void fields(Io&& io, Environment& environment) {
  io("app_version", environment.app_version);
  io("driver_version", environment.driver_version);
  io("cuda_driver_api", environment.cuda_driver_api);
  io("nvrtc_version", environment.nvrtc_version);
  io("cupti_version", environment.cupti_version);
  io("nvml_version", environment.nvml_version);
  io("operating_system", environment.operating_system);
}
template <class Io>
void fields(Io&& io, CounterAvailability& counters) {
  through(
      io, "state", counters.state, [](CounterState state) { return static_cast<std::int64_t>(state); },
      parse_counter_state);
  io("reason", counters.reason);
  io("fix", counters.fix);
}
template <class Io>
void fields(Io&& io, MeasureOptions& options) {
  io("counters", options.counters);
  io("verify", options.verify);
  io("extra_metrics", options.extra_metrics);
  io("min_samples", options.min_samples);
  io("max_samples", options.max_samples);
  io("max_noise", options.max_noise);
  io("bare", options.bare);
  io("slow_ns", options.slow_ns);
  through(
      io, "timeout_ms", options.timeout, [](std::chrono::milliseconds ms) { return std::int64_t{ms.count()}; },
      [](std::int64_t ms) { return std::chrono::milliseconds(ms); });
  io("seed", options.seed);
  io.word("input_kind", options.input_kind, parse_input_kind);
}
template <class Io>
void fields(Io&& io, CeilingOptions& options) {
  io("rounds", options.rounds);
  io("seed", options.seed);
}
template <class Io>
void fields(Io&& io, BuildReport& report) {
  io("kernel", report.kernel);
  io("registers", report.registers);
  io("static_shared_bytes", report.static_shared_bytes);
  io("dynamic_shared_bytes", report.dynamic_shared_bytes);
  io("local_bytes", report.local_bytes);
  io("spill_store_bytes", report.spill_store_bytes);
  io("spill_load_bytes", report.spill_load_bytes);
  io("cached", report.cached);
  io("digest", report.digest);
  io("error", report.error);
}
template <class Io>
void fields(Io&& io, MetricValue& metric) {
  io("name", metric.name);
  io.required("value", metric.value);
  io("unit", metric.unit);
  io.word("provenance", metric.provenance, parse_provenance);
}
template <class Io>
void fields(Io&& io, LaunchRecord& launch) {
  io("kernel", launch.kernel);
  io("source_file", launch.source_file);
  io("entry", launch.entry);
  io("defines", launch.defines);
  io("digest", launch.digest);
  io("registers", launch.registers);
  io("local_bytes", launch.local_bytes);
  io("static_shared_bytes", launch.static_shared_bytes);
  io("dynamic_shared_bytes", launch.dynamic_shared_bytes);
  io("threads", launch.threads);
  io("grid", launch.grid);
}
template <class Io>
void fields(Io&& io, KernelRecord& kernel) {
  io("kernel", kernel.kernel);
  io("metrics", kernel.metrics);
  io("samples_ns", kernel.samples_ns);
  io("occupancy_limiter", kernel.occupancy_limiter);
  io("launch", kernel.launch);
  io("complete", kernel.complete);
}
template <class Io>
void fields(Io&& io, ClockReading& clocks) {
  io("sm_clock_hz", clocks.sm_clock_hz);
  io("memory_clock_hz", clocks.memory_clock_hz);
  io("temperature_c", clocks.temperature_c);
  io("power_w", clocks.power_w);
  io("throttle_reasons", clocks.throttle_reasons);
  io("throttled", clocks.throttled);
}
template <class Io>
void fields(Io&& io, PointRecord& record) {
  io("point", record.spec);
  io.word("disposition", record.disposition, parse_disposition);
  io("reason", record.reason);
  io.word("provenance", record.provenance, parse_provenance);
  io("kernels", record.kernels);
  io("clocks", record.clocks);
  io("max_abs_error", record.max_abs_error);
  io("error_bound", record.error_bound);
  io("rms_error", record.rms_error);
  io("wall_seconds", record.wall_seconds);
}
template <class Io>
void fields(Io&& io, Ceiling& ceiling) {
  io("name", ceiling.name);
  io("argument", ceiling.argument);
  io("value", ceiling.value);
  io("q1", ceiling.q1);
  io("q3", ceiling.q3);
  io("unit", ceiling.unit);
  through(
      io, "source", ceiling.source, [](CeilingSource source) { return std::string(to_string(source)); },
      parse_ceiling_source);
}
template <class Io>
void fields(Io&& io, Message& remark) {  // one of a list
  io("text", remark);
}
template <class Io>
void fields(Io&& io, CeilingSet& set) {
  io("ceilings", set.ceilings);
  io("remarks", set.remarks);
}

namespace remote {

template <class Io>
void fields(Io&& io, Hello& hello) {
  io("protocol", hello.protocol);
  io("app_version", hello.app_version);
  io("device", hello.device);
  io("environment", hello.environment);
  io("counters", hello.counters);
  io("simulated_because", hello.simulated_because);
}
template <class Io>
void fields(Io&& io, Request& request) {
  io("ask", request.ask);
  io("number", request.number);
  io("points", request.points);
  io("options", request.options);
  io("whole", request.whole);
  io("names", request.names);
  io("ceilings", request.ceilings);
}
template <class Io>
void fields(Io&& io, Answer& answer) {
  io("answer", answer.answer);
  io("number", answer.number);
  io("hello", answer.hello);
  io("reason", answer.reason);
  io("cancelled", answer.cancelled);
  io("done", answer.done);
  io("total", answer.total);
  io("build", answer.build);
  io("records", answer.records);
  io("left", answer.left);
  io("lost_to", answer.lost_to);
  io("usable", answer.usable);
  io("unknown", answer.unknown);
  io("bytes", answer.bytes);
  io("ceilings", answer.ceilings);
}

}  // namespace remote

template <class Io>
void fields(Io&& io, Device::UnknownMetric& metric) {
  io("name", metric.name);
  io("near", metric.near);
}

namespace remote {
namespace {

template <class T>
std::string line_of(T value) {
  Json json = Json::object();
  fields(JsonWriter{json}, value);
  // What a compiler or a path says may be no UTF-8: it must not end the protocol.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Result<T, Message> parsed(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (!json.is_object()) return Failure<Message>{say::event::no_object{}};
    T value;
    fields(JsonReader{json}, value);
    return value;
  } catch (const WrongLine& wrong) {
    return Failure{wrong.why};
  } catch (const std::exception& error) {
    return Failure{Message::verbatim(error.what())};
  }
}

}  // namespace

std::string to_line(const Request& request) {
  return line_of(request);
}
std::string to_line(const Answer& answer) {
  return line_of(answer);
}
Result<Request, Message> parse_request(std::string_view line) {
  return parsed<Request>(line);
}
Result<Answer, Message> parse_answer(std::string_view line) {
  return parsed<Answer>(line);
}

}  // namespace remote
}  // namespace attnscope
