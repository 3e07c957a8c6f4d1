// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernels/common_knobs.h"
#include "messages/field.h"
#include "messages/field_help.h"
#include "messages/value.h"

namespace attnscope {
namespace {

using Set = Result<std::monostate, Message>;

Failure<Message> wrong(Message why) {
  return Failure{std::move(why)};
}

Result<Mask, Message> word_of(std::string_view text, const Mask& /*like*/) {
  return parse_mask(text);
}
Result<DType, Message> word_of(std::string_view text, const DType& /*like*/) {
  return parse_dtype(text);
}
Result<Pass, Message> word_of(std::string_view text, const Pass& /*like*/) {
  return parse_pass(text);
}
Result<CacheState, Message> word_of(std::string_view text, const CacheState& /*like*/) {
  return parse_cache_state(text);
}
Result<std::string, Message> word_of(std::string_view text, const std::string& /*like*/) {
  return std::string(text);
}

template <class Member>
constexpr FieldType type_of() {
  if constexpr (std::same_as<Member, bool>) return FieldType::flag;
  if constexpr (std::floating_point<Member>) return FieldType::real;
  if constexpr (std::integral<Member> && !std::same_as<Member, bool>) return FieldType::integer;
  return FieldType::word;
}

/// `member` is a lambda that gives the member of a point, by reference.
template <auto member>
FieldValue get(const PointSpec& spec) {
  const auto& value = member(spec);
  using Member = std::remove_cvref_t<decltype(value)>;
  if constexpr (type_of<Member>() == FieldType::integer) {
    return std::int64_t{value};
  } else if constexpr (std::same_as<Member, std::string> || type_of<Member>() != FieldType::word) {
    return value;
  } else {
    return std::string(to_string(value));
  }
}

template <auto member>
Set set(PointSpec& spec, const FieldValue& value) {
  auto& target = member(spec);
  using Member = std::remove_cvref_t<decltype(target)>;
  if constexpr (type_of<Member>() == FieldType::integer) {
    const std::int64_t number = std::get<std::int64_t>(value);
    if (!std::in_range<Member>(number)) return wrong(say::value::out_of_range{.value = number});
    target = static_cast<Member>(number);
  } else if constexpr (type_of<Member>() != FieldType::word) {
    target = std::get<Member>(value);
  } else {
    auto parsed = word_of(std::get<std::string>(value), target);
    if (!parsed) return wrong(parsed.error());
    target = std::move(parsed).value();
  }
  return std::monostate();
}

/// What a point may have, whatever else it has: what invalid_reason() says of this member alone.
template <auto member>
Set set_valid(PointSpec& spec, const FieldValue& value) {
  PointSpec alone;
  if (Set done = set<member>(alone, value); !done) return done;
  if (Message why = invalid_reason(alone.problem); !why.empty()) return wrong(std::move(why));
  return set<member>(spec, value);
}

/// Where the member is, and what a set value has to pass.
template <auto member>
Field field(Field stated) {
  stated.type = type_of<std::remove_cvref_t<decltype(member(std::declval<PointSpec&>()))>>();
  stated.get = get<member>;
  if (stated.set == nullptr) stated.set = set<member>;
  stated.restore = [](PointSpec& spec, const FieldValue& value) { (void)set<member>(spec, value); };
  return stated;
}

constexpr std::int64_t most_heads = 1 << 20;
constexpr std::int64_t most_keys = 1 << 24;
constexpr std::int64_t most_rows = 4096;  // of a tile

// One line a field; clang-format would make five of each.
// clang-format off
constexpr auto algorithm = [](auto& s) -> auto& { return s.algorithm; };
constexpr auto dtype = [](auto& s) -> auto& { return s.problem.dtype; };
constexpr auto pass = [](auto& s) -> auto& { return s.problem.pass; };
constexpr auto mask = [](auto& s) -> auto& { return s.problem.mask; };
constexpr auto batch = [](auto& s) -> auto& { return s.problem.batch; };
constexpr auto heads_q = [](auto& s) -> auto& { return s.problem.heads_q; };
constexpr auto heads_kv = [](auto& s) -> auto& { return s.problem.heads_kv; };
constexpr auto n_q = [](auto& s) -> auto& { return s.problem.n_q; };
constexpr auto n_k = [](auto& s) -> auto& { return s.problem.n_k; };
constexpr auto d = [](auto& s) -> auto& { return s.problem.d; };
constexpr auto dropout = [](auto& s) -> auto& { return s.problem.dropout; };
constexpr auto page = [](auto& s) -> auto& { return s.problem.page; };
constexpr auto deterministic = [](auto& s) -> auto& { return s.problem.deterministic; };
constexpr auto br = [](auto& s) -> auto& { return s.tile.br; };
constexpr auto bc = [](auto& s) -> auto& { return s.tile.bc; };
constexpr auto cache = [](auto& s) -> auto& { return s.cache; };
#ifdef ATTNSCOPE_TEST_FIELD
constexpr auto test_field = [](auto& s) -> auto& { return s.test_field; };
#endif

const std::array fields{
    field<algorithm>({.name = "algorithm", .label = said<say::field::algorithm>, .help = said<say::field_help::algorithm>, .nesting = 130}),
    field<pass>({.name = "pass", .label = said<say::field::pass>, .help = said<say::field_help::pass>, .fallback = "fwd", .refusable = true, .nesting = 20}),
    field<dtype>({.name = "dtype", .label = said<say::field::dtype>, .help = said<say::field_help::dtype>, .fallback = "fp16", .nesting = 10}),
    field<batch>({.name = "batch", .label = said<say::field::batch>, .help = said<say::field_help::batch>, .fallback = "1", .smallest = 1, .largest = most_heads, .nesting = 80}),
    field<heads_q>({.name = "heads_q", .label = said<say::field::heads_q>, .help = said<say::field_help::heads_q>, .smallest = 1, .largest = most_heads, .nesting = 95}),
    field<heads_kv>({.name = "heads_kv", .label = said<say::field::heads_kv>, .help = said<say::field_help::heads_kv>, .smallest = 1, .largest = most_heads, .nesting = 96}),
    field<n_q>({.name = "n_q", .label = said<say::field::n_q>, .help = said<say::field_help::n_q>, .smallest = 1, .largest = most_keys, .nesting = 115}),
    field<n_k>({.name = "n_k", .label = said<say::field::n_k>, .help = said<say::field_help::n_k>, .smallest = 1, .largest = most_keys, .nesting = 116}),
    field<d>({.name = "d", .label = said<say::field::d>, .help = said<say::field_help::d>, .sweep_default = "64", .smallest = 1, .largest = 4096, .refusable = true, .nesting = 70}),
    field<mask>({.name = "mask", .label = said<say::field::mask>, .help = said<say::field_help::mask>, .fallback = "none", .refusable = true, .nesting = 30}),
    field<br>({.name = "br", .label = said<say::field::br>, .help = said<say::field_help::br>, .smallest = 1, .largest = most_rows, .refusable = true, .nesting = 160}),
    field<bc>({.name = "bc", .label = said<say::field::bc>, .help = said<say::field_help::bc>, .smallest = 1, .largest = most_rows, .refusable = true, .nesting = 155}),
    field<cache>({.name = "cache", .label = said<say::field::cache>, .help = said<say::field_help::cache>, .fallback = "cold", .nesting = 170}),
    field<dropout>({.name = "dropout", .label = said<say::field::dropout>, .help = said<say::field_help::dropout>, .since = 2, .fallback = "0", .refusable = true, .nesting = 40, .set = set_valid<dropout>}),
    field<page>({.name = "page", .label = said<say::field::page>, .help = said<say::field_help::page>, .since = 2, .fallback = "0", .largest = most_keys, .refusable = true, .nesting = 50, .set = set_valid<page>}),
    field<deterministic>({.name = "deterministic", .label = said<say::field::deterministic>, .help = said<say::field_help::deterministic>, .since = 2, .fallback = "no", .refusable = true, .nesting = 60}),
#ifdef ATTNSCOPE_TEST_FIELD
    field<test_field>({.name = "test_field", .label = [] { return Message::verbatim("Test field"); }, .help = [] { return Message::verbatim("of the tests alone"); }, .since = 6, .fallback = "7", .smallest = 0, .largest = 99, .nesting = 65}),
#endif
};
// clang-format on

/// " dropout 0.1 deterministic": what came after schema 1 and is not the fallback.
std::string later_fields(const PointSpec& spec, std::span<const Field> known) {
  std::string text;
  for (const Field& field : known) {
    if (field.since == 1 || is_fallback(field, spec)) continue;
    const FieldValue value = field.get(spec);
    const bool on = field.type == FieldType::flag && std::get<bool>(value);
    text += on ? fmt::format(" {}", field.name) : fmt::format(" {} {}", field.name, to_string(value));
  }
  return text;
}

}  // namespace

std::span<const Field> point_fields() {
  return fields;
}

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

Result<FieldValue, Message> parse_field(const Field& field, std::string_view text) {
  const auto number = [&](auto value) -> Result<FieldValue, Message> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) {
      if constexpr (std::floating_point<decltype(value)>) {
        if (!std::isfinite(value)) return wrong(say::value::not_finite{.field = field.name, .word = text});
      }
      return FieldValue(value);
    }
    if constexpr (std::floating_point<decltype(value)>) {
      return wrong(say::value::no_number{.field = field.name, .word = text});
    } else {
      return wrong(say::value::no_whole_number{.field = field.name, .word = text});
    }
  };
  switch (field.type) {
    case FieldType::integer:
      return number(std::int64_t{});
    case FieldType::real:
      return number(double{});
    case FieldType::flag:
      for (const std::string_view yes : {"yes", "true", "True", "1"}) {
        if (text == yes) return FieldValue(true);
      }
      for (const std::string_view no : {"no", "false", "False", "0"}) {
        if (text == no) return FieldValue(false);
      }
      return wrong(say::value::neither_yes_nor_no{.word = text});
    case FieldType::word:
      return FieldValue(std::string(text));
  }
  throw std::logic_error("no such type of field");
}

