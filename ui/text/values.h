// SPDX-License-Identifier: GPL-3.0-or-later
// Values of a view for copy and export: plain numbers in base units.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <vector>

namespace attnscope::ui {

/// Item role for copied cells and headings: plain numbers, keys with units. Models without it provide display texts.
inline constexpr int copy_role = Qt::UserRole + 2;

struct ShownValues {
  QStringList keys;  ///< keys or headings, with units: "Time [ns]"
  std::vector<QStringList> lines = {};

  [[nodiscard]] bool empty() const { return lines.empty(); }
};

[[nodiscard]] QString plain_number(double value);
/// Both escape cells that a spreadsheet would interpret as formulas.
[[nodiscard]] QString to_tsv(const ShownValues& values);
[[nodiscard]] QByteArray to_csv(const ShownValues& values);

}  // namespace attnscope::ui
