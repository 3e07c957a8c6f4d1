// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"
#include "kernels/model/parse.h"
#include "messages/facet.h"
#include "messages/facet_help.h"
#include "messages/field.h"
#include "messages/field_help.h"
#include "messages/value.h"

namespace attnscope {
namespace {

using Set = Result<std::monostate, Message>;

Failure<Message> failure(Message why) {
  return Failure{std::move(why)};
}

template <class Member>
Result<Member, Message> parse_as(std::string_view text) {
  if constexpr (std::same_as<Member, Mask>) return parse_mask(text);
  if constexpr (std::same_as<Member, DType>) return parse_dtype(text);
  if constexpr (std::same_as<Member, Pass>) return parse_pass(text);
  if constexpr (std::same_as<Member, GpuOrder>) return parse_gpu_order(text);
  if constexpr (std::same_as<Member, CacheState>) return parse_cache_state(text);
  if constexpr (std::same_as<Member, std::string>) return std::string(text);
}

template <class Member>
constexpr FieldType field_type_of() {
  if constexpr (std::same_as<Member, bool>) return FieldType::flag;
  if constexpr (std::floating_point<Member>) return FieldType::real;
  if constexpr (std::integral<Member> && !std::same_as<Member, bool>) return FieldType::integer;
  return FieldType::word;
}

template <auto first, auto... inside>
auto& member_of(auto& object) {
  if constexpr (sizeof...(inside) == 0) return object.*first;
  if constexpr (sizeof...(inside) > 0) return member_of<inside...>(object.*first);
}

template <auto... path>
FieldValue get(const PointSpec& spec) {
  const auto& value = member_of<path...>(spec);
  using Member = std::remove_cvref_t<decltype(value)>;
  if constexpr (field_type_of<Member>() == FieldType::integer) {
    return std::int64_t{value};
  } else if constexpr (std::same_as<Member, std::string> || field_type_of<Member>() != FieldType::word) {
    return value;
  } else {
    return std::string(to_string(value));
  }
}

template <auto... path>
Set set(PointSpec& spec, const FieldValue& value) {
  auto& target = member_of<path...>(spec);
  using Member = std::remove_cvref_t<decltype(target)>;
  if constexpr (field_type_of<Member>() == FieldType::integer) {
    const std::int64_t number = std::get<std::int64_t>(value);
    if (!std::in_range<Member>(number)) return failure(make_message("{} is out of range.", number));
    target = static_cast<Member>(number);
  } else if constexpr (field_type_of<Member>() != FieldType::word) {
    target = std::get<Member>(value);
  } else {
    auto parsed = parse_as<Member>(std::get<std::string>(value));
    if (!parsed) return failure(parsed.error());
    target = std::move(parsed).value();
  }
  return std::monostate();
}

/// Sets a problem field only if invalid_reason() accepts the value alone.
template <auto... path>
Set set_valid(PointSpec& spec, const FieldValue& value) {
  PointSpec alone;
  if (Set done = set<path...>(alone, value); !done) return done;
  if (Message why = invalid_reason(alone.problem); !why.empty()) return failure(std::move(why));
  return set<path...>(spec, value);
}

/// Completes a table row: type, accessors for the member at `path`, and range check.
template <auto... path>
Field field(Field stated) {
  stated.type = field_type_of<std::remove_cvref_t<decltype(member_of<path...>(std::declval<PointSpec&>()))>>();
  if (stated.fallback.empty()) stated.shown = FieldVisibility::always;
  stated.get = get<path...>;
  if (!stated.set) {
    stated.set = [least = stated.least, below = stated.below](PointSpec& spec, const FieldValue& value) -> Set {
      const auto* real = std::get_if<double>(&value);
      const bool inside = real == nullptr || least == below || (*real >= least && *real < below);
      return inside ? set<path...>(spec, value) : failure(make_message("{} is out of range.", to_string(value)));
    };
  }
  stated.restore = [](PointSpec& spec, const FieldValue& value) { (void)set<path...>(spec, value); };
  return stated;
}

template <class Enum, std::size_t count>
std::vector<std::string> words_of(const std::array<Enum, count>& all) {
  std::vector<std::string> words;
  words.reserve(count);
  for (const Enum each : all) words.emplace_back(to_string(each));
  return words;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> words;
  words.reserve(std::size(dtype_traits));
  for (const DTypeTrait& trait : dtype_traits) words.emplace_back(trait.word);
  return words;
}

/// Simple masks first.
double mask_order(const PointSpec& spec) {
  const Mask& mask = spec.problem.mask;
  return mask == Mask::none ? 0 : mask == Mask::causal ? 1 : mask.has_block_mask() ? 4 : mask.padded() ? 3 : 2;
}

constexpr std::int64_t max_heads = 1 << 20;
constexpr std::int64_t max_keys = 1 << 24;
constexpr std::int64_t most_rows = 4096;  // rows per tile
constexpr OfferedRange lengths{.least = 1, .most = 1 << 20, .step = 16};
constexpr OfferedRange counts{.least = 1, .most = 1024};
constexpr OfferedRange head_dims{.least = 16, .most = 256, .step = 16, .multiples = true};
constexpr OfferedRange tile_sides{.least = 16, .most = 512, .step = 16, .multiples = true};

constexpr auto problem = &PointSpec::problem;
constexpr auto tile = &PointSpec::tile;

// One row per field, then its attributes; clang-format would split each row into many lines.
// clang-format off
const auto& fields() {
  static const std::array table{
      field<&PointSpec::algorithm>({.name = field_name::algorithm, .label = message_of<msg::field::algorithm>, .help = message_of<msg::field_help::algorithm>, .meaning = message_of<msg::facet_help::algorithm>,
          .role = FieldRole::algorithm, .accepts_other_words = true, .nesting = 130}),
      field<problem, &AttentionProblem::pass>({.name = "pass", .label = message_of<msg::field::pass>, .help = message_of<msg::field_help::pass>, .meaning = message_of<msg::facet_help::pass>,
          .fallback = "fwd", .words = words_of(std::array{Pass::fwd, Pass::bwd, Pass::fwd_bwd}), .can_be_infeasible = true, .nesting = 20, .shown = FieldVisibility::in_tables,
          .in_title = [](std::string_view text) { return Message::verbatim(std::string(text)); }}),
      field<problem, &AttentionProblem::dtype>({.name = "dtype", .label = message_of<msg::field::dtype>, .help = message_of<msg::field_help::dtype>, .meaning = message_of<msg::facet_help::dtype>,
          .role = FieldRole::precision, .fallback = "fp16", .words = dtype_names(), .nesting = 10, .shown = FieldVisibility::always, .heading = "type"}),
      field<problem, &AttentionProblem::batch>({.name = "batch", .label = message_of<msg::field::batch>, .help = message_of<msg::field_help::batch>,
          .fallback = "1", .smallest = 1, .largest = max_heads, .offered = counts, .nesting = 80, .shown = FieldVisibility::always}),
      field<problem, &AttentionProblem::heads_q>({.name = "heads_q", .label = message_of<msg::field::heads_q>, .help = message_of<msg::field_help::heads_q>,
          .smallest = 1, .largest = max_heads, .offered = counts, .nesting = 95, .first_in_editors = true}),
      field<problem, &AttentionProblem::heads_kv>({.name = "heads_kv", .label = message_of<msg::field::heads_kv>, .help = message_of<msg::field_help::heads_kv>,
          .smallest = 1, .largest = max_heads, .offered = counts, .nesting = 96, .follows = "heads_q", .optional_in_imports = true}),
      field<problem, &AttentionProblem::n_q>({.name = field_name::n_q, .label = message_of<msg::field::n_q>, .help = message_of<msg::field_help::n_q>,
          .smallest = 1, .largest = max_keys, .offered = lengths, .nesting = 115, .follows = field_name::n_k}),
      field<problem, &AttentionProblem::n_k>({.name = field_name::n_k, .label = message_of<msg::field::n_k>, .help = message_of<msg::field_help::n_k>, .meaning = message_of<msg::facet_help::n_k>,
          .smallest = 1, .largest = max_keys, .offered = lengths, .nesting = 116, .first_in_editors = true}),
      field<problem, &AttentionProblem::d>({.name = field_name::d, .label = message_of<msg::field::d>, .help = message_of<msg::field_help::d>, .meaning = message_of<msg::facet_help::d>,
          .sweep_default = "64", .smallest = 1, .largest = 4096, .supported_values = [](const Facts& facts) -> const std::vector<int>& { return facts.head_dims; },
          .offered = head_dims, .can_be_infeasible = true, .nesting = 70, .first_in_editors = true, .stem = "d"}),
      field<problem, &AttentionProblem::mask>({.name = "mask", .label = message_of<msg::field::mask>, .help = message_of<msg::field_help::mask>, .meaning = message_of<msg::facet_help::mask>,
          .fallback = "full", .words = {"full", "causal", "window:1024:0", "window:256:256", "lengths:ramp", "causal+lengths:ramp", "blocks:128:butterfly", "blocks:128:stride4", "blocks:256:random25"},
          .accepts_other_words = true, .can_be_infeasible = true, .nesting = 30, .shown = FieldVisibility::always, .first_in_editors = true,
          .brief = [](const PointSpec& s) { return mask_text(s.problem.mask); }, .order = mask_order}),
      field<tile, &TileShape::br>({.name = "br", .label = message_of<msg::field::br>, .help = message_of<msg::field_help::br>,
          .role = FieldRole::tile, .smallest = 1, .largest = most_rows, .supported_values = [](const Facts& facts) -> const std::vector<int>& { return facts.br; },
          .offered = tile_sides, .can_be_infeasible = true, .nesting = 160}),
      field<tile, &TileShape::bc>({.name = "bc", .label = message_of<msg::field::bc>, .help = message_of<msg::field_help::bc>,
          .role = FieldRole::tile, .smallest = 1, .largest = most_rows, .supported_values = [](const Facts& facts) -> const std::vector<int>& { return facts.bc; },
          .offered = tile_sides, .can_be_infeasible = true, .nesting = 155}),
      field<&PointSpec::cache>({.name = "cache", .label = message_of<msg::field::cache>, .help = message_of<msg::field_help::cache>, .meaning = message_of<msg::facet_help::cache>,
          .role = FieldRole::device_state, .fallback = "cold", .words = words_of(std::array{CacheState::cold, CacheState::warm}), .nesting = 170, .shown = FieldVisibility::in_details,
          .in_title = [](std::string_view text) { return text == to_string(CacheState::unknown) ? Message(msg::value::l2_state_unknown{}) : Message(msg::value::l2_state{.state = text}); }}),
      field<problem, &AttentionProblem::dropout>({.name = "dropout", .label = message_of<msg::field::dropout>, .help = message_of<msg::field_help::dropout>, .meaning = message_of<msg::facet_help::dropout>,
          .fallback = "0", .below = 1, .can_be_infeasible = true, .nesting = 40, .stem = "dropout", .set = set_valid<problem, &AttentionProblem::dropout>}),
      field<problem, &AttentionProblem::page>({.name = "page", .label = message_of<msg::field::page>, .help = message_of<msg::field_help::page>, .meaning = message_of<msg::facet_help::page>,
          .fallback = "0", .largest = max_keys, .can_be_infeasible = true, .nesting = 50, .stem = "page",
          .brief = [](const PointSpec& s) { return s.problem.page == 0 ? "contiguous" : std::to_string(s.problem.page); }, .set = set_valid<problem, &AttentionProblem::page>}),
      field<problem, &AttentionProblem::deterministic>({.name = "deterministic", .label = message_of<msg::field::deterministic>, .help = message_of<msg::field_help::deterministic>, .meaning = message_of<msg::facet_help::deterministic>,
          .fallback = "no", .can_be_infeasible = true, .nesting = 60}),
      field<problem, &AttentionProblem::gpus>({.name = "gpus", .label = message_of<msg::field::gpus>, .help = message_of<msg::field_help::gpus>, .meaning = message_of<msg::facet_help::gpus>,
          .fallback = "1", .smallest = 1, .largest = max_gpus, .offered = {.least = 1, .most = 8}, .can_be_infeasible = true, .nesting = 62, .stem = "gpus"}),
      field<problem, &AttentionProblem::gpu_order>({.name = "gpu_order", .label = message_of<msg::field::gpu_order>, .help = message_of<msg::field_help::gpu_order>, .meaning = message_of<msg::facet_help::gpu_order>,
          .fallback = "contiguous", .words = words_of(gpu_orders), .can_be_infeasible = true, .nesting = 61}),
  };
  return table;
}
// clang-format on

FieldValue value_of(const KnobValue& value) {
  return std::visit([](const auto& held) { return FieldValue(held); }, value);
}

/// " dropout 0.1 deterministic": the if_set fields that are set.
std::string set_fields_text(const PointSpec& spec) {
  std::string text;
  for (const Field& field : fields()) {
    if (field.shown != FieldVisibility::if_set || is_fallback(field, spec)) continue;
    const FieldValue value = field.get(spec);
    const bool on = field.type == FieldType::flag && std::get<bool>(value);
    text += on ? fmt::format(" {}", field.name) : fmt::format(" {} {}", field.name, to_string(value));
  }
  return text;
}

}  // namespace

std::string_view to_string(CacheState value) {
  constexpr std::array<std::string_view, 3> words{"cold", "warm", "unknown"};
  return words.at(static_cast<std::size_t>(value));
}

std::string_view brief_text(CacheState value) {
  return value == CacheState::unknown ? "L2 unknown" : to_string(value);
}

Result<CacheState, Message> parse_cache_state(std::string_view text) {
  for (const CacheState value : {CacheState::cold, CacheState::warm, CacheState::unknown}) {
    if (text == to_string(value)) return value;
  }
  return Failure{make_message("invalid cache state '{}'; expected cold or warm", text)};
}

std::span<const Field> point_fields() {
  return fields();
}

const Field* find_field(std::string_view name) {
  const auto* found = std::ranges::find(fields(), name, &Field::name);
  return found == fields().end() ? nullptr : found;
}

Field knob_field(const Knob& knob) {
  constexpr int nesting = 140;  // before the tile, which depends on the knobs
  const auto set = [&knob](PointSpec& spec, const FieldValue& value) -> Set {
    const auto read = parse_knob(knob, to_string(value));
    if (!read) return failure(read.error());
    spec.knobs.set(knob.name, read->value_or(std::int64_t{0}));
    return std::monostate();
  };
  return {.name = knob.name,
          .label = [&knob] { return knob.label; },
          .help = [&knob] { return knob.meaning; },
          .role = FieldRole::knob,
          .type = knob.words.empty() ? FieldType::integer : FieldType::word,
          .fallback = knob.words.empty() ? "0" : std::string_view(knob.words.front()),
          .largest = knob.largest,
          .words = knob.words,
          .can_be_infeasible = knob.words.empty(),
          .nesting = nesting,
          .stem = knob.name,
          .get = [&knob](const PointSpec& spec) -> FieldValue {
            if (const KnobValue* given = spec.knobs.find(knob.name)) return value_of(*given);
            return knob.words.empty() ? FieldValue(std::int64_t{0}) : FieldValue(knob.words.front());
          },
          .set = set,
          .restore = [set](PointSpec& spec, const FieldValue& value) { (void)set(spec, value); }};
}

Field undeclared_knob_field(std::string_view name) {
  return {.name = name,
          .label = [name] { return Message::verbatim(std::string(name)); },
          .role = FieldRole::knob,
          .accepts_other_words = true,
          .get = [name](const PointSpec& spec) -> FieldValue {
            const KnobValue* given = spec.knobs.find(name);
            return given != nullptr ? value_of(*given) : FieldValue(std::string());
          }};
}

std::vector<Field> fields_and_knobs(std::span<const Field> fields, std::span<const Knob> knobs) {
  std::vector<Field> all(fields.begin(), fields.end());
  std::ranges::transform(knobs, std::back_inserter(all), knob_field);
  return all;
}

const Field& FieldPair::leader() const {
  const Field& one = *find_field(first);
  return one.follows.empty() ? one : *find_field(one.follows);
}

bool FieldPair::are_equal_in(const PointSpec& spec) const {
  return find_field(first)->get(spec) == find_field(second)->get(spec);
}

std::span<const FieldPair> field_pairs() {
  static constexpr std::array table{
      FieldPair{.name = field_name::n,
                .first = field_name::n_q,
                .second = field_name::n_k,
                .fallback = "1024",
                .nesting = 110,
                .label = message_of<msg::facet::n>,
                .help = message_of<msg::field_help::n>},
      FieldPair{.name = "heads", .first = "heads_q", .second = "heads_kv", .fallback = "16", .nesting = 90}};
  return table;
}

const FieldPair* field_pair_of(std::string_view field) {
  const auto all = field_pairs();
  const auto found = std::ranges::find_if(all, [&](const FieldPair& wide) { return wide.has(field); });
  return found == all.end() ? nullptr : &*found;
}

Result<FieldValue, Message> parse_field(const Field& field, std::string_view text) {
  switch (field.type) {
    case FieldType::integer:
      if (const auto number = parse_number<std::int64_t>(text)) return FieldValue(*number);
      return failure(msg::value::not_integer{.field = field.name, .word = text});
    case FieldType::real: {
      const auto number = parse_number<double>(text);
      if (number && std::isfinite(*number)) return FieldValue(*number);
      if (number) return failure(msg::value::not_finite{.field = field.name, .word = text});
      return failure(msg::value::not_number{.field = field.name, .word = text});
    }
    case FieldType::flag:
      for (const std::string_view yes : {"yes", "true", "True", "1"}) {
        if (text == yes) return FieldValue(true);
      }
      for (const std::string_view no : {"no", "false", "False", "0"}) {
        if (text == no) return FieldValue(false);
      }
      return failure(msg::value::not_boolean{.word = text});
    case FieldType::word:
      return FieldValue(std::string(text));
  }
  throw std::logic_error("unknown field type");
}

Set set_field(const Field& field, PointSpec& spec, std::string_view text) {
  auto value = parse_field(field, text);
  return value ? field.set(spec, *value) : Set(failure(value.error()));
}

Message value_error(const Field& field, std::string_view text) {
  PointSpec trial;
  const Set set = set_field(field, trial, text);
  return set ? Message() : set.error();
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

std::string short_text(const Field& field, const PointSpec& spec) {
  if (field.brief != nullptr) return field.brief(spec);
  std::string text = field_text(field, spec);
  if (field.role != FieldRole::knob) return text;
  if (field.type == FieldType::integer && text == field.fallback) return std::string(auto_value);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string mask_text(const Mask& mask) {
  constexpr std::size_t longest_list = 4;
  const std::vector<std::int64_t>& lengths = mask.length_list;
  if (lengths.size() <= longest_list) return to_string(mask);
  // Long length lists would widen every control; count and sum still distinguish two lists.
  const std::string shortened =
      fmt::format("lengths:{}/{}/…/{} ({} lengths, {} keys)", lengths[0], lengths[1], lengths.back(), lengths.size(),
                  std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
  Mask shown = mask;
  shown.length_list = {1};
  std::string text = to_string(shown);
  constexpr std::string_view placeholder = "lengths:1";
  return text.replace(text.find(placeholder), placeholder.size(), shortened);
}

bool is_fallback(const Field& field, const PointSpec& spec) {
  return field_text(field, spec) == field.fallback;
}

std::string describe(const PointSpec& spec) {
  return fmt::format("{} {}{}{}{}{}", spec.algorithm, describe_shape(spec.problem), set_fields_text(spec),
                     spec.tile.br > 0 ? fmt::format(" tile {}", describe(spec.tile)) : "", describe(spec.knobs),
                     spec.cache == CacheState::cold ? "" : fmt::format(" {}", brief_text(spec.cache)));
}

std::string canonical_text(const PointSpec& spec) {
  std::string text;
  const auto append = [&](std::string_view part) { text += fmt::format("{}{}", text.empty() ? "" : " ", part); };
  // This text is hashed: it selects the problems excluded from fits and enters plan hashes. Keep the spelling and the
  // order of the first knobs.
  constexpr std::array always{"algorithm", "dtype", "pass", "mask", "batch", "heads_q",
                              "heads_kv",  "n_q",   "n_k",  "d",    "br",    "bc"};
  for (const std::string_view name : always) {
    append(name == "mask" && spec.problem.mask == Mask::none ? "none" : field_text(*find_field(name), spec));
  }
  append(knob_text(raster_knob(), spec.knobs));
  append(field_text(*find_field("cache"), spec));
  text += set_fields_text(spec);
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

}  // namespace attnscope
