// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/remote/wire.h"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "profiler/measure/json_fields.h"

namespace attnscope {
namespace {

CeilingSource parse_ceiling_source(const std::string& word) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (to_string(source) == word) return source;
  }
  throw WrongLine{make_message("'source' is none of the words that are known: '{}'", word)};
}

CounterState parse_counter_state(std::int64_t number) {
  if (number < 0 || number > static_cast<std::int64_t>(CounterState::not_asked)) {
    throw WrongLine{"'state' is not a count"};
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

// In the namespace of the structs, where the writer and the reader look for them. Bindings name every member: one that
// comes later and is not on the wire does not compile.

template <class Io>
void fields(Io&& io, PointSpec& spec) {
  io(spec);
}
template <class Io>
void fields(Io&& io, StatedRates& rates) {
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
  auto& [uuid, simulated, ordinal, limits, l2_from, rates_from] = info;
  io("uuid", uuid);
  io("simulated", simulated);
  io("ordinal", ordinal);
  io("limits", limits);
  io("l2_from", l2_from);
  io("rates_from", rates_from);
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
  through(
      io, "state", state, [](CounterState held) { return static_cast<std::int64_t>(held); }, parse_counter_state);
  io("reason", reason);
  io("fix", fix);
}
template <class Io>
void fields(Io&& io, MeasureOptions& options) {
  auto& [counters, verify, extra_metrics, min_samples, max_samples, max_noise, bare, slow_ns, timeout, seed, input_kind,
         spin, placement, keep_sources] = options;
  static_cast<void>(spin);
  // Sources do not go over the wire with every record: whoever asks has the files of the kernels that it asks for.
  static_cast<void>(keep_sources);
  io("counters", counters);
  io("verify", verify);
  io("extra_metrics", extra_metrics);
  io("min_samples", min_samples);
  io("max_samples", max_samples);
  io("max_noise", max_noise);
  io("bare", bare);
  io("slow_ns", slow_ns);
  through(
      io, "timeout_ms", timeout, [](std::chrono::milliseconds held) { return std::int64_t{held.count()}; },
      [](std::int64_t ms) { return std::chrono::milliseconds(ms); });
  io("seed", seed);
  io.word("input_kind", input_kind, parse_input_kind);
  io("placement", placement);
}
template <class Io>
void fields(Io&& io, CeilingOptions& options) {
  auto& [rounds, seed] = options;
  io("rounds", rounds);
  io("seed", seed);
}
template <class Io>
void fields(Io&& io, BuildReport& report) {
  auto& [kernel, registers, static_shared_bytes, dynamic_shared_bytes, local_bytes, spill_store_bytes, spill_load_bytes,
         compiled, cached, digest, error] = report;
  io("kernel", kernel);
  io("registers", registers);
  io("static_shared_bytes", static_shared_bytes);
  io("dynamic_shared_bytes", dynamic_shared_bytes);
  io("local_bytes", local_bytes);
  io("spill_store_bytes", spill_store_bytes);
  io("spill_load_bytes", spill_load_bytes);
  io("compiled", compiled);
  io("cached", cached);
  io("digest", digest);
  io("error", error);
}
template <class Io>
void fields(Io&& io, MetricValue& metric) {
  auto& [name, value, unit, provenance] = metric;
  io("name", name);
  io.required("value", value);
  io("unit", unit);
  io.word("provenance", provenance, parse_provenance);
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
void fields(Io&& io, StatementSource& source) {
  auto& [name, digest, content] = source;
  static_cast<void>(content);  // see MeasureOptions
  io("name", name);
  io("digest", digest);
}
template <class Io>
void fields(Io&& io, KernelStatement& statement) {
  auto& [text, host_code, sources] = statement;
  io("text", text);
  io("host_code", host_code);
  io("sources", sources);
}
template <class Io>
void fields(Io&& io, PointRecord& record) {
  // A device measures a point once: rounds are made of several such answers, where they are kept.
  auto& [spec, disposition, reason, provenance, kernels, clocks, max_abs_error, error_bound, rms_error, wall_seconds,
         rounds, statement, others] = record;
  static_cast<void>(rounds);
  auto stated = statement ? std::optional(*statement) : std::nullopt;
  io("statement", stated);
  if (stated) statement = std::make_shared<const KernelStatement>(std::move(*stated));
  io("point", spec);
  io.word("disposition", disposition, parse_disposition);
  io("reason", reason);
  io.word("provenance", provenance, parse_provenance);
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
  through(
      io, "source", source, [](CeilingSource held) { return std::string(to_string(held)); }, parse_ceiling_source);
}
template <class Io>
void fields(Io&& io, Message& remark) {  // one of a list
  io("text", remark);
}
template <class Io>
void fields(Io&& io, CeilingSet& set) {
  auto& [ceilings, remarks] = set;
  io("ceilings", ceilings);
  io("remarks", remarks);
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
  auto& [name, near] = metric;
  io("name", name);
  io("near", near);
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
    if (!json.is_object()) return Failure{"the line is no JSON object"};
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
