// SPDX-License-Identifier: Apache-2.0
// Settings of compared points: the fields in which the lines of a comparison differ, and those that all lines share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/compare/comparison_view.h"
#include "profiler/points/row_keys.h"

namespace attnscope::analysis {

/// Key of the setting that joins tile and knobs: "128x64 stages 3".
inline constexpr std::string_view tile_setting = "tile";

/// Returns the settings of a table's points: fields, grouped (Field::parts), and the tile with its knobs.
[[nodiscard]] std::vector<Field> compared_settings();
/// Returns one key per part of a setting; rows with equal keys have equal values.
[[nodiscard]] std::vector<RowKey> keys_of_setting(const PointTable&, const Field& setting);
/// Returns the value: "4096", "causal"; empty if it is unknown, or unset and shown only if set.
[[nodiscard]] std::string setting_text(const PointTable&, const Field& setting, Row);
/// Returns the sort key of a number; nullopt for words.
[[nodiscard]] std::optional<double> setting_number(const PointTable&, const Field& setting, Row);
/// Returns a value that can stand alone: "fa2", "d 128", "1 × 64 heads". `value`: setting_text().
[[nodiscard]] std::string titled_setting(const Field& setting, const std::string& value);

/// Returns a column of values of the setting, without cells. `example`: one of the rows.
[[nodiscard]] Column settings_column(const PointTable&, const Field& setting, Row example);
/// Returns the value of a line: "4096", or "128x64 → 64x64" if it differs between the sides.
[[nodiscard]] std::string setting_of_line(const PointTable&, const Field& setting, const ComparisonLine&);

struct SplitSettings {
  std::vector<Field> varying;  ///< settings in which the lines differ
  std::string common;          ///< settings of all lines: "fwd, full, fp16, 1 × 64 heads"
};
[[nodiscard]] SplitSettings split_settings(const PointTable&, const std::vector<ComparisonLine>&);
[[nodiscard]] SplitSettings split_settings(const PointTable&, std::span<const Row>);

}  // namespace attnscope::analysis
