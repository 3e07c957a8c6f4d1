// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/manifest_value.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/files/json_check.h"

namespace attnscope::user {
namespace {

constexpr int max_list_length = 64;

using Json = nlohmann::ordered_json;

/// Stores the position of the last character read.
class TrackingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackingIterator(const char* at, const char** last) : at_(at), last_(last) {}
  reference operator*() const { return *at_; }
  TrackingIterator& operator++() {
    *last_ = at_++;
    return *this;
  }
  bool operator==(const TrackingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** last_;
};

/// Parser callback: stores the line of each value and throws Message for JSON that a manifest must not have.
class LineTracker {
 public:
  /// `last`: position of the last character read.
  explicit LineTracker(const char* const* last) : last_(last), counted_(*last) {}

  void take(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (const Message error = check_(depth, event, parsed); !error.empty()) fail(error);
    if (event == Event::key) return take_key(parsed.get_ref<const std::string&>());
    if (event == Event::object_end || event == Event::array_end) return open_.pop_back();
    if (parsed.is_string()) reject_nul(parsed.get_ref<const std::string&>());
    std::string pointer;
    if (!open_.empty()) {
      OpenContainer& parent = open_.back();
      pointer = parent.pointer + "/" + (parent.list ? std::to_string(parent.size++) : parent.key);
    }
    lines_.emplace(pointer, line());
    if (event == Event::value) return;
    open_.push_back({.pointer = std::move(pointer), .list = event == Event::array_start});
  }
  [[nodiscard]] std::map<std::string, std::size_t, std::less<>>& lines() { return lines_; }

 private:
  /// A list or an object that is still being parsed.
  struct OpenContainer {
    std::string pointer;
    bool list = false;
    std::size_t size = 0;
    std::string key = {};
    std::size_t members = 0;
  };

  void take_key(const std::string& name) {
    constexpr std::size_t most = 1000;
    OpenContainer& object = open_.back();
    reject_nul(name);
    if (object.members++ >= most) fail(make_message("an object has more than {} members", most));
    object.key = name;
  }
  void reject_nul(const std::string& text) {
    if (text.find('\0') != std::string::npos) fail("NUL characters are not allowed");
  }
  /// A newline belongs to the line that it ends: the parser reads it to detect the end of a number.
  std::size_t line() {
    line_ += static_cast<std::size_t>(std::count(counted_, *last_, '\n'));
    counted_ = *last_;
    return line_;
  }
  [[noreturn]] void fail(const Message& why) { throw make_message("line {}: {}", line(), why); }

  JsonCheck check_;
  const char* const* last_;
  const char* counted_;
  std::size_t line_ = 1;
  std::map<std::string, std::size_t, std::less<>> lines_;
  std::vector<OpenContainer> open_;
};

}  // namespace

Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text) {
  const char* last = text.data();
  LineTracker notes(&last);
  try {
    Json json = Json::parse(TrackingIterator(text.data(), &last), TrackingIterator(text.data() + text.size(), &last),
                            [&](int depth, Json::parse_event_t event, Json& parsed) {
                              notes.take(depth, event, parsed);
                              return true;
                            });
    return JsonWithLines{.json = std::move(json), .lines = std::move(notes.lines())};
  } catch (const Message& why) {
    return Failure{why};
  } catch (const Json::exception& error) {
    const std::string_view why = error.what();  // "[json.exception.parse_error.101] parse error at line 3, column 5: …"
    return Failure{Message::verbatim(std::string(why.substr(why.find("] ") + 2)))};
  }
}

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
