// SPDX-License-Identifier: GPL-3.0-or-later
// Beside simulated points: how far the simulation lies from what a GPU measured, in one line; a click shows the whole
// table.
#pragma once

#include <QAbstractButton>
#include <QString>
#include <QStringList>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "profiler/analysis/map_error.h"
#include "ui/runs/point_set.h"
#include "ui/runs/simulation_errors.h"

namespace attnscope::ui {

/// What simulated points are of.
struct SimulatedPart {
  std::string algorithm;
  Pass pass = Pass::fwd;
  std::string gpu;      ///< "NVIDIA H200"
  std::string l2_from;  ///< the GPU whose L2 was played where that one's was never measured; else empty

  bool operator<(const SimulatedPart& other) const {
    return std::tie(algorithm, pass, gpu, l2_from) < std::tie(other.algorithm, other.pass, other.gpu, other.l2_from);
  }
};
/// Of these rows, those whose run was simulated.
[[nodiscard]] std::set<SimulatedPart> simulated_parts(const PointSet& points, std::span<const Row> rows);

class ErrorNote : public QAbstractButton {
  Q_OBJECT
 public:
  /// Which of the two stays where there is room for one.
  enum class First { bytes, time };

  explicit ErrorNote(SimulationErrors& errors, QWidget* parent = nullptr);
  /// Of a map of tiles: what it is off by itself where some of it was recorded, else what the tile that is chosen costs
  /// on recorded maps.
  struct OfMap {
    std::optional<analysis::MapError> own;
  };
  /// Hidden while there are none. The first that somebody sees has the table computed.
  void show_for(std::set<SimulatedPart> parts, First first, std::optional<OfMap> map = std::nullopt);
  /// The line, of both quantities, however wide it is.
  [[nodiscard]] QString words() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void fit();
  /// `brief`: medians alone.
  [[nodiscard]] QString line(const QStringList& quantities, bool brief = false) const;

  SimulationErrors& errors_;
  std::set<SimulatedPart> parts_;
  First first_ = First::bytes;
  std::optional<OfMap> map_;
};

/// The whole table, in a dialog of its own.
void show_prediction_table(QWidget* window, const SimulationErrors& errors);
/// The same as rich text.
[[nodiscard]] QString prediction_table_html(const PredictionTable& table, const QColor& muted);

}  // namespace attnscope::ui
