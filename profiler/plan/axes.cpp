// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/model/parse.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

constexpr std::size_t max_axis_values = 4096;

/// Axes that set the whole tile and cannot be combined with each other.
constexpr std::string_view tile_name = "tile";
constexpr std::string_view memory_name = "M";
/// 4 MiB of 16-bit elements; more than any SM has.
constexpr std::int64_t max_memory_elements = std::int64_t{1} << 21;

bool sets_tile(std::string_view name) {
  return name == tile_name || name == memory_name;
}
bool sets_tile_side(std::string_view name) {
  const Field* field = find_field(name);
  return field != nullptr && field->role == FieldRole::tile;
}

// Parses "auto" (empty optional) or "128x64".
Result<std::optional<TileShape>, Message> parse_tile(std::string_view word) {
  if (word == "auto") return std::optional<TileShape>();
  constexpr int largest = 4096;
  const std::vector<std::string_view> sides = split_text(word, 'x');
  const TileShape tile{parse_number<int>(sides.front()).value_or(0), parse_number<int>(sides.back()).value_or(0)};
  if (sides.size() == 2 && tile.br > 0 && tile.bc > 0 && tile.br <= largest && tile.bc <= largest) {
    return std::optional(tile);
  }
  return Failure{make_message("invalid tile '{}'; expected auto or BrxBc, such as 128x64", word)};
}

constexpr int tile_nesting = 150;

const FieldPair* find_field_pair(std::string_view name) {
  const auto all = field_pairs();
  const auto found = std::ranges::find(all, name, &FieldPair::name);
  return found == all.end() ? nullptr : &*found;
}

AxisDef axis_of(const Field& field) {
  // The sweep request sets the cache state; the algorithm chooses knobs without an axis.
  const bool chosen_elsewhere = field.role == FieldRole::device_state || field.role == FieldRole::knob;
  const bool without_fallback = chosen_elsewhere || field_pair_of(field.name) != nullptr;
  return {.name = std::string(field.name),
          .fields = {field},
          .words = field.type != FieldType::integer,
          .smallest = field.smallest,
          .largest = field.largest,
          .fallback = without_fallback              ? std::string_view()
                      : field.sweep_default.empty() ? field.fallback
                                                    : field.sweep_default,
          .can_be_infeasible = field.can_be_infeasible,
          .nesting = field.nesting};
}

AxisDef axis_of(const FieldPair& wide) {
  const Field& first = *find_field(wide.first);
  return {.name = std::string(wide.name),
          .fields = {first, *find_field(wide.second)},
          .smallest = first.smallest,
          .largest = first.largest,
          .fallback = wide.fallback,
          .nesting = wide.nesting};
}

const AxisDef* find_axis_definition(std::span<const AxisDef> kinds, std::string_view name) {
  const auto found = std::ranges::find_if(
      kinds, [wanted = lower_case(name)](const AxisDef& kind) { return lower_case(kind.name) == wanted; });
  return found == kinds.end() ? nullptr : &*found;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> trimmed_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split_text(text, separator);
  std::ranges::transform(parts, parts.begin(), trim);
  return parts;
}

Result<std::int64_t, Message> parse_integer(std::string_view text) {
  if (const auto value = parse_number<std::int64_t>(text)) return *value;
  return Failure{make_message("'{}' is not an integer, or too large", shortened(text))};
}

// Returns why `value` is out of range or invalid; empty if it is valid.
Message out_of_range_error(const AxisDef& kind, std::int64_t value, const Registry& registry) {
  if (value < kind.smallest) return make_message("{} must be at least {}, not {}", kind.name, kind.smallest, value);
  if (value > kind.largest)
    return make_message("{} {} is too large; the maximum is {}", kind.name, value, kind.largest);
  return kind.rejection_reason(std::to_string(value), registry);
}

using Numbers = Result<std::vector<std::int64_t>, Message>;

Numbers parse_range(std::string_view text) {
  const auto parts = trimmed_parts(text, ':');
  if (parts.size() > 3) return Failure<Message>{"invalid range; expected [first:last] or [first:last:step]"};
  std::array<std::int64_t, 3> numbers{0, 0, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_integer(parts[i]);
    if (!number) return Failure<Message>{number.error()};
    numbers.at(i) = *number;
  }
  const auto [first, last, step] = numbers;
  if (step < 1) return Failure{make_message("the step must be at least 1, not {}", step)};
  if (first > last) {
    return Failure{make_message("reversed range: {} is greater than {} (put the smaller value first)", first, last)};
  }
  // Unsigned, because the distance of two 63-bit numbers may overflow.
  const std::uint64_t steps =
      (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) / static_cast<std::uint64_t>(step);
  if (steps >= max_axis_values) {  // checked before adding one: there may be 2^64 values
    const std::string count = steps == UINT64_MAX ? "2^64" : fmt::to_string(steps + 1);
    return Failure{
        make_message("the range has {} values; the maximum is {} (use a larger step)", count, max_axis_values)};
  }
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i <= steps; ++i) values.push_back(first + (static_cast<std::int64_t>(i) * step));
  return values;
}

