// SPDX-License-Identifier: Apache-2.0
// What the program says to people: sentences by id, with named arguments, so that another language is another file. The
// English texts are assets/messages/en.json; of each the build makes a type of the same name, say::refusal::head_dim of
// "refusal.head_dim" (messages/refusal.h), whose members are the arguments: a wrong id, or an argument too few or too
// many, does not compile.
#pragma once

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

/// A number, a text (a name, a size with its unit, what a library said) or another message.
class MessageValue {
 public:
  // Implicit on purpose: say::refusal::head_dim{.d = p.d}.
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

/// One sentence: which one, and what it is about. Made of say::...; without an id it is words alone.
struct Message {
  std::string id{};                          ///< "refusal.head_dim"; empty: words alone, or nothing at all
  std::vector<MessageArgument> arguments{};  ///< in the order of the English text
  std::string words{};  ///< as a file has them: shown where the catalogue has no such id, or the arguments are others

  /// What another program, an older version or a library said: words that no catalogue has.
  [[nodiscard]] static Message verbatim(std::string words);

  /// Nothing is said.
  [[nodiscard]] bool empty() const { return id.empty() && words.empty(); }
};

inline MessageValue::MessageValue(Message message) : held_(std::make_shared<const Message>(std::move(message))) {}

template <class Said>
requires(std::is_class_v<Said> && !std::is_same_v<Said, Message> &&
         std::is_convertible_v<Said, Message>) MessageValue::MessageValue(const Said& said)
    : MessageValue(static_cast<Message>(said)) {}

/// Arguments in any order.
[[nodiscard]] bool operator==(const Message&, const Message&);
[[nodiscard]] bool operator==(const MessageValue&, const MessageValue&);
[[nodiscard]] bool operator==(const MessageArgument&, const MessageArgument&);

/// For the types of say:: alone.
[[nodiscard]] Message make_message(std::string_view id, std::vector<MessageArgument> arguments);

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
  /// A catalogue file's text: {"refusal": {"head_dim": "..."}}. What it does not have is said in English; ids that this
  /// version does not know are left out. The error says what is wrong with it and where.
  [[nodiscard]] static Result<Catalogue, Message> parse(std::string_view json);

  /// The sentence: of the catalogue where it has the id and the message every argument of it; else the message's own
  /// words; without any, what is known of it.
  [[nodiscard]] std::string text(const Message&) const;
  /// Whether text() is the catalogue's.
  [[nodiscard]] bool has(const Message&) const;
  /// "refusal.head_dim" and so on, in order.
  [[nodiscard]] std::vector<std::string_view> ids() const;

 private:
  friend std::string text(const Message&);

  Catalogue() = default;
  static Result<Catalogue, Message> read(std::string_view json, const Catalogue* fallback);
  using Texts = std::map<std::string, std::string, std::less<>>;
  [[nodiscard]] std::string text(const Message&, bool shortened) const;
  [[nodiscard]] const std::string* find(const Message&) const;

  Texts texts_;
};

/// What people are shown, in the language in use: an argument of more than 4,000 bytes is cut, with an ellipsis, and
/// characters that would control a terminal are left out.
[[nodiscard]] std::string text(const Message&);
/// What files and events hold beside id and arguments: English, whole.
[[nodiscard]] std::string english_text(const Message&);
/// The language in use from now on: once, before the first text() and any thread. English without it.
void use_catalogue(Catalogue);

/// text(), for streams.
std::ostream& operator<<(std::ostream&, const Message&);

/// The arguments as a JSON object: numbers, words, and messages as {"id": ..., "arguments": {...}}.
[[nodiscard]] std::string arguments_json(const Message&);
/// A message as a file or an event has it. Nothing in it is believed: arguments that are no such object are left out,
/// so that the words stand; the words go where the English text is the same.
[[nodiscard]] Message stored_message(std::string id, std::string_view arguments_json, std::string words);

}  // namespace attnscope
