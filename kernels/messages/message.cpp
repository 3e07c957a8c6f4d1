// SPDX-License-Identifier: Apache-2.0
#include "kernels/messages/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "messages/embedded.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_shown_bytes = 4000;  // bytes per argument

struct Placeholder {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< behind the closing brace
  std::string_view name;
  bool grouped = false;
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) {
  for (std::size_t open = text.find('{', from); open != std::string_view::npos; open = text.find('{', open + 1)) {
    std::size_t end = open + 1;
    while (end < text.size() && is_name_char(text[end])) ++end;
    Placeholder placeholder{.begin = open, .name = text.substr(open + 1, end - open - 1)};
    if (placeholder.name.empty()) continue;
    placeholder.grouped = text.substr(end).starts_with(":,");
    if (placeholder.grouped) end += 2;
    if (end >= text.size() || text[end] != '}') continue;
    placeholder.end = end + 1;
    return placeholder;
  }
  return std::nullopt;
}

std::set<std::string_view> placeholder_names(std::string_view text) {
  std::set<std::string_view> names;
  for (auto placeholder = next_placeholder(text, 0); placeholder;
       placeholder = next_placeholder(text, placeholder->end))
    names.insert(placeholder->name);
  return names;
}

const MessageValue* find_argument(const Message& message, std::string_view name) {
  const auto found = std::ranges::find(message.arguments, name, &MessageArgument::name);
  return found == message.arguments.end() ? nullptr : &found->value;
}

/// Cuts to `max_shown_bytes` bytes between characters and removes terminal control characters.
std::string sanitized(std::string text) {
  if (text.size() > max_shown_bytes) {
    std::size_t end = max_shown_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += "…";
  }
  std::erase_if(text, [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\n' && c != '\t') || code == 0x7F;
  });
  return text;
}

std::string fallback_text(const Message& message, const std::function<std::string(const MessageValue&)>& shown) {
  std::string text = message.id;
  for (const auto& [name, value] : message.arguments) text += fmt::format("; {}: {}", name, shown(value));
  return text;
}

std::atomic<const Catalog*>& current_catalog() {
  static std::atomic<const Catalog*> catalog = &Catalog::english();
  return catalog;
}

}  // namespace

Message Message::verbatim(std::string words) {
  return {{}, std::move(words)};
}

bool operator==(const Message& a, const Message& b) {
  return a.id == b.id && a.words == b.words && std::ranges::is_permutation(a.arguments, b.arguments);
}

bool operator==(const MessageValue& a, const MessageValue& b) {
  if (a.held().index() != b.held().index()) return false;
  if (const auto* number = std::get_if<std::int64_t>(&a.held())) return *number == std::get<std::int64_t>(b.held());
  if (const auto* words = std::get_if<std::string>(&a.held())) return *words == std::get<std::string>(b.held());
  return *std::get<std::shared_ptr<const Message>>(a.held()) == *std::get<std::shared_ptr<const Message>>(b.held());
}

bool operator==(const MessageArgument& a, const MessageArgument& b) {
  return a.name == b.name && a.value == b.value;
}

Message catalog_message(std::string_view id, std::vector<MessageArgument> arguments) {
  Message message;
  message.id = id;
  message.arguments = std::move(arguments);
  return message;
}

Message vmake_reason(std::string_view code, fmt::string_view format, fmt::format_args args) {
  return {std::string(code), fmt::vformat(format, args)};
}

std::string group_digits(std::string number) {
  const std::ptrdiff_t first = number.starts_with('-') ? 1 : 0;
  for (std::ptrdiff_t at = std::ssize(number) - 3; at > first; at -= 3) {
    number.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return number;
}

const Catalog& Catalog::english() {
  static const Catalog catalog = read(embedded_messages(), nullptr).value();
  return catalog;
}

std::optional<Catalog> Catalog::parse(std::string_view json) {
  return read(json, &english());
}

std::optional<Catalog> Catalog::read(std::string_view json, const Catalog* fallback) {
  Catalog catalog;
  if (fallback != nullptr) catalog.texts_ = fallback->texts_;
  const Json document = Json::parse(json, nullptr, false);
  if (!document.is_object()) return std::nullopt;
  for (const auto& [group, members] : document.items()) {
    if (!members.is_object()) return std::nullopt;
    for (const auto& [name, member] : members.items()) {
      if (!member.is_string()) return std::nullopt;
      std::string id = fmt::format("{}.{}", group, name);
      const auto text = member.get<std::string>();
      if (fallback != nullptr) {
        const auto known = catalog.texts_.find(id);
        if (known == catalog.texts_.end()) continue;
        if (!std::ranges::includes(placeholder_names(fallback->texts_.find(id)->second), placeholder_names(text)))
          return std::nullopt;
      }
      catalog.texts_.insert_or_assign(std::move(id), text);
    }
  }
  return catalog;
}

const std::string* Catalog::find(const Message& message) const {
  const auto found = texts_.find(message.id);
  if (message.id.empty() || found == texts_.end()) return nullptr;
  const std::string_view text = found->second;
  for (auto placeholder = next_placeholder(text, 0); placeholder;
       placeholder = next_placeholder(text, placeholder->end)) {
    if (find_argument(message, placeholder->name) == nullptr) return nullptr;
  }
  return &found->second;
}

std::string Catalog::text(const Message& message, bool shortened) const {
  const auto fit = [&](std::string words) { return shortened ? sanitized(std::move(words)) : words; };
  const auto shown = [&](const MessageValue& value, bool with_groups) {
    if (const auto* number = std::get_if<std::int64_t>(&value.held())) {
      return with_groups ? grouped(*number) : fmt::format("{}", *number);
    }
    if (const auto* words = std::get_if<std::string>(&value.held())) return fit(*words);
    return fit(this->text(*std::get<std::shared_ptr<const Message>>(value.held()), shortened));
  };
  const std::string* form = find(message);
  if (form == nullptr) {
    if (!message.words.empty()) return fit(message.words);
    return fit(fallback_text(message, [&](const MessageValue& value) { return shown(value, false); }));
  }
  std::string text;
  std::size_t done = 0;
  for (auto placeholder = next_placeholder(*form, 0); placeholder;
       placeholder = next_placeholder(*form, placeholder->end)) {
    text.append(*form, done, placeholder->begin - done);
    if (const MessageValue* value = find_argument(message, placeholder->name))
      text += shown(*value, placeholder->grouped);
    done = placeholder->end;
  }
  return text.append(*form, done);
}

std::string Catalog::text(const Message& message) const {
  return text(message, false);
}

std::vector<std::string_view> Catalog::ids() const {
  std::vector<std::string_view> ids;
  ids.reserve(texts_.size());
  for (const auto& [id, text] : texts_) ids.push_back(id);
  return ids;
}

std::string text(const Message& message) {
  return current_catalog().load()->text(message, true);
}

std::string english_text(const Message& message) {
  return Catalog::english().text(message);
}

void set_catalog(Catalog catalog) {
  static std::mutex mutex;
  static std::list<Catalog> kept;
  const std::scoped_lock lock(mutex);
  current_catalog() = &kept.emplace_back(std::move(catalog));
}

std::ostream& operator<<(std::ostream& out, const Message& message) {
  return out << text(message);
}

}  // namespace attnscope