Failure<Message> too_many_values(std::size_t values) {
  return Failure{make_message("{} values given; the maximum is {}", values, max_axis_values)};
}

Numbers parse_list(std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : trimmed_parts(text, ',')) {
    if (part.empty()) return Failure<Message>{"missing value"};
    const auto number = parse_integer(part);
    if (!number) return Failure<Message>{number.error()};
    values.push_back(*number);
  }
  if (values.size() > max_axis_values) return too_many_values(values.size());
  return values;
}

Numbers parse_exponents(std::string_view text) {
  // Two exponents are a range, as in "[8,14]"; three or more are a list.
  const bool pair = std::ranges::count(text, ',') == 1 && text.find(':') == std::string_view::npos;
  std::string range(text);
  if (pair) std::ranges::replace(range, ',', ':');
  Numbers numbers = range.find(':') != std::string::npos ? parse_range(range) : parse_list(text);
  if (!numbers) return numbers;
  for (std::int64_t& value : *numbers) {
    if (value < 0 || value > 62) {
      return Failure{make_message("2^{} is out of range; [pow2] takes exponents from 0 to 62", value)};
    }
    value = std::int64_t{1} << value;
  }
  return numbers;
}

Result<Axis, Message> parse_values(const AxisDef& kind, std::string_view modifier, std::string_view text,
                                   const Registry& registry) {
  Axis axis{.name = kind.name, .values = {}};
  if (kind.words) {
    if (!modifier.empty()) {
      return Failure{make_message("[{}] does not apply to {}, which is not numeric (remove it)", modifier, kind.name)};
    }
    for (const std::string_view word : trimmed_parts(text, ',')) {
      if (word.empty()) return Failure<Message>{"missing value"};
      if (Message wrong = kind.rejection_reason(word, registry); !wrong.empty())
        return Failure<Message>{std::move(wrong)};
      axis.values.emplace_back(word);
    }
    if (axis.values.size() > max_axis_values) return too_many_values(axis.values.size());
    return axis;
  }
  const Numbers numbers = modifier == "pow2"                         ? parse_exponents(text)
                          : text.find(':') != std::string_view::npos ? parse_range(text)
                                                                     : parse_list(text);
  if (!numbers) return Failure<Message>{numbers.error()};
  for (const std::int64_t value : *numbers) {
    if (Message wrong = out_of_range_error(kind, value, registry); !wrong.empty())
      return Failure<Message>{std::move(wrong)};
    axis.values.push_back(std::to_string(value));
  }
  return axis;
}

}  // namespace

Message AxisDef::rejection_reason(std::string_view value, const Registry& registry) const {
  if (sets == AxisTarget::memory) return {};
  if (sets == AxisTarget::tile) {
    const auto tile = parse_tile(value);
    return tile ? Message() : tile.error();
  }
  const Field& field = fields.front();
  if (field.role == FieldRole::device_state && std::ranges::count(field.words, value) == 0) {
    return make_message("{} '{}' cannot be set; expected {}", field.name, value, fmt::join(field.words, " or "));
  }
  if (field.role != FieldRole::algorithm) return value_error(field, value);
  if (registry.find(value) != nullptr) return {};
  std::vector<std::string> known;
  for (const Algorithm* algorithm : registry.algorithms()) known.push_back(algorithm->name());
  return make_message("unknown algorithm '{}'; available: {}", value, fmt::join(known, ", "));
}

void AxisDef::set(PartialPoint& draft, const std::string& value) const {
  if (sets == AxisTarget::memory) draft.m = std::stoll(value);
  if (sets == AxisTarget::tile) {
    const auto tile = *parse_tile(value);
    draft.auto_tile = !tile;
    draft.spec.tile = tile.value_or(TileShape{.br = 0, .bc = 0});
  }
  for (const Field& field : fields) {
    const auto set = set_field(field, draft.spec, value);
    if (!set) throw std::invalid_argument(english_text(set.error()));
    if (field.role == FieldRole::knob) draft.knobs.emplace(field.name);
  }
}

