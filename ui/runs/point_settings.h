// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of a point for display: its fields and knobs.
#pragma once

#include <QString>
#include <QStringList>
#include <QVariant>
#include <set>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::ui {

/// Returns all fields, single or grouped (Field::parts), and all knobs of the registry, then knobs with the names in
/// `unknown_knobs`.
[[nodiscard]] std::vector<Field> point_settings(const Registry& registry = known_algorithms(),
                                                const std::set<std::string>& unknown_knobs = {});

struct SettingValue {
  QString text;   ///< empty if not set or not known
  QVariant sort;  ///< sort key, numeric if possible; invalid if there is no text
  bool number = false;
};
/// Returns an empty text for a default value if the field is FieldVisibility::if_set.
[[nodiscard]] SettingValue setting_value(const Field& setting, const PointSpec& spec);
[[nodiscard]] QString setting_key(const Field& setting);
[[nodiscard]] QString setting_help(const Field& setting);
/// Returns true for tile sizes and knobs, which format_tile() includes.
[[nodiscard]] bool is_tile_setting(const Field& setting);
/// Returns true if tables show the setting even at its default.
[[nodiscard]] bool is_always_shown(const Field& setting);
[[nodiscard]] bool is_set(const Field& setting, const PointSpec& spec);

/// Returns non-default settings except lengths, d, heads, mask, type and tile: "bwd", "dropout 0.1", "deterministic",
/// "L2 warm", "splits 8".
[[nodiscard]] QStringList non_default_settings(const PointSpec& spec);

}  // namespace attnscope::ui
