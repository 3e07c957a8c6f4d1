// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

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
}
/// An enumeration or a mask, as its word.
template <class Io, class T, class Parse>
void word(Io&& io, const char* key, T& member, Parse parse) {
  std::string text(to_string(member));
  io(key, text);
  auto parsed = parse(text);
  if (!parsed) throw std::invalid_argument(parsed.error());
  member = std::move(parsed).value();
}

template <class Io>
void fields(Io&& io, PointSpec& spec) {
  AttentionProblem& p = spec.problem;
  io("algorithm", spec.algorithm);
  word(io, "pass", p.pass, parse_pass);
  word(io, "dtype", p.dtype, parse_dtype);
  io("batch", p.batch);
  io("heads_q", p.heads_q);
  io("heads_kv", p.heads_kv);
  io("n_q", p.n_q);
  io("n_k", p.n_k);
  io("d", p.d);
  word(io, "mask", p.mask, parse_mask);
  io("dropout", p.dropout);
  io("page", p.page);
  io("deterministic", p.deterministic);
  io("br", spec.tile.br);
  io("bc", spec.tile.bc);
  word(io, "raster", spec.tile.raster, parse_raster);
  io("splits", spec.tile.splits);
  io("warps", spec.tile.warps);
  io("stages", spec.tile.stages);
  word(io, "cache", spec.cache, parse_cache_state);
}

template <class Io>
void fields(Io&& io, PointEvent& e) {
  io("index", e.index);
  io("point_id", e.point_id);
  io("point", e.point);
  fields(io, e.spec);
  io("disposition", e.disposition);
  io("reason", e.reason);
  io("time_median_ns", e.time_median_ns);
  io("dram_bytes", e.dram_bytes);
  io("l2_sm_bytes", e.l2_sm_bytes);
  io("throttled", e.throttled);
}
template <class Io>
void fields(Io&& io, ProgressEvent& e) {
  io("done", e.done);
  io("total", e.total);
  io("elapsed_s", e.elapsed_s);
  io("remaining_s", e.remaining_s);
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
  if constexpr (std::is_same_v<E, ProgressEvent>) return "progress";
  if constexpr (std::is_same_v<E, LogEvent>) return "log";
  if constexpr (std::is_same_v<E, DoneEvent>) return "done";
}

struct Writer {
  Json& json;
  template <class T>
  void operator()(const char* key, const T& member) {
    json[key] = member;
  }
};

// A field that is absent or null keeps its default; one of another type is an error, thrown by nlohmann and caught in
// parse_event. Numbers are checked: get<unsigned>() of -1 would be a huge count.
struct Reader {
  const Json& json;
  template <class T>
  void operator()(const char* key, T& member) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return;
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      found->get_to(member);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!found->is_number()) throw std::invalid_argument(fmt::format("'{}' is not a number", key));
      member = found->get<T>();
    } else {
      const bool whole = found->is_number_integer();
      if (!whole || (std::is_unsigned_v<T> && !found->is_number_unsigned())) {
        throw std::invalid_argument(
            fmt::format("'{}' is not a {}", key, std::is_unsigned_v<T> ? "count" : "whole number"));
      }
      member = found->get<T>();
    }
  }
};

template <class E>
bool read_as(const Json& json, std::string_view name, Event& out) {
  if (name != event_name<E>()) return false;
  E event;
  fields(Reader{json}, event);
  out = std::move(event);
  return true;
}

template <class... E>
bool read_any(const Json& json, std::string_view name, Event& out, std::type_identity<std::variant<E...>>) {
  return (read_as<E>(json, name, out) || ...);
}

}  // namespace

std::string to_json_line(const Event& event) {
  Json json;
  std::visit(
      [&](auto copy) {
        json["event"] = event_name<decltype(copy)>();
        fields(Writer{json}, copy);
      },
      event);
  // A compile log or a path may hold bytes that are no UTF-8: they must not end the protocol.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Event, std::string> parse_event(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (!json.is_object()) return Failure{std::string("the line is no JSON object")};
    const auto name = json.find("event");
    if (name == json.end() || !name->is_string()) return Failure{std::string("the line names no event")};
    Event event;
    if (read_any(json, name->get<std::string>(), event, std::type_identity<Event>{})) return event;
    return Failure{fmt::format("unknown event '{}'", name->get<std::string>())};
  } catch (const std::exception& error) {
    return Failure{std::string(error.what())};
  }
}

}  // namespace attnscope
