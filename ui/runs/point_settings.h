// SPDX-License-Identifier: GPL-3.0-or-later
// What a point was set to, as people read it: its fields and the knobs of the algorithms as they state themselves.
#pragma once

#include <QString>
#include <QStringList>
#include <QVariant>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::ui {

struct PointSetting {
  struct Value {
    QString text;   ///< empty where it is not set, or not stated
    QVariant sort;  ///< numbers as numbers; invalid where there is no text
    bool number = false;
  };
  using Shown = FieldShown;  ///< in_tables is `always` here

  QString label;                              ///< "Batch × heads"
  QString key;                                ///< what it is known by where an order is kept: "heads"
  QString help;                               ///< one sentence
  std::vector<std::string_view> fields = {};  ///< that it speaks for; of a knob none
  bool of_tile = false;                       ///< a side of it or a knob: part of what format_tile() has
  Shown shown = Shown::where_set;
  /// With Shown::where_set, no text for what goes without saying.
  std::function<Value(const PointSpec&)> value;
  std::span<const Field> known = point_fields();  ///< the table that `fields` are of

  /// Whether the point says what does not go without saying.
  [[nodiscard]] bool is_set(const PointSpec& spec) const;
};

/// One for every field, alone or together with others, and for every knob of the registry; then knobs of these names,
/// which no algorithm of it has. The table of fields has to outlive them.
[[nodiscard]] std::vector<PointSetting> point_settings(const Registry& registry = known_algorithms(),
                                                       const std::set<std::string>& foreign_knobs = {},
                                                       std::span<const Field> fields = point_fields());

/// "bwd", "dropout 0.1", "deterministic", "L2 warm", "splits 8": what is set, without lengths, d, heads, mask, type and
/// tile.
[[nodiscard]] QStringList unusual_settings(const PointSpec& spec);
[[nodiscard]] QStringList unusual_settings(const PointSpec& spec, std::span<const PointSetting> settings);

}  // namespace attnscope::ui
