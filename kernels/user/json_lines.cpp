// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/json_lines.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "kernels/files/json_check.h"

namespace attnscope::user {
namespace {

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

}  // namespace attnscope::user