Set set_field(const Field& field, PointSpec& spec, std::string_view text) {
  auto value = parse_field(field, text);
  return value ? field.set(spec, *value) : Set(wrong(value.error()));
}

std::string to_string(const FieldValue& value) {
  struct Writer {
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    std::string operator()(const std::string& word) const { return word; }
  };
  return std::visit(Writer{}, value);
}

std::string field_text(const Field& field, const PointSpec& spec) {
  return to_string(field.get(spec));
}

bool is_fallback(const Field& field, const PointSpec& spec) {
  return field_text(field, spec) == field.fallback;
}

std::string describe(const PointSpec& spec, std::span<const Field> known) {
  return fmt::format("{} {}{}{}{}{}", spec.algorithm, describe_shape(spec.problem), later_fields(spec, known),
                     spec.tile.br > 0 ? fmt::format(" tile {}", describe(spec.tile)) : "", describe(spec.knobs),
                     spec.cache == CacheState::warm ? " warm" : "");
}

std::string identity_text(const PointSpec& spec) {
  std::string text;
  const auto append = [&](std::string_view part) { text += fmt::format("{}{}", text.empty() ? "" : " ", part); };
  // Frozen: what runs of version 0.1 were known by. Knobs that were columns then keep their places.
  constexpr std::array always{"algorithm", "dtype", "pass", "mask", "batch", "heads_q",
                              "heads_kv",  "n_q",   "n_k",  "d",    "br",    "bc"};
  for (const std::string_view name : always) append(field_text(*find_field(name), spec));
  append(knob_text(raster_knob(), spec.knobs));
  append(field_text(*find_field("cache"), spec));
  text += later_fields(spec, fields);
  constexpr std::array old_knobs{knob::splits, knob::warps, knob::stages};
  for (const std::string_view name : old_knobs) {
    if (const KnobValue* value = spec.knobs.find(name)) append(fmt::format("{} {}", name, to_string(*value)));
  }
  for (const auto& [name, value] : spec.knobs) {
    if (name == knob::raster || std::ranges::find(old_knobs, name) != old_knobs.end()) continue;
    append(fmt::format("{} {}", name, to_string(value)));
  }
  return text;
}

int newest_field_schema() {
  return std::ranges::max(fields, {}, &Field::since).since;
}

}  // namespace attnscope
