// SPDX-License-Identifier: Apache-2.0
// JSON with the line number of each value, for error messages about manifests.
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
  /// Line of each value by JSON pointer: "/launches/0/grid".
  std::map<std::string, std::size_t, std::less<>> lines;
};

/// Also rejects duplicate keys and more than 32 levels. Errors contain the line.
[[nodiscard]] Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text);

}  // namespace attnscope::user
