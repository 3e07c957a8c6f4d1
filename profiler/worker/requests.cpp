// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/user/json_lines.h"
#include "profiler/plan/axes.h"
#include "profiler/plan/sweep.h"
#include "profiler/worker/json_fields.h"

namespace attnscope {
namespace {

constexpr const char* measure_keyword = "measure";
constexpr const char* cancel_keyword = "cancel";
constexpr const char* end_keyword = "end";

/// Returns an empty string if absent or not a string.
std::string string_member(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The following functions throw Message.

/// Rejects unknown keys, so that a misspelled key is not ignored.
void require_keys(const Json& json, std::string_view request, std::initializer_list<std::string_view> accepted) {
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(accepted, key) == accepted.end())
      throw make_message("'{}' has no key '{}' (accepted: {})", request, key, fmt::join(accepted, ", "));
  }
}

std::string require_id(const std::string& id) {
  if (id.empty()) throw make_message("'id' must be a string of 1 to {} bytes", max_request_id_bytes);
  return id;
}

std::vector<Axis> axes_of(const Json& point, const Registry& registry) {
  std::vector<Axis> axes;
  for (const auto& [name, value] : point.items()) {
    if (name == "knobs") {
      if (!value.is_object()) throw Message("'knobs' is not an object");
      for (Axis& axis : axes_of(value, registry)) axes.push_back(std::move(axis));
      continue;
    }
    const auto text = to_axis_text(value, name);
    if (!text) throw text.error();
    auto axis = parse_axis(fmt::format("{}={}", name, *text), registry);
    if (!axis) throw axis.error();
    axes.push_back(std::move(axis).value());
  }
  return axes;
}

MeasureRequest measure_request(const Json& json, const std::string& id, CacheState cache, const DeviceLimits& limits,
                               const Registry& registry) {
  require_keys(json, measure_keyword, {"request", "id", "priority", "point"});
  MeasureRequest request{.id = require_id(id), .priority = 0, .spec = {}};
  if (const auto found = json.find("priority"); found != json.end()) {
    // An unsigned number can exceed 63 bits.
    const bool whole =
        found->is_number_integer() && found->get<double>() <= max_priority && found->get<double>() >= -max_priority;
    if (!whole) throw make_message("'priority' must be an integer from {} to {}", -max_priority, max_priority);
    request.priority = found->get<std::int64_t>();
  }
  const auto point = json.find("point");
  if (point == json.end() || !point->is_object())
    throw Message("'measure' needs 'point': an object with fields as in the event 'point'");
  auto spec = make_point(axes_of(*point, registry), cache, limits, registry);
  if (!spec) throw spec.error();
  request.spec = std::move(spec).value();
  return request;
}

}  // namespace

Result<Request, RefusedEvent> parse_request(std::string_view line, CacheState default_cache, const DeviceLimits& limits,
                                            const Registry& registry) {
  RefusedEvent refused;
  try {
    if (line.size() > max_request_bytes) throw make_message("the line is longer than {} bytes", max_request_bytes);
    const auto parsed = user::parse_json_with_lines(line);
    if (!parsed) throw make_message("the line is not a JSON object: {}", parsed.error());
    const Json& json = parsed->json;
    if (!json.is_object()) throw make_message("the line is not a JSON object: {}", json.type_name());
    refused.request = string_member(json, "request");
    if (std::string id = string_member(json, "id"); id.size() <= max_request_id_bytes) refused.id = std::move(id);
    const std::string& request = refused.request;
    if (request == measure_keyword) return Request{measure_request(json, refused.id, default_cache, limits, registry)};
    if (request == cancel_keyword) {
      require_keys(json, request, {"request", "id"});
      return Request{CancelRequest{require_id(refused.id)}};
    }
    if (request == end_keyword) {
      require_keys(json, request, {"request"});
      return Request{EndRequest{}};
    }
    throw request.empty() ? Message("the line has no 'request' (accepted: measure, cancel, end)")
                          : make_message("unknown request '{}' (accepted: measure, cancel, end)", request);
  } catch (const Message& why) {
    refused.reason = why;
    return Failure{std::move(refused)};
  }
}

std::string measure_line(std::string_view id, std::int64_t priority, const PointSpec& spec, const Registry& registry) {
  Json json{{"request", measure_keyword}, {"id", id}, {"priority", priority}};
  Json& point = json["point"] = Json::object();
  write_fields(point, spec);
  Json& knobs = point["knobs"] = Json::object();
  // Write all knobs: a missing one would get its value from the table of default tiles.
  if (const Algorithm* algorithm = registry.find(spec.algorithm)) {
    for (const Knob& knob : algorithm->facts().knobs) knobs[knob.name] = knob_text(knob, spec.knobs);
  }
  for (const auto& [name, value] : spec.knobs) knobs[name] = to_json_value(value);
  return line_of(json);
}

std::string cancel_line(std::string_view id) {
  return line_of({{"request", cancel_keyword}, {"id", id}});
}

std::string end_line() {
  return line_of({{"request", end_keyword}});
}

}  // namespace attnscope
