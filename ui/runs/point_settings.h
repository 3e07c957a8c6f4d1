// SPDX-License-Identifier: GPL-3.0-or-later
// What a point was set to, as people read it: its fields and the knobs of the algorithms as they state themselves.
#pragma once

#include <QString>
#include <QStringList>
#include <QVariant>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::ui {

/// Every field, alone or together with others (Field::parts), and every knob of the registry; then knobs of these
/// names, which no algorithm of it has.
[[nodiscard]] std::vector<Field> point_settings(const Registry& registry = known_algorithms(),
                                                const std::set<std::string>& foreign_knobs = {},
                                                std::span<const Field> fields = point_fields());

struct SettingValue {
  QString text;   ///< empty where it is not set, or not stated
  QVariant sort;  ///< numbers as numbers; invalid where there is no text
  bool number = false;
};
/// With FieldShown::where_set, no text for what goes without saying.
[[nodiscard]] SettingValue setting_value(const Field& setting, const PointSpec& spec);
/// What it is known by where an order is kept: "heads".
[[nodiscard]] QString setting_key(const Field& setting);
[[nodiscard]] QString setting_help(const Field& setting);
/// A side of the tile or a knob: part of what format_tile() has.
[[nodiscard]] bool is_of_tile(const Field& setting);
/// Whether tables and details have it even where it is the fallback.
[[nodiscard]] bool is_always_shown(const Field& setting);
/// Whether the point says what does not go without saying.
[[nodiscard]] bool is_set(const Field& setting, const PointSpec& spec);

/// "bwd", "dropout 0.1", "deterministic", "L2 warm", "splits 8": what is set, without lengths, d, heads, mask, type and
/// tile.
[[nodiscard]] QStringList unusual_settings(const PointSpec& spec);

}  // namespace attnscope::ui
