// SPDX-License-Identifier: Apache-2.0
// Checks JSON from users, files and other processes while it is parsed: nlohmann-json keeps the last of several members
// of one name without an error.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope {

/// Call it for every event of a parser callback.
class JsonCheck {
 public:
  explicit JsonCheck(int max_depth = 32) : max_depth_(max_depth) {}

  /// Returns an error for a duplicate key or nesting that is too deep, else an empty message.
  template <class Json>
  [[nodiscard]] Message operator()(int depth, nlohmann::json::parse_event_t event, const Json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > max_depth_) return make_message("JSON nested deeper than {} levels", max_depth_);
    const auto level = static_cast<std::size_t>(depth);
    if (event == Event::object_start) {
      if (keys_.size() < level + 2) keys_.resize(level + 2);
      keys_[level + 1].clear();
    }
    if (event != Event::key) return {};
    const auto& key = parsed.template get_ref<const std::string&>();
    return keys_[level].insert(key).second ? Message() : make_message("duplicate key '{}'", key);
  }

 private:
  int max_depth_;
  std::vector<std::unordered_set<std::string>> keys_;  ///< keys seen in the open object of each depth
};

/// Parses text as JSON without duplicate keys or deep nesting. Throws Message, or an exception of nlohmann-json for
/// invalid JSON.
template <class Json = nlohmann::ordered_json>
[[nodiscard]] Json parse_checked_json(std::string_view text) {
  JsonCheck check;
  return Json::parse(text, [&](int depth, nlohmann::json::parse_event_t event, const Json& parsed) {
    if (Message error = check(depth, event, parsed); !error.empty()) throw error;
    return true;
  });
}

}  // namespace attnscope
