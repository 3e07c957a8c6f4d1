// SPDX-License-Identifier: GPL-3.0-or-later
// Databases with points as a GPU would produce them.
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
#include "ui/plots/heatmap_text.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui::fixtures {

/// "NVIDIA H200", measured or simulated.
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

/// A point of a run without a file.
struct TestPoint {
  RunPtr run;
  std::shared_ptr<const StoredPoint> point;

  [[nodiscard]] const PointRecord& record() const { return point->record; }
  [[nodiscard]] const PointSpec& spec() const { return point->record.spec; }
};
/// Points of one run, which has the provenance of the first point.
[[nodiscard]] std::vector<TestPoint> shown(const std::vector<PointRecord>& records, bool simulated = false,
                                           std::int64_t run = 1);
/// Point set of the same points.
[[nodiscard]] std::shared_ptr<const PointSet> set_of(const std::vector<TestPoint>& points);
[[nodiscard]] QString describe_point_html(const TestPoint& point, const QPalette& palette);
/// Reads the record of a point from its file.
[[nodiscard]] PointRecord record_of(const ShownPoint& point);

/// Simulated naive points with 16 heads on an H200; partly extrapolated for N >= 16384.
[[nodiscard]] std::vector<PointRecord> simulated_naive(std::initializer_list<std::int64_t> lengths);

/// Curves of the first problem, and the tile map.
[[nodiscard]] CurveSet curves_of(const std::vector<TestPoint>& points, const CurveRequest& request);
[[nodiscard]] analysis::TileMap heatmap_of(const PointSet& points, std::string_view metric);

/// A run of a test file.
struct TestRun {
  std::string preset;
  std::vector<PointRecord> points;
  bool simulated = false;
  bool imported = false;
  std::string gpu = {};  ///< Name in the table of GPUs; empty: H200.
};
void write_file(const QString& path, const std::vector<TestRun>& runs);
/// Adds a run in one transaction, for many points.
void write_in_transaction(const QString& path, TestRun run);

/// Text of a result model (ui/models/result_model.h) in the column with that key; null: no such column.
[[nodiscard]] QString cell_named(const QAbstractItemModel& model, int row, const char* key);

}  // namespace attnscope::ui::fixtures
