// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/json_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace attnscope::user {
namespace {

using Json = nlohmann::ordered_json;

/// Notes where the character is that was read last.
class NotingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  NotingIterator(const char* at, const char** last) : at_(at), last_(last) {}
  reference operator*() const { return *at_; }
  NotingIterator& operator++() {
    *last_ = at_++;
    return *this;
  }
  bool operator==(const NotingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const NotingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** last_;
};

class Builder {
 public:
  /// `last`: the character that was read last.
  explicit Builder(const char* const* last) : last_(last), counted_(*last) {}

  // The interface nlohmann::json_sax.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) {
    return value.find('\0') == std::string::npos ? put(value) : fail("a character NUL cannot be in a statement");
  }
  bool binary(Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return start(Json::object()); }
  bool start_array(std::size_t /*size*/) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    constexpr std::size_t most = 1000;
    key_ = name;
    if (name.find('\0') != std::string::npos) return fail("a character NUL cannot be in a statement");
    if (open_.back().value->size() >= most) return fail(make_message("an object has more than {} members", most));
    if (open_.back().value->contains(name)) return fail(make_message("'{}' stands there twice", name));
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::detail::exception& error) {
    const std::string_view why = error.what();  // "[json.exception.parse_error.101] parse error at line 3, column 5: …"
    error_ = Message::verbatim(std::string(why.substr(why.find("] ") + 2)));
    return false;
  }

  Result<JsonWithLines, Message> take() {
    if (!error_.empty()) return Failure{error_};
    return std::move(result_);
  }

 private:
  struct Open {
    Json* value;
    std::string pointer;
  };

  /// A line's end is still on the line: a number is known to end by what follows.
  std::size_t line() {
    line_ += static_cast<std::size_t>(std::count(counted_, *last_, '\n'));
    counted_ = *last_;
    return line_;
  }
  bool fail(Message why) {
    error_ = make_message("line {}: {}", line(), why);
    return false;
  }
  template <class T>
  bool put(T&& value) {
    if (open_.empty()) {
      result_.json = std::forward<T>(value);
      put_ = {&result_.json, ""};
    } else {
      Json& parent = *open_.back().value;
      const std::string name = parent.is_array() ? std::to_string(parent.size()) : key_;
      Json& member = parent.is_array() ? parent.emplace_back(std::forward<T>(value))
                                       : parent.emplace(name, std::forward<T>(value)).first.value();
      put_ = {&member, open_.back().pointer + "/" + name};
    }
    result_.lines.emplace(put_.pointer, line());
    return true;
  }
  bool start(Json empty) {
    constexpr std::size_t deepest = 32;
    if (open_.size() >= deepest) return fail("it has more than 32 levels");
    put(std::move(empty));
    open_.push_back(put_);
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  const char* const* last_;
  const char* counted_;
  std::size_t line_ = 1;
  JsonWithLines result_;
  std::vector<Open> open_;
  Open put_{};  ///< what was put last
  std::string key_;
  Message error_;
};

}  // namespace

Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text) {
  const char* last = text.data();
  Builder builder(&last);
  Json::sax_parse(NotingIterator(text.data(), &last), NotingIterator(text.data() + text.size(), &last), &builder);
  return builder.take();
}

}  // namespace attnscope::user
