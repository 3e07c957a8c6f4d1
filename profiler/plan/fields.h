// SPDX-License-Identifier: Apache-2.0
// Table of the fields of a point. Axes, JSON events, columns of files, exports and tables, import, filters, editors,
// the plan hash and describe() are generated from it: a new field is one row in fields.cpp and its member. Knobs are
// exposed as fields, too, so that callers treat both alike.
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

/// Alternatives in the order of FieldType.
using FieldValue = std::variant<std::int64_t, double, bool, std::string>;
enum class FieldType { integer, real, flag, word };

enum class FieldRole {
  algorithm,
  problem,
  precision,     ///< numeric type of the operands
  tile,          ///< a tile side; 0 if unknown (imported points)
  device_state,  ///< device state before a launch; set by a command option (--cache), not by an axis default
  knob,          ///< parameter that only some algorithms have
};

/// Visibility of a field in titles, tables and details.
enum class FieldVisibility {
  always,      ///< titles, tables and details
  in_tables,   ///< tables and details; titles only if not the fallback
  in_details,  ///< details; everywhere else only if not the fallback
  if_set,      ///< everywhere, but only if not the fallback
};

struct OfferedRange {
  int least = 0;
  int most = 0;  ///< 0: the field's whole range
  int step = 1;
  bool multiples = false;  ///< offers every step; else only round numbers
};

struct Field {
  std::string_view name;                  ///< axis, event key and column: "n_q"
  std::function<Message()> label = {};    ///< display name: "K/V heads"
  std::function<Message()> help = {};     ///< one sentence: meaning and accepted values
  std::function<Message()> meaning = {};  ///< help text where points are viewed; none: `help`
  FieldRole role = FieldRole::problem;
  FieldType type = FieldType::integer;
  /// Default value in parse_field() notation; empty if the field is required.
  std::string_view fallback = {};
  /// Default of a sweep without this axis, if not `fallback`.
  std::string_view sweep_default = {};
  /// Whole numbers: accepted range.
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  /// Real numbers: accepted half-open range [least, below); unbounded if both are equal.
  double least = 0;
  double below = 0;
  /// Accepted words in sort order; if `accepts_other_words`, only the suggestions of editors.
  std::vector<std::string> words = {};
  bool accepts_other_words = false;
  /// Returns the whole numbers that an algorithm's kernels are instantiated for; empty means all.
  const std::vector<int>& (*supported_values)(const Facts&) = nullptr;
  OfferedRange offered = {};
  bool can_be_infeasible = false;
  /// Nesting in a sweep, smallest outermost. Fields that change the inputs come before fields that change only the
  /// kernel, so that adjacent points share buffers.
  int nesting = 0;
  /// Field whose value this one takes until it is set.
  std::string_view follows = {};
  /// Imported files may omit it; it then takes the value of `follows`.
  bool optional_in_imports = false;
  /// Field names of a combined view column ("1 × 16"); empty for a single field.
  std::vector<std::string_view> parts = {};

  FieldVisibility shown = FieldVisibility::if_set;  ///< `always` if there is no fallback
  bool first_in_editors = false;                    ///< shown before other problem fields in editors
  std::string_view heading = {};                    ///< alternative column name in tables and queries
  std::string_view stem = {};                       ///< prefix of a number in file names: "d128"; empty: "NAME-"
  /// Short display text, if not field_text().
  std::string (*brief)(const PointSpec&) = nullptr;
  /// Sort key of words, if not their position in `words`.
  double (*order)(const PointSpec&) = nullptr;
  /// Title text of a value that is not the fallback; none: "dropout 0.1".
  Message (*in_title)(std::string_view text) = nullptr;

  std::function<FieldValue(const PointSpec&)> get = {};
  /// Sets the value, which has the field's type. On error the point is unchanged and the error is one sentence.
  std::function<Result<std::monostate, Message>(PointSpec&, const FieldValue&)> set = {};
  /// Sets a value that get() returned, without validation.
  std::function<void(PointSpec&, const FieldValue&)> restore = {};

  [[nodiscard]] bool is_number() const { return type == FieldType::integer || type == FieldType::real; }
};

namespace field_name {
inline constexpr std::string_view algorithm = "algorithm";
inline constexpr std::string_view n = "N";  ///< n_q and n_k
inline constexpr std::string_view n_q = "n_q";
inline constexpr std::string_view n_k = "n_k";
inline constexpr std::string_view d = "d";
}  // namespace field_name

/// In column order.
[[nodiscard]] std::span<const Field> point_fields();
/// Returns nullptr for an unknown name.
[[nodiscard]] const Field* find_field(std::string_view name);

/// Field of a knob; "0" or the first word if a point does not set it. The knob must outlive the field.
[[nodiscard]] Field knob_field(const Knob&);
/// Read-only field of a knob that no registered algorithm declares: a number or a word, empty if not set. The name must
/// outlive the field.
[[nodiscard]] Field undeclared_knob_field(std::string_view name);
/// The given fields, then one per knob.
[[nodiscard]] std::vector<Field> fields_and_knobs(std::span<const Field>, std::span<const Knob>);

/// Name that sets two fields which are usually equal: one axis, and one column in imported files.
struct FieldPair {
  std::string_view name;  ///< "N"
  std::string_view first;
  std::string_view second;
  std::string_view fallback;  ///< default of a sweep
  int nesting = 0;
  /// Display name of the leading field while both are equal; none: unchanged.
  MessageFunction label = nullptr;
  MessageFunction help = nullptr;

  [[nodiscard]] bool has(std::string_view field) const { return field == first || field == second; }
  /// Returns the field that the other one follows.
  [[nodiscard]] const Field& leader() const;
  [[nodiscard]] bool are_equal_in(const PointSpec&) const;
};
[[nodiscard]] std::span<const FieldPair> field_pairs();
/// Returns the wide field that contains `field`; nullptr if there is none.
[[nodiscard]] const FieldPair* field_pair_of(std::string_view field);

/// Parses text as the field's type: numbers, yes/no (also true, false, 1, 0), or a word. Does not validate; set() does.
/// The error is one sentence.
[[nodiscard]] Result<FieldValue, Message> parse_field(const Field&, std::string_view text);
[[nodiscard]] Result<std::monostate, Message> set_field(const Field&, PointSpec&, std::string_view text);
/// Returns why the field rejects the text; empty if it is valid.
[[nodiscard]] Message value_error(const Field&, std::string_view text);
/// "4096", "0.1", "yes", "causal"; parse_field() reads it back.
[[nodiscard]] std::string to_string(const FieldValue&);
[[nodiscard]] std::string field_text(const Field&, const PointSpec&);
/// short_text() of a knob that is left to the algorithm.
inline constexpr std::string_view auto_value = "auto";
/// Short display form of field_text(): "contiguous", "auto", long lists abbreviated.
[[nodiscard]] std::string short_text(const Field&, const PointSpec&);
[[nodiscard]] std::string mask_text(const Mask&);
/// Returns true if the point has the field's fallback value.
[[nodiscard]] bool is_fallback(const Field&, const PointSpec&);

/// Canonical text of a point, the input of plan hashes. Fields with FieldVisibility::if_set appear only if set, all
/// others always, so that new fields and knobs do not change old hashes. Spelling changes elsewhere must not change it.
[[nodiscard]] std::string canonical_text(const PointSpec&);

}  // namespace attnscope
