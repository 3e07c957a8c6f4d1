// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

#include "messages/axis.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

constexpr std::size_t max_axis_values = 4096;

/// Set the whole tile, so that one of them stands alone.
constexpr std::string_view tile_name = "tile";
constexpr std::string_view memory_name = "M";
/// More than any SM has: 4 MiB of 16-bit elements.
constexpr std::int64_t most_memory = std::int64_t{1} << 21;

bool sets_tile(std::string_view name) {
  return name == tile_name || name == memory_name;
}
bool sets_extent(std::string_view name) {
  return name == "br" || name == "bc";
}

// "auto", or both extents: "128x64".
Result<std::optional<TileShape>, Message> parse_tile(std::string_view word) {
  if (word == "auto") return std::optional<TileShape>();
  constexpr int largest = 4096;
  TileShape tile;
  const char* const last = word.data() + word.size();
  const auto rows = std::from_chars(word.data(), last, tile.br);
  if (rows.ec == std::errc() && rows.ptr != last && *rows.ptr == 'x') {
    const auto columns = std::from_chars(rows.ptr + 1, last, tile.bc);
    const bool whole = columns.ec == std::errc() && columns.ptr == last;
    if (whole && tile.br > 0 && tile.bc > 0 && tile.br <= largest && tile.bc <= largest) return std::optional(tile);
  }
  return Failure<Message>{say::axis::tile{.word = word}};
}

// Axes that stand for two fields, which refine them.
struct WideAxis {
  std::string_view name;
  std::string_view first;
  std::string_view second;
  std::string_view fallback;
  int nesting;
};
constexpr std::array wide_axes{WideAxis{"heads", "heads_q", "heads_kv", "16", 90},
                               WideAxis{"N", "n_q", "n_k", "1024", 110}};
constexpr int knob_nesting = 140;
constexpr int tile_nesting = 150;

const WideAxis* find_wide(std::string_view name) {
  const auto* found = std::ranges::find(wide_axes, name, &WideAxis::name);
  return found == wide_axes.end() ? nullptr : found;
}

/// Of a value that wrong() let through.
void set_checked(const Field& field, PointSpec& spec, const std::string& text) {
  if (const auto set = set_field(field, spec, text); !set) throw std::invalid_argument(english_text(set.error()));
}

AxisKind field_axis(const Field& field, const Registry& registry) {
  AxisKind kind{.name = std::string(field.name),
                .words = field.type != FieldType::integer,
                .smallest = field.smallest,
                .largest = field.largest,
                .fallback = std::string(field.sweep_default.empty() ? field.fallback : field.sweep_default),
                .refusable = field.refusable,
                .nesting = field.nesting};
  if (field.name == "algorithm") {
    kind.wrong = [&registry](std::string_view word) -> Message {
      if (registry.find(word) != nullptr) return {};
      std::vector<std::string> known;
      for (const Algorithm* algorithm : registry.algorithms()) known.push_back(algorithm->name());
      return say::axis::unknown_algorithm{.algorithm = word, .accepted = fmt::format("{}", fmt::join(known, ", "))};
    };
  } else {
    kind.wrong = [&field](std::string_view word) -> Message {
      PointSpec trial;
      const auto set = set_field(field, trial, word);
      return set ? Message() : set.error();
    };
  }
  const bool br = field.name == "br";
  const bool bc = field.name == "bc";
  const bool cache = field.name == "cache";
  if (cache) kind.fallback.clear();  // the sweep's request says
  kind.set = [&field, br, bc, cache](Draft& draft, const std::string& text) {
    set_checked(field, draft.spec, text);
    draft.br = draft.br || br;
    draft.bc = draft.bc || bc;
    draft.cache = draft.cache || cache;
  };
  return kind;
}

