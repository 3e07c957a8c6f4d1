// SPDX-License-Identifier: Apache-2.0
// A point's fields as JSON, as events and requests have them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/fields.h"

namespace attnscope {

/// Of a FieldValue or a KnobValue.
template <class... Held>
[[nodiscard]] nlohmann::ordered_json json_of(const std::variant<Held...>& value) {
  return std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

/// Every field under its name; knobs are the caller's.
inline void write_fields(nlohmann::ordered_json& json, const PointSpec& spec) {
  for (const Field& field : point_fields()) json[std::string(field.name)] = json_of(field.get(spec));
}

/// Words, numbers and flags as text, which a field reads as it reads an axis.
[[nodiscard]] inline Result<std::string, Message> axis_text(const nlohmann::ordered_json& value, std::string_view key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "yes" : "no");
  if (value.is_number()) return value.dump();
  return Failure{make_message("'{}' is neither a number nor a word", key)};
}

}  // namespace attnscope
