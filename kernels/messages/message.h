// SPDX-License-Identifier: Apache-2.0
// Messages to the user. Labels, tooltips and sentences about results are in the catalogue: the English texts are
// assets/messages/en.json, and the build makes a type of each, say::law::misses of "law.misses" (messages/law.h),
// whose members are the arguments. Errors and lines of the terminal are English literals: make_message(),
// make_reason().
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

/// What people are shown, in the language in use: at most 4,000 bytes of an argument or of words without a catalogue's
/// text, without characters that control a terminal.
[[nodiscard]] std::string text(const Message&);
/// In English, whole: for files, events and exceptions.
[[nodiscard]] std::string english_text(const Message&);

/// A number, a text (a name, a size with its unit, what a library said) or another message.
class MessageValue {
 public:
  // Implicit on purpose: say::law::misses{.n = p.n_k}.
  // NOLINTBEGIN(google-explicit-constructor)
  MessageValue(std::string text) : held_(std::move(text)) {}
  MessageValue(std::string_view text) : held_(std::string(text)) {}
  MessageValue(const char* text) : held_(std::string(text)) {}
  template <std::integral T>
  requires(!std::is_same_v<T, bool> && !std::is_same_v<T, char>) MessageValue(T number)
      : held_(static_cast<std::int64_t>(number)) {}
  MessageValue(Message message);
  template <class Said>
  requires(std::is_class_v<Said> && !std::is_same_v<Said, Message> && std::is_convertible_v<Said, Message>)
      MessageValue(const Said& said);
  // NOLINTEND(google-explicit-constructor)

  /// A message is behind a pointer, never null, for it holds values itself.
  using Held = std::variant<std::string, std::int64_t, std::shared_ptr<const Message>>;
  [[nodiscard]] const Held& held() const { return held_; }

 private:
  Held held_;
};

struct MessageArgument {
  std::string name;
  MessageValue value;
};

/// A text of the catalogue with its arguments, or an English text.
struct Message {
  std::string id{};                          ///< of the catalogue, or the code of a reason; may be empty
  std::vector<MessageArgument> arguments{};  ///< of a text of the catalogue
  std::string words{};                       ///< shown where the catalogue has no such id

  Message() = default;
  // Implicit on purpose: fail(place, "the value is not a number").
  Message(const char* english) : words(english) {}  // NOLINT(google-explicit-constructor)
  Message(std::string code, std::string english) : id(std::move(code)), words(std::move(english)) {}

  /// The words of another program or of a library.
  [[nodiscard]] static Message verbatim(std::string words);

  /// Nothing is said.
  [[nodiscard]] bool empty() const { return id.empty() && words.empty(); }
};

inline MessageValue::MessageValue(Message message) : held_(std::make_shared<const Message>(std::move(message))) {}

template <class Said>
requires(std::is_class_v<Said> && !std::is_same_v<Said, Message> &&
         std::is_convertible_v<Said, Message>) MessageValue::MessageValue(const Said& said)
    : MessageValue(static_cast<Message>(said)) {}

Failure(const char*)->Failure<Message>;

/// Arguments in any order.
[[nodiscard]] bool operator==(const Message&, const Message&);
[[nodiscard]] bool operator==(const MessageValue&, const MessageValue&);
[[nodiscard]] bool operator==(const MessageArgument&, const MessageArgument&);

/// For the types of say:: alone.
[[nodiscard]] Message catalogue_message(std::string_view id, std::vector<MessageArgument> arguments);

[[nodiscard]] Message vmake_reason(std::string_view code, fmt::string_view format, fmt::format_args);

/// An English message; arguments may be messages.
template <class... Args>
[[nodiscard]] Message make_message(fmt::format_string<Args...> format, Args&&... args) {
  return vmake_reason({}, format, fmt::make_format_args(args...));
}
/// A reason that a point may be stored with: its code, "refusal.head_dim", and its English text.
template <class... Args>
[[nodiscard]] Message make_reason(std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
  return vmake_reason(code, format, fmt::make_format_args(args...));
}
/// text(make_message())
template <class... Args>
[[nodiscard]] std::string format_text(fmt::format_string<Args...> format, Args&&... args) {
  return text(vmake_reason({}, format, fmt::make_format_args(args...)));
}
/// "232448" as "232,448".
[[nodiscard]] std::string group_digits(std::string number);
template <std::integral T>
[[nodiscard]] std::string grouped(T number) {
  return group_digits(fmt::format("{}", number));
}

/// A sentence without arguments as tables hold it, which may then be constants: said<say::metric::dram_read>.
using Saying = Message (*)();
template <class Said>
inline constexpr Saying said = [] { return Message(Said{}); };

/// Texts by id. A text's places are {name}, or {name:,} where a whole number has its thousands grouped; any other brace
/// is itself. Arguments are put in as they are, whatever they hold: nothing in them is a place.
class Catalogue {
 public:
  /// The texts that are built in.
  [[nodiscard]] static const Catalogue& english();
  /// Texts as JSON: {"law": {"misses": "..."}}. Those that it lacks are the English ones; unknown ids are ignored.
  /// Nothing where it is no such JSON, or a text has a place that the English one has not.
  [[nodiscard]] static std::optional<Catalogue> parse(std::string_view json);

  /// The sentence: of the catalogue where it has the id and the message every argument of it; else the message's own
  /// words; without any, what is known of it.
  [[nodiscard]] std::string text(const Message&) const;
  /// "refusal.head_dim" and so on, in order.
  [[nodiscard]] std::vector<std::string_view> ids() const;

 private:
  friend std::string text(const Message&);

  Catalogue() = default;
  static std::optional<Catalogue> read(std::string_view json, const Catalogue* fallback);
  using Texts = std::map<std::string, std::string, std::less<>>;
  [[nodiscard]] std::string text(const Message&, bool shortened) const;
  [[nodiscard]] const std::string* find(const Message&) const;

  Texts texts_;
};

/// The language in use from now on: once, before the first text() and any thread. English without it.
void use_catalogue(Catalogue);

/// text(), for streams.
std::ostream& operator<<(std::ostream&, const Message&);

}  // namespace attnscope

/// Messages and the types of say:: as arguments of fmt: their English text.
template <class Said>
requires(std::is_class_v<Said>&& std::is_convertible_v<const Said&, attnscope::Message>) struct fmt::formatter<Said> {
  static constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  static auto format(const Said& said, fmt::format_context& context) {
    return std::ranges::copy(attnscope::english_text(said), context.out()).out;
  }
};
