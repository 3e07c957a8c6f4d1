// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/json_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "messages/own_kernel.h"

namespace attnscope::user {
namespace {

using Json = nlohmann::ordered_json;

/// Where the last character stands that was read. A line's end is still on it: a number is known to end by what
/// follows.
struct Place {
  std::size_t line = 1;
  std::size_t column = 0;
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

  CountingIterator(const char* at, Place* place) : at_(at), place_(place) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (place_->ends) {
      ++place_->line;
      place_->column = 0;
    }
    ++place_->column;
    place_->ends = *at_++ == '\n';
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Place* place_;
};

class Builder {
 public:
  explicit Builder(const Place& place) : place_(place) {}

  // What nlohmann::json_sax asks for, by its names.
  bool null() { return put(nullptr) != nullptr; }
  bool boolean(bool value) { return put(value) != nullptr; }
  bool number_integer(Json::number_integer_t value) { return put(value) != nullptr; }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value) != nullptr; }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(value) != nullptr; }
  bool string(std::string& value) {
    return value.find('\0') == std::string::npos ? put(value) != nullptr : fail(say::own_kernel::json_nul{});
  }
  bool binary(Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return start(Json::object()); }
  bool start_array(std::size_t /*size*/) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    key_ = name;
    if (name.find('\0') != std::string::npos) return fail(say::own_kernel::json_nul{});
    constexpr std::size_t most = 1000;
    if (open_.back().value->size() >= most) return fail(say::own_kernel::many_keys{.most = most});
    if (!open_.back().value->contains(name)) return true;
    return fail(say::own_kernel::key_twice{.key = name});
  }
  bool parse_error(std::size_t /*position*/, const std::string& token, const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while parsing value - unexpected
    // end of input; expected '[', '{', or a literal", or behind the dash what is wrong with the token itself.
    std::string_view why = error.what();
    if (const auto last = why.find("; last read"); last != std::string_view::npos) why = why.substr(0, last);
    const auto says = [&](std::string_view words) { return why.find(words) != std::string_view::npos; };
    if (says("missing closing quote") || says("U+000A"))
      return fail_here(place_.column, say::own_kernel::json_open_quote{});
    const auto [found, column] = last_of(token);
    if (found.starts_with('/')) return fail_here(column, say::own_kernel::json_comment{});
    const Message wanted = says("parsing object key")         ? Message(say::own_kernel::json_key{})
                           : says("parsing object separator") ? Message::verbatim("':'")
                           : says("parsing object ")          ? Message::verbatim("',' or '}'")
                           : says("parsing array ")           ? Message::verbatim("',' or ']'")
                           : open_.empty() && written_        ? Message(say::own_kernel::json_end{})
                                                              : Message(say::own_kernel::json_value{});
    if (says("unexpected end of input")) return fail_here(place_.column, say::own_kernel::json_ends{.wanted = wanted});
    if (found == "}" || found == "]") {
      return fail_here(column, say::own_kernel::json_too_early{.found = found, .wanted = wanted});
    }
    if (says("unexpected") || says("invalid literal")) {
      return fail_here(column, say::own_kernel::json_unexpected{.found = found, .wanted = wanted});
    }
    if (const auto dash = why.find(" - "); dash != std::string_view::npos) why.remove_prefix(dash + 3);
    return fail_here(place_.column, say::own_kernel::no_json{.why = why});
  }

  [[nodiscard]] const Message& error() const { return error_; }
  JsonWithLines take() { return std::move(result_); }

 private:
  struct Open {
    Json* value;
    std::string pointer;
  };
  static constexpr std::size_t deepest = 32;

  /// The last token of what the library keeps, which may have commas and the like in front of it, and its column.
  [[nodiscard]] std::pair<std::string, std::size_t> last_of(std::string_view kept) const {
    constexpr std::string_view blanks = " \t\r\n";
    constexpr std::string_view signs = "{}[],:";
    const std::size_t end = kept.find_last_not_of(blanks) + 1;
    std::size_t behind = kept.size() - end;  // what was read of it
    kept = kept.substr(0, end);
    if (kept.empty()) return {std::string(), place_.column};
    std::size_t begin = end - 1;
    if (kept.back() == '"') {
      begin = kept.find('"');
    } else if (signs.find(kept.back()) == std::string_view::npos) {
      begin = kept.find_last_of(std::string(blanks) + std::string(signs)) + 1;  // npos + 1 is 0
      // That a number ends is known by what follows, which it gives back.
      if (behind == 0 && kept.back() >= '0' && kept.back() <= '9') behind = 1;
    }
    const std::size_t length = behind + end - begin;
    constexpr std::size_t most_shown = 40;
    std::string found(kept.substr(begin, most_shown));
    for (char& c : found) c = c >= ' ' && c <= '~' ? c : '?';
    return {std::move(found), place_.column < length ? place_.column : place_.column - length + 1};
  }

  bool fail(Message why) {
    if (error_.empty()) error_ = say::own_kernel::at_line{.line = place_.line, .what = std::move(why)};
    return false;
  }
  bool fail_here(std::size_t column, Message why) {
    if (error_.empty()) {
      error_ = say::own_kernel::at_place{
          .line = place_.line, .column = std::max<std::size_t>(1, column), .what = std::move(why)};
    }
    return false;
  }
  template <class T>
  Json* put(T&& value) {
    if (open_.empty()) {
      written_ = true;
      result_.lines.emplace("", place_.line);
      result_.json = std::forward<T>(value);
      pointer_ = "";
      return &result_.json;
    }
    Json& parent = *open_.back().value;
    const std::string name = parent.is_array() ? std::to_string(parent.size()) : key_;
    pointer_ = open_.back().pointer + "/" + name;
    result_.lines.emplace(pointer_, place_.line);
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

  const Place& place_;
  JsonWithLines result_;
  std::vector<Open> open_;
  std::string key_;
  std::string pointer_;
  bool written_ = false;  ///< the outermost value
  Message error_;
};

}  // namespace

Result<JsonWithLines, Message> parse_json_with_lines(std::string_view text) {
  Place place;
  Builder builder(place);
  Json::sax_parse(CountingIterator(text.data(), &place), CountingIterator(text.data() + text.size(), &place), &builder);
  if (!builder.error().empty()) return Failure{builder.error()};
  return builder.take();
}

}  // namespace attnscope::user
