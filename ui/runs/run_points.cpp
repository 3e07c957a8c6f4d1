// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_points.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace attnscope::ui {

void RunPoints::add(const StoredPoint& point) {
  columns_.add(point.record, point.index);
  ids_.push_back(point.id);
  places_.push_back(point.index);
  last_id_ = std::max(last_id_, point.id);
  put(columns_.size() - 1);
}

void RunPoints::add(RunPoints later) {
  if (columns_.empty()) {
    *this = std::move(later);
    return;
  }
  Row next = columns_.size();
  columns_.add(later.columns_, later.rows());
  for (const Row row : later.rows()) {
    ids_.push_back(later.ids_[row]);
    places_.push_back(later.places_[row]);
    put(next++);
  }
  last_id_ = std::max(last_id_, later.last_id_);
}

void RunPoints::put(Row row) {
  const auto place = std::ranges::lower_bound(order_, places_[row], {}, [this](Row other) { return places_[other]; });
  if (place != order_.end() && places_[*place] == places_[row]) {
    *place = row;
  } else {
    order_.insert(place, row);
  }
}

void RunPoints::shrink() {
  columns_.shrink();
  ids_.shrink_to_fit();
  places_.shrink_to_fit();
  order_.shrink_to_fit();
}

std::vector<Row> RunPoints::sorts() const {
  constexpr std::array<std::string_view, 3> of_a_curve_or_map{"n_k", "br", "bc"};
  std::vector<const analysis::FieldColumn*> columns;
  for (const Field& field : point_fields()) {
    if (std::ranges::count(of_a_curve_or_map, field.name) > 0) continue;
    if (const analysis::FieldColumn* column = columns_.find_field(field.name)) columns.push_back(column);
  }
  const analysis::FieldColumn& n_q = columns_.field("n_q");
  const analysis::FieldColumn& n_k = columns_.field("n_k");
  std::set<std::vector<std::uint64_t>> known;
  std::vector<Row> rows;
  std::vector<std::uint64_t> sort;
  std::vector<std::uint64_t> before;
  for (const Row row : order_) {
    sort.clear();
    for (const analysis::FieldColumn* column : columns) {
      const bool is_n = column == &n_q && n_q.number(row) == n_k.number(row);
      sort.push_back(is_n ? 0 : column->key(row));
    }
    sort.push_back(columns_.knobs().code(row));
    if (sort == before) continue;  // neighbours mostly agree
    before = sort;
    if (known.insert(sort).second) rows.push_back(row);
  }
  return rows;
}

bool RunPoints::is_part_of(const RunPoints& other) const {
  return std::ranges::all_of(order_, [&](Row row) {
    const auto same =
        std::ranges::lower_bound(other.order_, places_[row], {}, [&](Row theirs) { return other.places_[theirs]; });
    return same != other.order_.end() && other.places_[*same] == places_[row] &&
           analysis::PointColumns::same(other.columns_, *same, columns_, row);
  });
}

}  // namespace attnscope::ui
