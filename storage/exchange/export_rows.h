// SPDX-License-Identifier: Apache-2.0
// Rows of exports, one a point and kernel, and what their fields hold. Internal to storage/exchange.
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

/// Content of a field; monostate: no value.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

/// None where the text is empty.
[[nodiscard]] Cell text_cell(std::string_view text);
/// None where there is no number, or one that is not finite.
[[nodiscard]] Cell number_cell(const std::optional<double>& number);
/// The field of a point.
[[nodiscard]] Cell field_cell(const Field& field, const PointSpec& spec);
[[nodiscard]] Cell knob_cell(const KnobValue& value);

/// In the order taken, with spaces between them; of several rounds none, for they stand with their rounds.
[[nodiscard]] Cell samples_cell(const PointRecord& record, const KernelRecord& kernel);

/// A text as csv_text() has it, a number in its shortest form.
[[nodiscard]] std::string csv_field(const Cell& cell);
[[nodiscard]] nlohmann::ordered_json json_value(const Cell& cell);

/// The runs and points that an export is made of.
struct Selection {
  std::vector<RunSummary> runs;
  std::vector<StoredPoint> points;
};

/// `wanted` empty: all runs. Throws FileError for a run that the file does not have.
[[nodiscard]] Selection select(const RunStore& store, std::span<const std::int64_t> wanted);

/// Leaves the points of these ids.
void keep_points(Selection& selection, std::span<const std::int64_t> ids);

/// Calls visit(run, point) for each point, in the points' order.
template <class Visit>
void for_each_point(const Selection& selection, Visit&& visit) {
  std::map<std::int64_t, const RunSummary*> run_of;
  for (const RunSummary& run : selection.runs) run_of.emplace(run.id, &run);
  for (const StoredPoint& point : selection.points) {
    const auto run = run_of.find(point.run_id);
    if (run != run_of.end()) visit(*run->second, point);  // else begun after the list of runs was read
  }
}

struct Row {
  const RunSummary& run;
  const StoredPoint& point;
  const KernelRecord& kernel;
  std::optional<int> round = std::nullopt;  ///< none: of all rounds together

  [[nodiscard]] const PointRecord& record() const { return point.record; }
  /// What is true of the point as a whole stands in its first row only, so that a sum over rows counts it once.
  [[nodiscard]] bool is_all() const { return kernel.kernel == "all"; }
};

struct Column {
  std::string name;
  std::function<Cell(const Row&)> value = nullptr;  ///< none: the metric of that name, stored or derived

  [[nodiscard]] Cell of(const Row& row) const;
};

/// What every export has, whatever knobs its points were given.
[[nodiscard]] std::vector<Column> common_columns();
/// What a table of rows says of rounds: which one, and its samples.
[[nodiscard]] std::vector<Column> round_columns();
/// The common columns, and one for each other knob that a point of the selections has.
[[nodiscard]] std::vector<Column> columns_for(std::span<const Selection> selections);
[[nodiscard]] bool is_column(const std::vector<Column>& columns, std::string_view name);

/// What one round found, as a point of its own; what is modelled is the point's, whatever round it is stored with.
[[nodiscard]] StoredPoint in_round(const StoredPoint&, const RoundRecord&);
/// A point that never got as far as a kernel still has its row.
void for_each_row(const Selection& selection, const std::function<void(const Row&)>& visit);
/// The same, and after the rows of a point that was measured in several rounds those of each round.
void for_each_row_and_round(const Selection& selection, const std::function<void(const Row&)>& visit);

}  // namespace attnscope::exchange
