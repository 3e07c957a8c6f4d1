// SPDX-License-Identifier: Apache-2.0
// JSON with the line number of each value, and typed access to the values of a manifest; errors contain the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/user/expression.h"

namespace attnscope::user {

struct JsonWithLines {
  nlohmann::ordered_json json;
  /// Line of each value by JSON pointer: "/launches/0/grid".
  std::map<std::string, std::size_t, std::less<>> lines;
};

/// Also rejects duplicate keys and more than 32 levels. Errors contain the line.
[[nodiscard]] Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text);

/// Aborts parsing; caught in parse_manifest().
struct ManifestError {
  Message what;
};

/// A JSON value and its position. Accessors throw Wrong if the value has another type.
class Value {
 public:
  using Json = nlohmann::ordered_json;
  /// Keeps references to `all` and `json`. `nth`: position in a list, from 1.
  Value(const JsonWithLines& all, const Json& json, std::string pointer, std::size_t nth = 0)
      : all_(&all), json_(&json), pointer_(std::move(pointer)), nth_(nth) {}

  [[noreturn]] void fail(Message what) const;
  [[noreturn]] void fail_type(Message kind) const;

  /// Returns the member of an object if it exists.
  [[nodiscard]] std::optional<Value> find(const char* name) const;
  [[nodiscard]] Value at(const char* name) const;
  /// Throws if the value is not an object or has members other than `known`.
  const Value& object(std::initializer_list<std::string_view> known) const;
  void for_each_member(const std::function<void(const std::string&, const Value&)>& use) const;
  [[nodiscard]] std::vector<Value> list() const;
  [[nodiscard]] bool is_object() const { return json_->is_object(); }
  [[nodiscard]] bool is_list() const { return json_->is_array(); }
  [[nodiscard]] bool equals(int number) const { return json_->is_number_integer() && *json_ == number; }
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] std::int64_t number(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Expression expression(const std::vector<std::string>& known) const;
  [[nodiscard]] Expression expression(std::string_view part, const std::vector<std::string>& known) const;
  [[nodiscard]] std::string keyword(const std::vector<std::string_view>& known) const;

 private:
  const JsonWithLines* all_;
  const Json* json_;
  std::string pointer_;
  std::size_t nth_;
};

}  // namespace attnscope::user