AxisKind wide_axis(const WideAxis& wide) {
  const Field& first = *find_field(wide.first);
  const Field& second = *find_field(wide.second);
  return {.name = std::string(wide.name),
          .smallest = first.smallest,
          .largest = first.largest,
          .fallback = std::string(wide.fallback),
          .nesting = wide.nesting,
          .wrong = [](std::string_view) { return Message(); },
          .set =
              [&first, &second](Draft& draft, const std::string& text) {
                set_checked(first, draft.spec, text);
                set_checked(second, draft.spec, text);
              }};
}

AxisKind tile_axis() {
  return {.name = std::string(tile_name),
          .words = true,
          .refusable = true,
          .nesting = tile_nesting,
          .wrong =
              [](std::string_view word) {
                const auto tile = parse_tile(word);
                return tile ? Message() : tile.error();
              },
          .set =
              [](Draft& draft, const std::string& text) {
                const auto tile = *parse_tile(text);
                draft.auto_tile = !tile;
                draft.br = draft.bc = tile.has_value();
                if (tile) draft.spec.tile = *tile;
              }};
}

AxisKind memory_axis() {
  return {.name = std::string(memory_name),
          .smallest = 1,
          .largest = most_memory,
          .refusable = true,
          .nesting = tile_nesting,
          .wrong = [](std::string_view) { return Message(); },
          .set = [](Draft& draft, const std::string& text) { draft.m = std::stoll(text); }};
}

AxisKind knob_axis(const Knob& knob) {
  return {.name = knob.name,
          .words = !knob.words.empty(),
          .largest = knob.largest,
          .refusable = knob.words.empty(),
          .nesting = knob_nesting,
          .wrong =
              [&knob](std::string_view word) {
                const auto value = parse_knob(knob, word);
                return value ? Message() : value.error();
              },
          .set = [&knob](Draft& draft, const std::string& text) { draft.knobs[knob.name] = *parse_knob(knob, text); }};
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const AxisKind* find_kind(std::span<const AxisKind> kinds, std::string_view name) {
  const auto found =
      std::ranges::find_if(kinds, [&](const AxisKind& kind) { return equal_ignoring_case(kind.name, name); });
  return found == kinds.end() ? nullptr : &*found;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator, start)) {
    parts.push_back(trim(text.substr(start, end - start)));
    start = end + 1;
  }
  parts.push_back(trim(text.substr(start)));
  return parts;
}

// What is wrong with an axis. How axes are written helps only where that is the mistake.
struct Wrong {
  Message why;
  bool syntax = false;
};
Failure<Wrong> miswritten(Message why) {
  return {Wrong{.why = std::move(why), .syntax = true}};
}
Failure<Wrong> unusable(Message why) {
  return {Wrong{.why = std::move(why), .syntax = false}};
}

/// What a message quotes of what the user wrote.
MessageValue shortened(std::string_view text) {
  constexpr std::size_t longest = 60;
  constexpr std::size_t kept = 40;
  if (text.size() <= longest) return text;
  return say::axis::shortened{.beginning = text.substr(0, kept), .characters = text.size()};
}

Result<std::int64_t, Wrong> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return unusable(say::axis::far_too_large{.number = shortened(text)});
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return miswritten(say::axis::no_whole_number{.word = shortened(text)});
  }
  return value;
}

// Why `value` cannot stand on the axis; empty when it can.
Message range_error(const AxisKind& kind, std::int64_t value) {
  if (value < kind.smallest) return say::axis::below{.axis = kind.name, .least = kind.smallest, .value = value};
  if (value > kind.largest) return say::axis::above{.axis = kind.name, .value = value, .most = kind.largest};
  return kind.wrong(std::to_string(value));
}

using Numbers = Result<std::vector<std::int64_t>, Wrong>;

