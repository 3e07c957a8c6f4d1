// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/manifest_value.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attnscope::user {
namespace {

constexpr int max_list_length = 64;

}  // namespace

void Value::fail(Message what) const {
  throw ManifestError{make_message("line {}: {}", all_->lines.at(pointer_), what)};
}

void Value::fail_type(Message kind) const {
  const std::size_t slash = pointer_.rfind('/');
  if (slash == std::string::npos) fail(make_message("a manifest must be {}", kind));
  std::string key = pointer_.substr(slash + 1);
  if (nth_ == 0) fail(make_message("'{}' must be {}", key, kind));
  const std::string list = pointer_.substr(0, slash);
  fail(make_message("value {} of '{}' must be {}", nth_, list.substr(list.rfind('/') + 1), kind));
}

std::optional<Value> Value::find(const char* name) const {
  const auto found = json_->find(name);
  if (found == json_->end()) return std::nullopt;
  return Value(*all_, *found, pointer_ + "/" + name);
}

Value Value::at(const char* name) const {
  if (auto found = find(name)) return *found;
  fail(make_message("'{}' is missing", name));
}

const Value& Value::object(std::initializer_list<std::string_view> known) const {
  if (!json_->is_object()) fail_type("an object");
  for (const auto& [name, value] : json_->items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    Value(*all_, value, pointer_ + "/" + name)
        .fail(make_message("unknown key '{}'; available: {}", name, fmt::join(known, ", ")));
  }
  return *this;
}

void Value::for_each_member(const std::function<void(const std::string&, const Value&)>& use) const {
  if (!json_->is_object()) fail_type("an object");
  for (const auto& [name, value] : json_->items()) use(name, Value(*all_, value, pointer_ + "/" + name));
}

std::vector<Value> Value::list() const {
  if (!json_->is_array() || json_->empty() || json_->size() > max_list_length) fail_type("a list of 1 to 64 values");
  std::vector<Value> values;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    values.emplace_back(*all_, (*json_)[i], pointer_ + "/" + std::to_string(i), i + 1);
  }
  return values;
}

const std::string& Value::text() const {
  if (!json_->is_string() || json_->get_ref<const std::string&>().empty()) fail_type("a string");
  return json_->get_ref<const std::string&>();
}

bool Value::flag() const {
  if (!json_->is_boolean()) fail_type("true or false");
  return json_->get<bool>();
}

std::int64_t Value::number(std::int64_t least, std::int64_t most) const {
  const bool whole = json_->is_number_integer() &&
                     (!json_->is_number_unsigned() ||
                      json_->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (!whole || json_->get<std::int64_t>() < least || json_->get<std::int64_t>() > most) {
    fail_type(make_message("an integer from {} to {}", least, most));
  }
  return json_->get<std::int64_t>();
}

Expression Value::expression(const std::vector<std::string>& known) const {
  if (!json_->is_number_integer() && !json_->is_string())
    fail_type("an expression: an integer, or a string such as \"ceil_div(n_q, br)\"");
  return expression(json_->is_number_integer() ? json_->dump() : text(), known);
}

Expression Value::expression(std::string_view part, const std::vector<std::string>& known) const {
  auto parsed = Expression::parse(part);
  if (!parsed) fail(parsed.error());
  for (const std::string& name : parsed->names()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    fail(make_message("'{}': unknown name '{}'; available: {}", parsed->text(), name, fmt::join(known, ", ")));
  }
  return std::move(parsed).value();
}

std::string Value::keyword(const std::vector<std::string_view>& known) const {
  if (!json_->is_string() || std::ranges::find(known, text()) == known.end()) {
    fail_type(make_message("one of {}", fmt::format("\"{}\"", fmt::join(known, "\", \""))));
  }
  return text();
}

}  // namespace attnscope::user
