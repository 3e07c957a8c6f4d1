// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/json_lines.h"

#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "messages/own_kernel.h"

namespace attnscope::user {
namespace {

using Json = nlohmann::ordered_json;

/// The line of the last character that was read. A line's end is still on it: a number is known to end by what follows.
struct Line {
  std::size_t number = 1;
  bool ends = false;
};

/// Counts lines as it is read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Line* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (line_->ends) ++line_->number;
    line_->ends = *at_++ == '\n';
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Line* line_;
};

class Builder {
 public:
  explicit Builder(const Line& line) : line_(line) {}

  // What nlohmann::json_sax asks for, by its names.
  bool null() { return put(nullptr) != nullptr; }
  bool boolean(bool value) { return put(value) != nullptr; }
  bool number_integer(Json::number_integer_t value) { return put(value) != nullptr; }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value) != nullptr; }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(value) != nullptr; }
  bool string(std::string& value) { return put(value) != nullptr; }
  bool binary(Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return start(Json::object()); }
  bool start_array(std::size_t /*size*/) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    key_ = name;
    constexpr std::size_t most = 1000;
    if (open_.back().value->size() >= most) return fail(say::own_kernel::many_keys{.most = most});
    if (!open_.back().value->contains(name)) return true;
    return fail(say::own_kernel::key_twice{.key = name});
  }
  bool parse_error(std::size_t /*position*/, const std::string& token, const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while parsing value - ..."
    std::string_view why = error.what();
    if (const auto colon = why.find(": "); colon != std::string_view::npos) why.remove_prefix(colon + 2);
    if (const auto last = why.find("; last read"); last != std::string_view::npos) why = why.substr(0, last);
    (void)token;
    return fail(say::own_kernel::no_json{.why = why});
  }

  [[nodiscard]] const Message& error() const { return error_; }
  JsonWithLines take() { return std::move(result_); }

 private:
  struct Open {
    Json* value;
    std::string pointer;
  };
  static constexpr std::size_t deepest = 32;

  bool fail(Message why) {
    if (error_.empty()) error_ = say::own_kernel::at_line{.line = line_.number, .what = std::move(why)};
    return false;
  }
  template <class T>
  Json* put(T&& value) {
    if (open_.empty()) {
      result_.lines.emplace("", line_.number);
      result_.json = std::forward<T>(value);
      pointer_ = "";
      return &result_.json;
    }
    Json& parent = *open_.back().value;
    const std::string name = parent.is_array() ? std::to_string(parent.size()) : key_;
    pointer_ = open_.back().pointer + "/" + name;
    result_.lines.emplace(pointer_, line_.number);
    if (parent.is_array()) {
      parent.push_back(std::forward<T>(value));
      return &parent.back();
    }
    return &(parent[name] = std::forward<T>(value));
  }
  bool start(Json empty) {
    if (open_.size() >= deepest) return fail(say::own_kernel::too_deep{});
    Json* value = put(std::move(empty));
    open_.push_back({value, pointer_});
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  const Line& line_;
  JsonWithLines result_;
  std::vector<Open> open_;
  std::string key_;
  std::string pointer_;
  Message error_;
};

}  // namespace

Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text) {
  Line line;
  Builder builder(line);
  Json::sax_parse(CountingIterator(text.data(), &line), CountingIterator(text.data() + text.size(), &line), &builder);
  if (!builder.error().empty()) return Failure{builder.error()};
  return builder.take();
}

}  // namespace attnscope::user
