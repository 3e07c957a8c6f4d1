// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/model/parse.h"

namespace attnscope {
namespace {

bool is_default(const KnobValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number == 0 : std::get<std::string>(value).empty();
}

}  // namespace

std::string to_string(const KnobValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(value);
}

Knobs::Knobs(std::initializer_list<std::pair<std::string_view, KnobValue>> given) {
  for (const auto& [name, value] : given) set(name, value);
}

const KnobValue* Knobs::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::first);
  return found == entries_.end() ? nullptr : &found->second;
}

std::int64_t Knobs::number(std::string_view name) const {
  const KnobValue* value = find(name);
  const auto* number = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
  return number != nullptr ? *number : 0;
}

std::string_view Knobs::named_value(std::string_view name) const {
  const KnobValue* value = find(name);
  const auto* word = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return word != nullptr ? std::string_view(*word) : std::string_view();
}

void Knobs::set(std::string_view name, KnobValue value) {
  const auto place = std::ranges::lower_bound(entries_, name, {}, &Entry::first);
  const bool there = place != entries_.end() && place->first == name;
  if (is_default(value)) {
    if (there) entries_.erase(place);
  } else if (there) {
    place->second = std::move(value);
  } else {
    entries_.emplace(place, std::string(name), std::move(value));
  }
}

Result<std::optional<KnobValue>, Message> parse_knob(const Knob& knob, std::string_view text) {
  using Value = std::optional<KnobValue>;
  if (!knob.words.empty()) {
    if (text == knob.words.front()) return Value();
    if (std::ranges::find(knob.words, text) != knob.words.end()) return Value(std::string(text));
    return Failure{make_reason("refusal.knob_value", "unknown {} '{}'; accepted: {}.", knob.name, text,
                               fmt::join(knob.words, ", "))};
  }
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 0 || *number > knob.largest) {
    return Failure{make_reason("refusal.knob_value",
                               "{} must be an integer from 0 (the algorithm's choice) to {}, not '{}'.", knob.name,
                               knob.largest, text)};
  }
  return *number == 0 ? Value() : Value(*number);
}

std::string knob_text(const Knob& knob, const Knobs& given) {
  if (const KnobValue* value = given.find(knob.name)) return to_string(*value);
  return knob.words.empty() ? "0" : knob.words.front();
}

std::string describe(const TileShape& tile) {
  return fmt::format("{}x{}", tile.br, tile.bc);
}

std::string describe(const Knobs& knobs) {
  std::string text;
  for (const auto& [name, value] : knobs) {
    // Named values need no knob name.
    const bool number = std::holds_alternative<std::int64_t>(value);
    text += number ? fmt::format(" {} {}", name, to_string(value)) : fmt::format(" {}", to_string(value));
  }
  return text;
}

std::string describe(const Config& config) {
  return describe(config.tile) + describe(config.knobs);
}

}  // namespace attnscope
