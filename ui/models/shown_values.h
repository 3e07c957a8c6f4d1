// SPDX-License-Identifier: GPL-3.0-or-later
// What a view shows, for other programs: lines of plain numbers in base units under keys.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <span>
#include <vector>

namespace attnscope::ui {

struct CurveSet;
struct HeatmapGrid;

struct ShownValues {
  QStringList keys;  ///< with the unit where it has one: "time_median_ns [ns]"
  std::vector<QStringList> lines = {};

  [[nodiscard]] bool empty() const { return lines.empty(); }
};
/// Every point of the curves that are drawn, theory's too.
[[nodiscard]] ShownValues values_of(const CurveSet& set);
/// Every cell; of one that has no value how it ended.
[[nodiscard]] ShownValues values_of(std::span<const HeatmapGrid* const> maps);

/// A number as it is written there, in full.
[[nodiscard]] QString plain_number(double value);
[[nodiscard]] QString as_tsv(const ShownValues& values);
/// As RFC 4180 has it.
[[nodiscard]] QByteArray as_csv(const ShownValues& values);

}  // namespace attnscope::ui