std::vector<AxisDef> axis_definitions(const Registry& registry) {
  std::vector<AxisDef> kinds;
  for (const FieldPair& wide : field_pairs()) kinds.push_back(axis_of(wide));
  for (const Field& field : fields_and_knobs(point_fields(), registry.knobs())) kinds.push_back(axis_of(field));
  kinds.push_back({.name = std::string(tile_name),
                   .sets = AxisDef::AxisTarget::tile,
                   .words = true,
                   .can_be_infeasible = true,
                   .nesting = tile_nesting});
  kinds.push_back({.name = std::string(memory_name),
                   .sets = AxisDef::AxisTarget::memory,
                   .smallest = 1,
                   .largest = max_memory_elements,
                   .can_be_infeasible = true,
                   .nesting = tile_nesting});
  std::ranges::stable_sort(kinds, {}, &AxisDef::nesting);
  return kinds;
}

bool axis_replaces(std::string_view name, std::string_view other) {
  if (name == other) return true;
  if (sets_tile(name)) return sets_tile(other) || sets_tile_side(other);
  // Setting br or bc does not override a whole-tile axis, except M.
  if (sets_tile_side(name)) return other == memory_name;
  const FieldPair* wide = find_field_pair(name);
  return wide != nullptr && wide->has(other);
}

Message axis_overlap(std::span<const Axis> axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const Axis& other : axes.subspan(i + 1)) {
      if (axes[i].name == other.name) {
        return make_message("axis {0} is given twice (use one list, such as {0}=[{1},{2}])", other.name,
                            axes[i].values.front(), other.values.back());
      }
      const bool wider = axis_replaces(axes[i].name, other.name);
      if (!wider && !axis_replaces(other.name, axes[i].name)) continue;
      const std::string& name = wider && !sets_tile_side(axes[i].name) ? axes[i].name : other.name;
      const FieldPair* wide = find_field_pair(name);
      return make_message("axes {} and {} overlap: {} sets both {} and {} (use one or the other)", axes[i].name,
                          other.name, name, wide != nullptr ? wide->first : "br",
                          wide != nullptr ? wide->second : "bc");
    }
  }
  return {};
}

std::vector<std::string> axis_help(const Registry& registry) {
  std::vector<std::string> lines{"N (or n_q and n_k): sequence length",
                                 "heads (or heads_q and heads_kv): attention heads",
                                 "tile (or br and bc): auto or BrxBc, such as 128x64",
                                 "M: on-chip memory per block in elements; sets the tile by the paper's rule"};
  for (const Field& field : point_fields()) {
    const bool listed_above = field.role == FieldRole::tile || field_pair_of(field.name) != nullptr;
    if (!listed_above) lines.push_back(fmt::format("{}: {}", field.name, text(field.help())));
  }
  for (const Knob& knob : registry.knobs()) {
    lines.push_back(fmt::format("{}: {}", knob.name,
                                !knob.words.empty() ? fmt::format("{}", fmt::join(knob.words, ", "))
                                : !knob.values.empty()
                                    ? fmt::format("0, {}", fmt::join(knob.values, ", "))
                                    : format_text("0 (chosen by the algorithm) to {}", knob.largest)));
  }
  return lines;
}

Result<Axis, Message> parse_axis(std::string_view text, const Registry& registry) {
  const auto fail = [&](Message why) -> Failure<Message> {
    return {make_message("axis '{}': {}", shortened(text), why)};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return fail("missing '=' (examples: N=1024, N=[1024,2048], N=[1024:4096:1024], N[pow2]=[8,14])");
  }
  std::string_view name = trim(text.substr(0, equals));
  std::string_view values = trim(text.substr(equals + 1));

  std::string_view modifier;
  if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
    if (name.back() != ']') return fail("missing ']' after the modifier");
    modifier = name.substr(bracket + 1, name.size() - bracket - 2);
    name = trim(name.substr(0, bracket));
    if (modifier != "pow2") return fail(make_message("unknown modifier '{}'; accepted: pow2", shortened(modifier)));
  }
  const std::vector<AxisDef> kinds = axis_definitions(registry);
  const AxisDef* kind = find_axis_definition(kinds, name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    names.reserve(kinds.size());
    for (const AxisDef& known : kinds) names.push_back(known.name);
    // long names are not candidates; bounds the edit-distance cost
    const auto near = closest_matches(name.substr(0, 100), names);
    if (!near.empty()) {
      return fail(make_message("unknown name '{}'; did you mean {}?", shortened(name), join_or(near)));
    }
    return fail(make_message("unknown name '{}'; accepted: {}", shortened(name), fmt::join(names, ", ")));
  }
  if (!values.empty() && values.front() == '[') {
    if (values.size() < 2 || values.back() != ']') return fail("missing closing ']'");
    values = trim(values.substr(1, values.size() - 2));
  }
  if (values.empty()) return fail("no values given");
  auto axis = parse_values(*kind, modifier, values, registry);
  return axis ? std::move(axis) : fail(axis.error());
}

}  // namespace attnscope
