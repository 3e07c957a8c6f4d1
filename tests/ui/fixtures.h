// SPDX-License-Identifier: GPL-3.0-or-later
// Databases of points that look like a GPU's.
#pragma once

#include <QAbstractItemModel>
#include <QPalette>
#include <QString>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "storage/run_store.h"
#include "tests/profiler/points/fixtures.h"
#include "ui/models/curve_series.h"
#include "ui/plots/heatmap_words.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui::fixtures {

/// An H200 under the name "NVIDIA H200", measured or simulated.
[[nodiscard]] DeviceInfo device(bool simulated = false);

using attnscope::fixtures::backward;
using attnscope::fixtures::decode_spec;
using attnscope::fixtures::decoding;
using attnscope::fixtures::failed_point;
using attnscope::fixtures::imported_point;
using attnscope::fixtures::memory_wall;
using attnscope::fixtures::ok_point;
using attnscope::fixtures::peers;
using attnscope::fixtures::spec;
using attnscope::fixtures::tile_sweep;

/// A point of a run without a file, with all that it was made of.
struct GivenPoint {
  RunPtr run;
  std::shared_ptr<const StoredPoint> point;

  [[nodiscard]] const PointRecord& record() const { return point->record; }
  [[nodiscard]] const PointSpec& spec() const { return point->record.spec; }
};
/// Points of a run, which has the first one's provenance.
[[nodiscard]] std::vector<GivenPoint> shown(const std::vector<PointRecord>& records, bool simulated = false,
                                            std::int64_t run = 1);
/// The same as the workspace gives them.
[[nodiscard]] std::shared_ptr<const PointSet> set_of(const std::vector<GivenPoint>& points,
                                                     std::span<const Field> fields = point_fields());
[[nodiscard]] QString describe_point_html(const GivenPoint& point, const QPalette& palette);
/// What the point's file says of it.
[[nodiscard]] PointRecord record_of(const ShownPoint& point);

/// Simulated naive points of 16 heads at these N, on an H200; from 16384 on they are simulated in part.
[[nodiscard]] std::vector<PointRecord> simulated_naive(std::initializer_list<std::int64_t> lengths);

/// The curves of the first problem of these points, and the map of one problem's.
[[nodiscard]] CurveSet curves_of(const std::vector<GivenPoint>& points, const CurveRequest& request);
[[nodiscard]] analysis::TileMap heatmap_of(const PointSet& points, std::string_view metric);

/// Writes runs into a new file.
struct RunOf {
  std::string preset;
  std::vector<PointRecord> points;
  bool simulated = false;
  bool imported = false;
  std::string gpu = {};  ///< of the table of GPUs; empty: an H200
};
void write_file(const QString& path, const std::vector<RunOf>& runs);
/// One more run, in one transaction: of many points, which would else wait for a commit each.
void write_at_once(const QString& path, RunOf run);

/// What a result's model (ui/models/result_model.h) says in the column of that key; null: there is no such column.
[[nodiscard]] QString cell_named(const QAbstractItemModel& model, int row, const char* key);

}  // namespace attnscope::ui::fixtures
