// SPDX-License-Identifier: Apache-2.0
// The fields of a point, stated once. Axes, events, columns in files, exports and tables, import, choices, queries,
// editors, the plan's hash and describe() are derived from this table: a new field is one line in fields.cpp (and its
// member). A knob of an algorithm is read as a field as well, so that who goes through both has one case.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/knobs.h"
#include "kernels/model/result.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

struct Facts;

/// In the order of FieldType.
using FieldValue = std::variant<std::int64_t, double, bool, std::string>;
enum class FieldType { integer, real, flag, word };

/// What of a point a field says.
enum class FieldRole {
  algorithm,
  problem,
  precision,     ///< the numbers that the problem is computed with
  tile,          ///< a side of it; below `smallest` where an imported point does not say
  circumstance,  ///< the device's state when a launch begins; commands have an option of their own for it
  knob,          ///< what only some algorithms can be told
};

/// Where people are told the value.
enum class FieldShown {
  always,      ///< in titles, tables and details
  in_tables,   ///< in tables and details, and in titles that which is not the fallback
  in_details,  ///< in details, and elsewhere what is not the fallback
  where_set,   ///< what is not the fallback
};

/// What a slider offers of whole numbers, and how far a click goes.
struct OfferedRange {
  int least = 0;
  int most = 0;  ///< 0: the field's whole range
  int step = 1;
  bool multiples = false;  ///< every step; else round numbers
};

struct Field {
  std::string_view name;                  ///< axis, event, column: "n_q"
  std::function<Message()> label = {};    ///< for people: "K/V heads"
  std::function<Message()> help = {};     ///< what it is and what it takes, one sentence
  std::function<Message()> meaning = {};  ///< the same for those who look at points; none: as `help` has it
  FieldRole role = FieldRole::problem;
  FieldType type = FieldType::integer;
  /// What goes without saying, as parse_field() reads it; empty where a point has to say.
  std::string_view fallback = {};
  /// What a sweep takes where no axis says, if that is not the fallback.
  std::string_view sweep_default = {};
  /// Whole numbers: what an axis takes.
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  /// Real numbers: from `least` on, `below` itself not. Any where both are equal.
  double least = 0;
  double below = 0;
  /// All words that it takes, in their order; where it takes others as well, those that editors begin with.
  std::vector<std::string> words = {};
  bool other_words = false;
  /// The whole numbers that an algorithm is written for; all where there are none.
  const std::vector<int>& (*written_for)(const Facts&) = nullptr;
  OfferedRange offered = {};
  /// A kernel may lack a value of it altogether.
  bool refusable = false;
  /// The place in the nesting of a sweep, outermost first: what changes the inputs comes before what only changes the
  /// kernel, so that neighbouring points share their buffers.
  int nesting = 0;
  /// The field that it is equal to until it is set apart.
  std::string_view follows = {};
  /// An imported file may leave it out, and has it as the field that it follows.
  bool may_be_left_out = false;
  /// Of fields that views read as one ("1 × 16") their names; of a field of a point none.
  std::vector<std::string_view> parts = {};

  FieldShown shown = FieldShown::where_set;  ///< always, where there is no fallback
  bool first_in_editors = false;             ///< among what is not of the tile
  std::string_view heading = {};             ///< what tables and queries call it beside its name
  std::string_view stem = {};                ///< before a number in file names: "d128"; empty: "NAME-"
  /// What people read where there is little room, if that is not field_text().
  std::string (*brief)(const PointSpec&) = nullptr;
  /// What words are sorted by, where that is not their place in `words`.
  double (*order)(const PointSpec&) = nullptr;
  /// What a title says of a value that is not the fallback; none: "dropout 0.1".
  Message (*in_title)(std::string_view text) = nullptr;

