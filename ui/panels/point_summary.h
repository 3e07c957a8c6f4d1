// SPDX-License-Identifier: GPL-3.0-or-later
// Texts about a point: the answer (its comparison with the fastest tile, its bottleneck, five values), and all values.
#pragma once

#include <QPalette>
#include <QString>
#include <QStringList>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "profiler/tilemap/tile_map.h"
#include "ui/runs/point_record_reader.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// The point that others are compared with.
struct PinnedPoint {
  QString title;  ///< "FA2 128 × 64"
  std::shared_ptr<const PointRecord> record;
};

struct PointSummary {
  QString title;    ///< "128 × 64   211 µs   +1.6%"
  QString problem;  ///< "FA2 · N 4096 · d 128 · ... · NVIDIA H200 · measured"
  QStringList sentences;
  struct Value {
    QString label;
    QString value;
    QString note = {};
  };
  std::vector<Value> values;
};

/// Summarizes a point. `points`: the open points, among which it is compared. `records` reads those it is compared
/// with.
[[nodiscard]] PointSummary summarize_point(const ShownPoint& point, const PointRecord& record, const PointSet& points,
                                           PointRecordReader& records, const std::optional<PinnedPoint>& pinned);

/// "Both: 8 warps per SM, limited by registers."; empty if unknown.
[[nodiscard]] QString occupancy_sentence(const PointSet& points, const analysis::TileMap& map,
                                         analysis::TileMap::Place a, analysis::TileMap::Place b,
                                         PointRecordReader& records);
/// Causes of a map's headline: the occupancy of the tiles that it names, and the bottleneck of the fastest.
[[nodiscard]] QString headline_causes(const PointSet& points, const analysis::TileMap& map, PointRecordReader& records);

struct PointValues {
  QString html;
  int count = 0;  ///< rows of values
};
/// Returns all values of a point with unit and provenance, and a row for each of `settings` that the point has. Empty
/// sections are omitted.
[[nodiscard]] PointValues describe_point(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                                         std::span<const Field> settings);
/// Returns the parameters of a point whose record could not be read, and the reason.
[[nodiscard]] QString describe_unreadable_point_html(const ShownPoint& point, const QString& why,
                                                     const QPalette& palette);

}  // namespace attnscope::ui
