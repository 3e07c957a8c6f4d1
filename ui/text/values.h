// SPDX-License-Identifier: GPL-3.0-or-later
// What a view shows, for other programs: lines of plain numbers in base units under keys.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <vector>

namespace attnscope::ui {

/// The role by which a model gives a cell or a heading for them: plain numbers, keys with units. A model without it
/// has what people read.
inline constexpr int copy_role = Qt::UserRole + 2;

struct ShownValues {
  QStringList keys;  ///< of a table that has none its headings; with the unit where it has one: "Time [ns]"
  std::vector<QStringList> lines = {};

  [[nodiscard]] bool empty() const { return lines.empty(); }
};

/// A number as it is written there, in full.
[[nodiscard]] QString plain_number(double value);
/// Neither has what a spreadsheet would run.
[[nodiscard]] QString as_tsv(const ShownValues& values);
[[nodiscard]] QByteArray as_csv(const ShownValues& values);

}  // namespace attnscope::ui
