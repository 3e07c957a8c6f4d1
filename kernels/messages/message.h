// SPDX-License-Identifier: Apache-2.0
// User-visible messages. Labels, tooltips and sentences about results are in the catalog, assets/messages/en.json; the
// build generates a type per text, such as msg::law::not_power_law for "law.not_power_law" (messages/law.h), with the
// arguments as members. Errors and terminal output are English literals: make_message(), make_reason().
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/model/result.h"

namespace attnscope {

struct Message;

/// Text in the current language for display. Arguments and uncataloged texts are cut to 4,000 bytes; terminal control
/// characters are removed.
[[nodiscard]] std::string text(const Message&);
/// Complete English text: for files, events and exceptions.
[[nodiscard]] std::string english_text(const Message&);

class MessageValue {
 public:
  // Implicit on purpose: msg::law::not_power_law{.n = p.n_k}.
  // NOLINTBEGIN(google-explicit-constructor)
  MessageValue(std::string text) : held_(std::move(text)) {}
  MessageValue(std::string_view text) : held_(std::string(text)) {}
  MessageValue(const char* text) : held_(std::string(text)) {}
  template <std::integral T>
  requires(!std::is_same_v<T, bool> && !std::is_same_v<T, char>) MessageValue(T number)
      : held_(static_cast<std::int64_t>(number)) {}
  MessageValue(Message message);
  template <class MessageType>
  requires(std::is_class_v<MessageType> && !std::is_same_v<MessageType, Message> &&
           std::is_convertible_v<MessageType, Message>) MessageValue(const MessageType& message_of);
  // NOLINTEND(google-explicit-constructor)

  /// Messages are held by a pointer, never null, since they contain values themselves.
  using Held = std::variant<std::string, std::int64_t, std::shared_ptr<const Message>>;
  [[nodiscard]] const Held& held() const { return held_; }

 private:
  Held held_;
};

struct MessageArgument {
  std::string name;
  MessageValue value;
};

/// A catalog text with its arguments, or an English text.
struct Message {
  std::string id{};                          ///< catalog id or reason code; may be empty
  std::vector<MessageArgument> arguments{};  ///< for a catalog text
  std::string words{};                       ///< shown if the catalog does not have the id

  Message() = default;
  // Implicit on purpose: fail(place, "the value is not a number").
  Message(const char* english) : words(english) {}  // NOLINT(google-explicit-constructor)
  Message(std::string code, std::string english) : id(std::move(code)), words(std::move(english)) {}

  /// Output of another program or library.
  [[nodiscard]] static Message verbatim(std::string words);

  [[nodiscard]] bool empty() const { return id.empty() && words.empty(); }
};

inline MessageValue::MessageValue(Message message) : held_(std::make_shared<const Message>(std::move(message))) {}

template <class MessageType>
requires(std::is_class_v<MessageType> && !std::is_same_v<MessageType, Message> &&
         std::is_convertible_v<MessageType, Message>) MessageValue::MessageValue(const MessageType& message_of)
    : MessageValue(static_cast<Message>(message_of)) {}

Failure(const char*)->Failure<Message>;

/// The order of arguments does not matter.
[[nodiscard]] bool operator==(const Message&, const Message&);
[[nodiscard]] bool operator==(const MessageValue&, const MessageValue&);
[[nodiscard]] bool operator==(const MessageArgument&, const MessageArgument&);

/// Only for the generated types of msg::.
[[nodiscard]] Message catalog_message(std::string_view id, std::vector<MessageArgument> arguments);

[[nodiscard]] Message vmake_reason(std::string_view code, fmt::string_view format, fmt::format_args);

template <class... Args>
[[nodiscard]] Message make_message(fmt::format_string<Args...> format, Args&&... args) {
  return vmake_reason({}, format, fmt::make_format_args(args...));
}
/// Reason that is stored with a point: a code such as "refusal.head_dim" and an English text.
template <class... Args>
[[nodiscard]] Message make_reason(std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
  return vmake_reason(code, format, fmt::make_format_args(args...));
}
template <class... Args>
[[nodiscard]] std::string format_text(fmt::format_string<Args...> format, Args&&... args) {
  return text(vmake_reason({}, format, fmt::make_format_args(args...)));
}
/// Returns "232,448" for "232448".
[[nodiscard]] std::string group_digits(std::string number);
template <std::integral T>
[[nodiscard]] std::string grouped(T number) {
  return group_digits(fmt::format("{}", number));
}

/// Function that returns a message without arguments, as a constant for tables: message_of<msg::metric::dram_read>.
using MessageFunction = Message (*)();
template <class MessageType>
inline constexpr MessageFunction message_of = [] { return Message(MessageType{}); };

/// Texts by id. Placeholders are {name}, or {name:,} for integers with thousands separators; other braces are literal.
/// Arguments are inserted verbatim.
class Catalog {
 public:
  [[nodiscard]] static const Catalog& english();
  /// Parses {"law": {"misses": "..."}}. Missing texts are English; unknown ids are ignored. Empty if the JSON is
  /// malformed or a text has a placeholder that the English one lacks.
  [[nodiscard]] static std::optional<Catalog> parse(std::string_view json);

  /// The catalog's text if it has the id and the message has all arguments; else the message's own text; else its id
  /// and arguments.
  [[nodiscard]] std::string text(const Message&) const;
  /// Sorted ids, such as "refusal.head_dim".
  [[nodiscard]] std::vector<std::string_view> ids() const;

 private:
  friend std::string text(const Message&);

  Catalog() = default;
  static std::optional<Catalog> read(std::string_view json, const Catalog* fallback);
  using Texts = std::map<std::string, std::string, std::less<>>;
  [[nodiscard]] std::string text(const Message&, bool shortened) const;
  [[nodiscard]] const std::string* find(const Message&) const;

  Texts texts_;
};

/// Sets the language; default: English. Earlier catalogs stay in memory, because other threads may be reading them.
void set_catalog(Catalog);

std::ostream& operator<<(std::ostream&, const Message&);

}  // namespace attnscope

/// Formats messages and the types of msg:: as their English text.
template <class MessageType>
requires(std::is_class_v<MessageType>&&
             std::is_convertible_v<const MessageType&, attnscope::Message>) struct fmt::formatter<MessageType> {
  static constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  static auto format(const MessageType& message_of, fmt::format_context& context) {
    return std::ranges::copy(attnscope::english_text(message_of), context.out()).out;
  }
};
