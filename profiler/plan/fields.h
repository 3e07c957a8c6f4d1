// SPDX-License-Identifier: Apache-2.0
// The fields of a point, stated once. Axes, events, columns in files, exports and tables, import, the plan's hash and
// describe() are derived from this table: a new field is one line in fields.cpp (and its member).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/model/message.h"
#include "kernels/model/result.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// In the order of FieldType.
using FieldValue = std::variant<std::int64_t, double, bool, std::string>;
enum class FieldType { integer, real, flag, word };

struct Field {
  std::string_view name;   ///< axis, event, column: "n_q"
  Saying label = nullptr;  ///< for people: "K/V heads"
  Saying help = nullptr;   ///< what it is and what it takes, one sentence
  FieldType type = FieldType::integer;
  /// The schema of files since which the field exists; older points have the fallback.
  int since = 1;
  /// What goes without saying, as parse_field() reads it; empty where a point has to say.
  std::string_view fallback = {};
  /// What a sweep takes where no axis says, if that is not the fallback.
  std::string_view sweep_default = {};
  /// Whole numbers: what an axis takes.
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  /// A kernel may lack a value of it altogether.
  bool refusable = false;
  /// The place in the nesting of a sweep, outermost first: what changes the inputs comes before what only changes the
  /// kernel, so that neighbouring points share their buffers.
  int nesting = 0;

  FieldValue (*get)(const PointSpec&) = nullptr;
  /// The error is one sentence; the point is left as it was. The value is of the field's type.
  Result<std::monostate, Message> (*set)(PointSpec&, const FieldValue&) = nullptr;
  /// Gives a point back what get() said of it: nothing is judged again.
  void (*restore)(PointSpec&, const FieldValue&) = nullptr;
};

/// In the order of columns.
[[nodiscard]] std::span<const Field> point_fields();
/// nullptr for an unknown name.
[[nodiscard]] const Field* find_field(std::string_view name);

/// A value from text: whole and real numbers, yes and no (also true, false, 1, 0), words as they are. Whether the field
/// takes it, set() says. The error is one sentence.
[[nodiscard]] Result<FieldValue, Message> parse_field(const Field&, std::string_view text);
/// parse_field() and set() in one.
[[nodiscard]] Result<std::monostate, Message> set_field(const Field&, PointSpec&, std::string_view text);
/// "4096", "0.1", "yes", "causal": as parse_field() reads it.
[[nodiscard]] std::string to_string(const FieldValue&);
/// to_string() of the point's value.
[[nodiscard]] std::string field_text(const Field&, const PointSpec&);
/// Whether the point has the value that goes without saying.
[[nodiscard]] bool is_fallback(const Field&, const PointSpec&);

/// Equal for equal points, whatever fields and knobs come later: the line that a plan's hash is made of. The fields of
/// schema 1 stand in it always, all others where they are not the fallback.
[[nodiscard]] std::string identity_text(const PointSpec&);

/// describe() by these fields: those of schema 1 have their places in the sentence, all others are said by name where
/// they are not the fallback.
[[nodiscard]] std::string describe(const PointSpec&, std::span<const Field> fields);

/// The newest schema that a field of this build asks for.
[[nodiscard]] int newest_field_schema();

}  // namespace attnscope
