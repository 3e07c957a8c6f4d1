// SPDX-License-Identifier: Apache-2.0
// Points as JSON, in events and requests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

using Json = nlohmann::ordered_json;

template <class... Held>
[[nodiscard]] Json to_json_value(const std::variant<Held...>& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

/// Writes every point field by name, but no knobs.
inline void write_fields(Json& json, const PointSpec& spec) {
  for (const Field& field : point_fields()) json[std::string(field.name)] = to_json_value(field.get(spec));
}

/// Text of a JSON string, number or boolean in the syntax of an axis value.
[[nodiscard]] inline Result<std::string, Message> to_axis_text(const Json& value, std::string_view key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "yes" : "no");
  if (value.is_number()) return value.dump();
  return Failure{make_message("'{}' is neither a number nor a string", key)};
}

/// Serializes to one line without a newline; replaces invalid UTF-8 (from compile logs or paths).
[[nodiscard]] inline std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attnscope
