// SPDX-License-Identifier: GPL-3.0-or-later
// The points of one run as the window keeps them: columns, and what the file knows each point by. Its record is read
// again when somebody looks at the point (point_records.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/points/point_columns.h"
#include "storage/run_store.h"

namespace attnscope::ui {

using analysis::Row;

class RunPoints {
 public:
  /// The table of fields has to outlive them.
  explicit RunPoints(std::span<const Field> fields = point_fields()) : columns_(fields) {}

  /// A point at a place of the plan that has one already stands for it from then on: a resumed run has measured it
  /// again.
  void add(const StoredPoint&);
  /// What was read later.
  void add(RunPoints later);
  /// Gives back memory that was held for more points.
  void shrink();

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] const analysis::PointColumns& columns() const { return columns_; }
  /// Rows of the columns, by place in the plan.
  [[nodiscard]] std::span<const Row> rows() const { return order_; }
  /// In the run's file.
  [[nodiscard]] std::int64_t id(Row row) const { return ids_[row]; }
  /// The largest; 0 without points.
  [[nodiscard]] std::int64_t last_id() const { return last_id_; }

  /// A row of each sort: no two of them alike in all but their lengths and tiles.
  [[nodiscard]] std::vector<Row> sorts() const;
  /// Whether all that is here stands in `other` as well, at the same places.
  [[nodiscard]] bool is_part_of(const RunPoints& other) const;

 private:
  /// Where the row stands in order_.
  void put(Row row);

  analysis::PointColumns columns_;
  std::vector<std::int64_t> ids_;    ///< by row
  std::vector<std::size_t> places_;  ///< in the plan, by row
  std::vector<Row> order_;
  std::int64_t last_id_ = 0;
};

}  // namespace attnscope::ui
