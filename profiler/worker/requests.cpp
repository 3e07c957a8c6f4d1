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
#include "kernels/user/manifest_value.h"
#include "profiler/plan/axes.h"
#include "profiler/plan/sweep.h"
#include "profiler/worker/json_fields.h"

namespace attnscope {
namespace {

using Parsed = Result<Request, RefusedEvent>;
using Axes = Result<std::vector<Axis>, Message>;

constexpr const char* measure_keyword = "measure";
constexpr const char* cancel_keyword = "cancel";
constexpr const char* end_keyword = "end";

/// Returns an empty string if absent or not a string.
std::string string_member(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Error for an unknown key, so that a misspelled key is not ignored; empty if all are accepted.
Message unknown_key_error(const Json& json, std::string_view request,
                          std::initializer_list<std::string_view> accepted) {
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(accepted, key) != accepted.end()) continue;
    return make_message("'{}' has no key '{}' (accepted: {})", request, key, fmt::join(accepted, ", "));
  }
  return {};
}

/// Parses `name`=`value` and appends the axis. Returns the error; empty if valid.
Message add_axis(std::vector<Axis>& axes, const std::string& name, const Json& value, const Registry& registry) {
  const auto text = to_axis_text(value, name);
  if (!text) return text.error();
  auto axis = parse_axis(fmt::format("{}={}", name, *text), registry);
  if (!axis) return axis.error();
  axes.push_back(std::move(axis).value());
  return {};
}

Axes axes_of(const Json& point, const Registry& registry) {
  std::vector<Axis> axes;
  for (const auto& [name, value] : point.items()) {
    if (name != "knobs") {
      if (Message wrong = add_axis(axes, name, value, registry); !wrong.empty()) return Failure{std::move(wrong)};
      continue;
    }
    if (!value.is_object()) return Failure{"'knobs' is not an object"};
    for (const auto& [knob, setting] : value.items()) {
      if (Message wrong = add_axis(axes, knob, setting, registry); !wrong.empty()) return Failure{std::move(wrong)};
    }
  }
  return axes;
}

/// Parser of one request; members used by all kinds.
class RequestParser {
 public:
  explicit RequestParser(const Json& json) : json_(json), request_(string_member(json, "request")) {
    id_ = string_member(json, "id");
    if (id_.size() > max_request_id_bytes) id_.clear();
  }

  Parsed parse(CacheState cache, const DeviceLimits& limits, const Registry& registry) const {
    if (request_.empty()) return refused("the line has no 'request' (accepted: measure, cancel, end)");
    if (request_ == measure_keyword) return measure(cache, limits, registry);
    if (request_ == cancel_keyword) {
      if (Message wrong = unknown_key_error(json_, request_, {"request", "id"}); !wrong.empty()) return refused(wrong);
      if (id_.empty()) return missing_id();
      return Request{CancelRequest{id_}};
    }
    if (request_ == end_keyword) {
      if (Message wrong = unknown_key_error(json_, request_, {"request"}); !wrong.empty()) return refused(wrong);
      return Request{EndRequest{}};
    }
    return refused(make_message("unknown request '{}' (accepted: measure, cancel, end)", request_));
  }

 private:
  [[nodiscard]] Failure<RefusedEvent> refused(Message why) const {
    return {RefusedEvent{.request = request_, .id = id_, .reason = std::move(why)}};
  }
  [[nodiscard]] Failure<RefusedEvent> missing_id() const {
    return refused(make_message("'id' must be a string of 1 to {} bytes", max_request_id_bytes));
  }

  [[nodiscard]] Parsed measure(CacheState cache, const DeviceLimits& limits, const Registry& registry) const {
    if (Message wrong = unknown_key_error(json_, request_, {"request", "id", "priority", "point"}); !wrong.empty()) {
      return refused(wrong);
    }
    if (id_.empty()) return missing_id();
    std::int64_t priority = 0;
    if (const auto found = json_.find("priority"); found != json_.end()) {
      // An unsigned number can exceed 63 bits.
      const bool whole =
          found->is_number_integer() && found->get<double>() <= max_priority && found->get<double>() >= -max_priority;
      if (!whole)
        return refused(make_message("'priority' must be an integer from {} to {}", -max_priority, max_priority));
      priority = found->get<std::int64_t>();
    }
    const auto point = json_.find("point");
    if (point == json_.end() || !point->is_object())
      return refused("'measure' needs 'point': an object with fields as in the event 'point'");
    const Axes axes = axes_of(*point, registry);
    if (!axes) return refused(axes.error());
    auto spec = make_point(*axes, cache, limits, registry);
    if (!spec) return refused(spec.error());
    return Request{MeasureRequest{.id = id_, .priority = priority, .spec = std::move(spec).value()}};
  }

  const Json& json_;
  std::string request_;
  std::string id_;
};

}  // namespace

Parsed parse_request(std::string_view line, CacheState default_cache, const DeviceLimits& limits,
                     const Registry& registry) {
  if (line.size() > max_request_bytes) {
    return Failure{RefusedEvent{
        .request = {}, .id = {}, .reason = make_message("the line is longer than {} bytes", max_request_bytes)}};
  }
  const auto refused = [](const Message& why) {
    return Failure{
        RefusedEvent{.request = {}, .id = {}, .reason = make_message("the line is not a JSON object: {}", why)}};
  };
  const auto parsed = user::parse_json_with_lines(line);
  if (!parsed) return refused(parsed.error());
  if (!parsed->json.is_object()) return refused(parsed->json.type_name());
  return RequestParser(parsed->json).parse(default_cache, limits, registry);
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
