// SPDX-License-Identifier: Apache-2.0
// JSON of which every value knows its line, so that what is wrong with a statement is said where it stands.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

struct JsonWithLines {
  nlohmann::ordered_json json;
  /// Of each value, by its JSON pointer: "/launches/0/grid".
  std::map<std::string, std::size_t, std::less<>> lines;
};

/// Refused, with its line, besides what is no JSON: a key twice, and more than 32 levels.
[[nodiscard]] Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text);

}  // namespace attnscope::user
