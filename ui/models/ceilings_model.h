// SPDX-License-Identifier: GPL-3.0-or-later
// What a device is capable of as a table: a row a ceiling, curves a row a size.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "ui/models/table_model.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// The ceilings of one device, as they were measured once; of one that was never measured, its datasheet's.
struct ShownCeilings {
  std::string device_name;
  std::string device_uuid;
  QString title;         ///< "NVIDIA H200 · 2026-11-21 04:12 · h200.attnscope"
  bool measured = true;  ///< false: all of them are the datasheet's
  std::vector<Ceiling> ceilings;
};
/// Of all open files: the sets that they keep, the newest first and each once, then the datasheets of devices that have
/// runs and no set.
[[nodiscard]] std::vector<ShownCeilings> ceilings_of(const Workspace& workspace);

class CeilingsModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  enum Column { name_column, data_column, value_column, spread_column, clock_column, origin_column, column_count };

  void set_ceilings(std::span<const Ceiling> ceilings);

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return column_count; }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  std::vector<CeilingLine> lines_;
};

}  // namespace attnscope::ui