Numbers parse_range(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) return miswritten(say::axis::range_form{});
  std::array<std::int64_t, 3> numbers{0, 0, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_integer(parts[i]);
    if (!number) return Failure<Wrong>{number.error()};
    numbers.at(i) = *number;
  }
  const auto [first, last, step] = numbers;
  if (step < 1) return unusable(say::axis::step{.step = step});
  if (first > last) {
    return unusable(say::axis::reversed{.first = first, .last = last});
  }
  // Unsigned: the distance between two 63-bit numbers may not fit in one.
  const std::uint64_t steps =
      (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) / static_cast<std::uint64_t>(step);
  if (steps >= max_axis_values) {  // before one is added: there may be 2^64 values
    const std::string count = steps == UINT64_MAX ? "2^64" : fmt::to_string(steps + 1);
    return unusable(say::axis::long_range{.values = count, .most = max_axis_values});
  }
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i <= steps; ++i) values.push_back(first + (static_cast<std::int64_t>(i) * step));
  return values;
}

Failure<Wrong> too_many(std::size_t values) {
  return unusable(say::axis::many_values{.values = values, .most = max_axis_values});
}

Numbers parse_list(std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) return miswritten(say::axis::value_missing{});
    const auto number = parse_integer(part);
    if (!number) return Failure<Wrong>{number.error()};
    values.push_back(*number);
  }
  if (values.size() > max_axis_values) return too_many(values.size());
  return values;
}

Numbers parse_exponents(std::string_view text) {
  // Two exponents mean everything between them, as in "[8,14]"; three or more are a list.
  const bool pair = std::ranges::count(text, ',') == 1 && text.find(':') == std::string_view::npos;
  std::string range(text);
  if (pair) std::ranges::replace(range, ',', ':');
  Numbers numbers = range.find(':') != std::string::npos ? parse_range(range) : parse_list(text);
  if (!numbers) return numbers;
  for (std::int64_t& value : *numbers) {
    if (value < 0 || value > 62) {
      return unusable(say::axis::exponent{.exponent = value});
    }
    value = std::int64_t{1} << value;
  }
  return numbers;
}

Result<Axis, Wrong> parse_values(const AxisKind& kind, std::string_view modifier, std::string_view text) {
  Axis axis{.name = kind.name, .values = {}};
  if (kind.words) {
    if (!modifier.empty()) {
      return unusable(say::axis::modifier_of_words{.modifier = modifier, .axis = kind.name});
    }
    for (const std::string_view word : split(text, ',')) {
      if (word.empty()) return miswritten(say::axis::value_missing{});
      if (Message wrong = kind.wrong(word); !wrong.empty()) return unusable(std::move(wrong));
      axis.values.emplace_back(word);
    }
    if (axis.values.size() > max_axis_values) return too_many(axis.values.size());
    return axis;
  }
  const Numbers numbers = modifier == "pow2"                         ? parse_exponents(text)
                          : text.find(':') != std::string_view::npos ? parse_range(text)
                                                                     : parse_list(text);
  if (!numbers) return Failure<Wrong>{numbers.error()};
  for (const std::int64_t value : *numbers) {
    if (Message wrong = range_error(kind, value); !wrong.empty()) return unusable(std::move(wrong));
    axis.values.push_back(std::to_string(value));
  }
  return axis;
}

}  // namespace

std::vector<AxisKind> axis_kinds(const Registry& registry) {
  std::vector<AxisKind> kinds;
  kinds.reserve(wide_axes.size() + point_fields().size() + registry.knobs().size() + 2);
  for (const WideAxis& wide : wide_axes) kinds.push_back(wide_axis(wide));
  for (const Field& field : point_fields()) kinds.push_back(field_axis(field, registry));
  for (const Knob& knob : registry.knobs()) kinds.push_back(knob_axis(knob));
  kinds.push_back(tile_axis());
  kinds.push_back(memory_axis());
  std::ranges::stable_sort(kinds, {}, &AxisKind::nesting);
  // Fields that a wide axis sets have its fallback.
  for (const WideAxis& wide : wide_axes) {
    for (AxisKind& kind : kinds) {
      if (kind.name == wide.first || kind.name == wide.second) kind.fallback.clear();
    }
  }
  return kinds;
}

