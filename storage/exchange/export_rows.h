// SPDX-License-Identifier: Apache-2.0
// Rows of exports, one per point and kernel, and the content of their fields. Internal to storage/exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/model/knobs.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"
#include "storage/run_store.h"

namespace attnscope::exchange {

/// Content of a field; monostate if empty.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

[[nodiscard]] Cell text_cell(std::string_view text);
/// Returns an empty cell for nullopt and for numbers that are not finite.
[[nodiscard]] Cell number_cell(const std::optional<double>& number);
[[nodiscard]] Cell field_cell(const Field& field, const PointSpec& spec);
[[nodiscard]] Cell knob_cell(const KnobValue& value);

/// Returns samples in the order taken, separated by spaces; empty if the point has several rounds, which have their own
/// rows.
[[nodiscard]] Cell samples_cell(const PointRecord& record, const KernelRecord& kernel);

/// Quotes a text with quote_csv_field(); formats a number as short as possible. A number that is not finite is empty,
/// null in JSON.
[[nodiscard]] std::string csv_field(const Cell& cell);
[[nodiscard]] nlohmann::ordered_json json_value(const Cell& cell);

struct Selection {
  std::vector<RunSummary> runs;
  std::vector<StoredPoint> points;
};

/// `wanted` empty: all runs. Throws FileError for an unknown run.
[[nodiscard]] Selection select(const RunStore& store, std::span<const std::int64_t> wanted);

void keep_points(Selection& selection, std::span<const std::int64_t> ids);

template <class Visit>
void for_each_point(const Selection& selection, Visit&& visit) {
  std::map<std::int64_t, const RunSummary*> run_of;
  for (const RunSummary& run : selection.runs) run_of.emplace(run.id, &run);
  for (const StoredPoint& point : selection.points) {
    const auto run = run_of.find(point.run_id);
    if (run != run_of.end()) visit(*run->second, point);  // otherwise the run began after the list was read
  }
}

struct Row {
  const RunSummary& run;
  const StoredPoint& point;
  const KernelRecord& kernel;
  std::optional<int> round = std::nullopt;  ///< nullopt: all rounds together

  [[nodiscard]] const PointRecord& record() const { return point.record; }
  /// True for the row of the whole point. Point-level values appear only there, so that sums over rows count them once.
  [[nodiscard]] bool is_whole_point() const { return kernel.kernel == "all"; }
};

struct Column {
  std::string name;
  std::function<Cell(const Row&)> value = nullptr;  ///< null: the metric of that name, stored or derived

  [[nodiscard]] Cell cell(const Row& row) const;
};

[[nodiscard]] std::vector<Column> common_columns();
[[nodiscard]] std::vector<Column> round_columns();
/// Returns the common columns, then one for each other knob that a point has.
[[nodiscard]] std::vector<Column> columns_for(std::span<const Selection> selections);
[[nodiscard]] bool is_column(const std::vector<Column>& columns, std::string_view name);

/// Returns the values of one round as a point. Modeled values belong to the point and are removed.
[[nodiscard]] StoredPoint in_round(const StoredPoint&, const RoundRecord&);
/// Visits one row per point and kernel; a point without kernels has one row.
void for_each_row(const Selection& selection, const std::function<void(const Row&)>& visit);
/// Like for_each_row(), followed by the rows of each round if a point has several.
void for_each_row_and_round(const Selection& selection, const std::function<void(const Row&)>& visit);

}  // namespace attnscope::exchange