  std::function<FieldValue(const PointSpec&)> get = {};
  /// The error is one sentence; the point is left as it was. The value is of the field's type.
  std::function<Result<std::monostate, Message>(PointSpec&, const FieldValue&)> set = {};
  /// Gives a point back what get() said of it: nothing is judged again.
  std::function<void(PointSpec&, const FieldValue&)> restore = {};

  [[nodiscard]] bool is_number() const { return type == FieldType::integer || type == FieldType::real; }
};

/// What planners ask for by name.
namespace field_name {
inline constexpr std::string_view algorithm = "algorithm";
inline constexpr std::string_view n = "N";  ///< n_q and n_k
inline constexpr std::string_view n_q = "n_q";
inline constexpr std::string_view n_k = "n_k";
inline constexpr std::string_view d = "d";
}  // namespace field_name

/// In the order of columns.
[[nodiscard]] std::span<const Field> point_fields();
/// nullptr for an unknown name.
[[nodiscard]] const Field* find_field(std::string_view name);

/// A knob as a field: where a point was given none, "0" or the first word. The knob has to outlive it.
[[nodiscard]] Field knob_field(const Knob&);
/// A knob that no algorithm states, to be read alone: a number or a word, and empty where a point has none. The name
/// has to outlive it.
[[nodiscard]] Field foreign_knob_field(std::string_view name);
/// The fields of a point, then the knobs that a registry's algorithms state.
[[nodiscard]] std::vector<Field> fields_and_knobs(std::span<const Field>, std::span<const Knob>);

/// A name for two fields that are mostly equal: one axis, and one column of other programs' files.
struct WideField {
  std::string_view name;  ///< "N"
  std::string_view first;
  std::string_view second;
  std::string_view fallback;  ///< of a sweep
  int nesting = 0;            ///< as Field's
  /// What the one that the other follows is called while they are equal; none: as always.
  Saying label = nullptr;
  Saying help = nullptr;

  [[nodiscard]] bool has(std::string_view field) const { return field == first || field == second; }
  /// The one that the other follows.
  [[nodiscard]] const Field& leader() const;
  [[nodiscard]] bool equal_in(const PointSpec&) const;
};
[[nodiscard]] std::span<const WideField> wide_fields();
/// The one that stands for a field; nullptr where none does.
[[nodiscard]] const WideField* wide_field_of(std::string_view field);

/// A value from text: whole and real numbers, yes and no (also true, false, 1, 0), words as they are. Whether the field
/// takes it, set() says. The error is one sentence.
[[nodiscard]] Result<FieldValue, Message> parse_field(const Field&, std::string_view text);
/// parse_field() and set() in one.
[[nodiscard]] Result<std::monostate, Message> set_field(const Field&, PointSpec&, std::string_view text);
/// Why the text is no value of the field; empty where it is one.
[[nodiscard]] Message wrong_value(const Field&, std::string_view text);
/// "4096", "0.1", "yes", "causal": as parse_field() reads it.
[[nodiscard]] std::string to_string(const FieldValue&);
/// to_string() of the point's value.
[[nodiscard]] std::string field_text(const Field&, const PointSpec&);
/// brief_text() of a knob that an algorithm chooses.
inline constexpr std::string_view left_to_algorithm = "auto";
/// The same as field_text() where there is little room: "contiguous", "auto", a long list shortened.
[[nodiscard]] std::string brief_text(const Field&, const PointSpec&);
/// brief_text() of a mask.
[[nodiscard]] std::string mask_text(const Mask&);
/// Whether the point has the value that goes without saying.
[[nodiscard]] bool is_fallback(const Field&, const PointSpec&);

/// Equal for equal points, whatever fields and knobs come later: the line that a plan's hash is made of. Fields of
/// FieldShown::where_set are in it only if set, all others always. It is hashed, and does not follow later spellings.
[[nodiscard]] std::string identity_text(const PointSpec&);

/// describe() by these fields: those of FieldShown::where_set are given by name, if set.
[[nodiscard]] std::string describe(const PointSpec&, std::span<const Field> fields);

}  // namespace attnscope
