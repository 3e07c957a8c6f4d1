// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/common_knobs.h"

namespace attnscope {
namespace {

using Set = Result<std::monostate, std::string>;

Failure<std::string> wrong(std::string why) {
  return Failure{std::move(why)};
}

Result<Mask, std::string> word_of(std::string_view text, const Mask& /*like*/) {
  return parse_mask(text);
}
Result<DType, std::string> word_of(std::string_view text, const DType& /*like*/) {
  return parse_dtype(text);
}
Result<Pass, std::string> word_of(std::string_view text, const Pass& /*like*/) {
  return parse_pass(text);
}
Result<CacheState, std::string> word_of(std::string_view text, const CacheState& /*like*/) {
  return parse_cache_state(text);
}
Result<std::string, std::string> word_of(std::string_view text, const std::string& /*like*/) {
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
    if (!std::in_range<Member>(number)) return wrong(fmt::format("{} is out of range.", number));
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
  if (const Message why = invalid_reason(alone.problem); !why.empty()) return wrong(text(why));
  return set<member>(spec, value);
}

/// Where the member is, and what a set value has to pass.
template <auto member>
Field field(Field stated) {
  stated.type = type_of<std::remove_cvref_t<decltype(member(std::declval<PointSpec&>()))>>();
  stated.get = get<member>;
  if (stated.set == nullptr) stated.set = set<member>;
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
    field<algorithm>({.name = "algorithm", .label = "Algorithm", .help = "a name that `attnscope kernels` lists", .nesting = 130}),
    field<pass>({.name = "pass", .label = "Pass", .help = "fwd, bwd or fwd+bwd", .fallback = "fwd", .refusable = true, .nesting = 20}),
    field<dtype>({.name = "dtype", .label = "Type", .help = "element type: fp16, bf16", .fallback = "fp16", .nesting = 10}),
    field<batch>({.name = "batch", .label = "Batch", .help = "batch entries", .fallback = "1", .smallest = 1, .largest = most_heads, .nesting = 80}),
    field<heads_q>({.name = "heads_q", .label = "Query heads", .help = "query heads of a batch entry", .smallest = 1, .largest = most_heads, .nesting = 95}),
    field<heads_kv>({.name = "heads_kv", .label = "K/V heads", .help = "K/V heads of a batch entry, a divisor of heads_q", .smallest = 1, .largest = most_heads, .nesting = 96}),
    field<n_q>({.name = "n_q", .label = "n_q", .help = "query rows", .smallest = 1, .largest = most_keys, .nesting = 115}),
    field<n_k>({.name = "n_k", .label = "n_k", .help = "keys", .smallest = 1, .largest = most_keys, .nesting = 116}),
    field<d>({.name = "d", .label = "d", .help = "head dimension", .sweep_default = "64", .smallest = 1, .largest = 4096, .refusable = true, .nesting = 70}),
    field<mask>({.name = "mask", .label = "Mask", .help = "full, causal, window:LEFT:RIGHT, lengths:..., blocks:..., joined by '+'", .fallback = "none", .refusable = true, .nesting = 30}),
    field<br>({.name = "br", .label = "Br", .help = "query rows of a tile", .smallest = 1, .largest = most_rows, .refusable = true, .nesting = 160}),
    field<bc>({.name = "bc", .label = "Bc", .help = "key rows of a tile", .smallest = 1, .largest = most_rows, .refusable = true, .nesting = 155}),
    field<cache>({.name = "cache", .label = "Start", .help = "state of the L2 when a launch begins: cold, warm", .fallback = "cold", .nesting = 170}),
    field<dropout>({.name = "dropout", .label = "Dropout", .help = "probability from 0 to below 1, rounded to 1/256", .since = 2, .fallback = "0", .refusable = true, .nesting = 40, .set = set_valid<dropout>}),
    field<page>({.name = "page", .label = "Page", .help = "keys of a page of a paged K/V cache, 0: contiguous", .since = 2, .fallback = "0", .largest = most_keys, .refusable = true, .nesting = 50, .set = set_valid<page>}),
    field<deterministic>({.name = "deterministic", .label = "Deterministic", .help = "gradients repeat bitwise: no, yes", .since = 2, .fallback = "no", .refusable = true, .nesting = 60}),
#ifdef ATTNSCOPE_TEST_FIELD
    field<test_field>({.name = "test_field", .label = "Test field", .help = "of the tests alone", .since = 5, .fallback = "7", .smallest = 0, .largest = 99, .nesting = 65}),
#endif
};
// clang-format on

}  // namespace

std::span<const Field> point_fields() {
  return fields;
}

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

Result<FieldValue, std::string> parse_field(const Field& field, std::string_view text) {
  const auto number = [&](auto value) -> Result<FieldValue, std::string> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) {
      if constexpr (std::floating_point<decltype(value)>) {
        if (!std::isfinite(value)) return wrong(fmt::format("{} '{}' is not finite.", field.name, text));
      }
      return FieldValue(value);
    }
    return wrong(fmt::format("{} '{}' is not a {}.", field.name, text,
                             std::floating_point<decltype(value)> ? "number" : "whole number"));
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
      return wrong(fmt::format("'{}' is neither yes nor no", text));
    case FieldType::word:
      return FieldValue(std::string(text));
  }
  return wrong("no such type of field");
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

std::string identity_text(const PointSpec& spec) {
  std::string text;
  const auto append = [&](std::string_view part) { text += fmt::format("{}{}", text.empty() ? "" : " ", part); };
  // Frozen: what runs of version 0.1 were known by. Knobs that were columns then keep their places.
  constexpr std::array always{"algorithm", "dtype", "pass", "mask", "batch", "heads_q",
                              "heads_kv",  "n_q",   "n_k",  "d",    "br",    "bc"};
  for (const std::string_view name : always) append(field_text(*find_field(name), spec));
  append(knob_text(raster_knob(), spec.knobs));
  append(field_text(*find_field("cache"), spec));
  for (const Field& field : fields) {
    if (field.since == 1 || is_fallback(field, spec)) continue;
    append(field.type == FieldType::flag ? std::string(field.name)
                                         : fmt::format("{} {}", field.name, field_text(field, spec)));
  }
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
