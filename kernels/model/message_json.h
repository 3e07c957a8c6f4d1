// SPDX-License-Identifier: Apache-2.0
// For who reads arguments out of a larger JSON document.
#pragma once

#include <optional>
#include <string>

namespace attnscope {

/// The text of a JSON value from outside, for stored_message(); nothing where it is nested so deep that writing it
/// down would take all of the stack.
template <class Json>
[[nodiscard]] std::optional<std::string> shallow_text(const Json& json, int deepest = 64) {
  const auto is_shallow = [](const auto& self, const Json& value, int left) -> bool {
    if (!value.is_structured()) return true;
    if (left == 0) return false;
    for (const Json& member : value) {
      if (!self(self, member, left - 1)) return false;
    }
    return true;
  };
  if (!is_shallow(is_shallow, json, deepest)) return std::nullopt;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attnscope