bool axis_replaces(std::string_view name, std::string_view other) {
  if (name == other) return true;
  if (sets_tile(name)) return sets_tile(other) || sets_extent(other);
  // A part of the tile refines none that a rule makes whole.
  if (sets_extent(name)) return other == memory_name;
  const WideAxis* wide = find_wide(name);
  return wide != nullptr && (other == wide->first || other == wide->second);
}

Message axis_overlap(std::span<const Axis> axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const Axis& other : axes.subspan(i + 1)) {
      if (axes[i].name == other.name) {
        return say::axis::twice{.axis = other.name, .first = axes[i].values.front(), .last = other.values.back()};
      }
      const bool wider = axis_replaces(axes[i].name, other.name);
      if (!wider && !axis_replaces(other.name, axes[i].name)) continue;
      const std::string& name = wider && !sets_extent(axes[i].name) ? axes[i].name : other.name;
      const WideAxis* wide = find_wide(name);
      return say::axis::overlap{.one = axes[i].name,
                                .other = other.name,
                                .wide = name,
                                .first = wide != nullptr ? wide->first : "br",
                                .second = wide != nullptr ? wide->second : "bc"};
    }
  }
  return {};
}

std::string axis_help(const Registry& registry) {
  std::string help = text(say::axis::wide_help{});
  constexpr std::array<std::string_view, 6> said{"n_q", "n_k", "heads_q", "heads_kv", "br", "bc"};
  for (const Field& field : point_fields()) {
    if (std::ranges::find(said, field.name) == said.end())
      help += fmt::format("; {}: {}", field.name, text(field.help()));
  }
  for (const Knob& knob : registry.knobs()) {
    help += fmt::format("; {}: {}", knob.name,
                        knob.words.empty() ? text(say::axis::knob_help{.largest = knob.largest})
                                           : fmt::format("{}", fmt::join(knob.words, ", ")));
  }
  return help;
}

Result<Axis, Message> parse_axis(std::string_view text, const Registry& registry) {
  const auto fail = [&](Message why, bool syntax = true) -> Failure<Message> {
    if (syntax) return {say::axis::miswritten{.axis = shortened(text), .why = std::move(why)}};
    return {say::axis::wrong{.axis = shortened(text), .why = std::move(why)}};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail(say::axis::no_equals{});
  std::string_view name = trim(text.substr(0, equals));
  std::string_view values = trim(text.substr(equals + 1));

  std::string_view modifier;
  if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
    if (name.back() != ']') return fail(say::axis::modifier_open{});
    modifier = name.substr(bracket + 1, name.size() - bracket - 2);
    name = trim(name.substr(0, bracket));
    if (modifier != "pow2") return fail(say::axis::unknown_modifier{.modifier = shortened(modifier)});
  }
  const std::vector<AxisKind> kinds = axis_kinds(registry);
  const AxisKind* kind = find_kind(kinds, name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    names.reserve(kinds.size());
    for (const AxisKind& known : kinds) names.push_back(known.name);
    const auto near = near_matches(name.substr(0, 100), names);  // of what no axis is called, its edits take long
    if (!near.empty()) {
      return fail(say::axis::unknown_name_near{.name = shortened(name), .near = join_or(near)}, false);
    }
    return fail(say::axis::unknown_name{.name = shortened(name), .accepted = fmt::format("{}", fmt::join(names, ", "))},
                false);
  }
  if (!values.empty() && values.front() == '[') {
    if (values.size() < 2 || values.back() != ']') return fail(say::axis::open_list{});
    values = trim(values.substr(1, values.size() - 2));
  }
  if (values.empty()) return fail(say::axis::no_values{});
  auto axis = parse_values(*kind, modifier, values);
  if (!axis) return fail(axis.error().why, axis.error().syntax);
  return std::move(axis).value();
}

}  // namespace attnscope
