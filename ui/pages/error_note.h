// SPDX-License-Identifier: GPL-3.0-or-later
// Beside simulated points: how far the simulation lies from what a GPU measured, in one line; a click shows the whole
// table.
#pragma once

#include <QAbstractButton>
#include <QString>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/analysis/map_error.h"
#include "profiler/analysis/published_errors.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// What simulated points are of.
struct SimulatedPart {
  std::string algorithm;  ///< analysis::judged_as()
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

  explicit ErrorNote(QWidget* parent = nullptr);
  /// Of a map of tiles: what it is off by itself where some of it was recorded, else what the tile that is chosen costs
  /// on recorded maps.
  struct OfMap {
    std::optional<analysis::MapError> own;
  };
  /// Hidden while there are none.
  void show_for(std::set<SimulatedPart> parts, First first, std::optional<OfMap> map = std::nullopt);
  /// The line, of both quantities, however wide it is.
  [[nodiscard]] QString words() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void fit();
  /// `brief`: medians alone.
  [[nodiscard]] QString line(const std::vector<std::string_view>& quantities, bool brief = false) const;

  std::set<SimulatedPart> parts_;
  First first_ = First::bytes;
  std::optional<OfMap> map_;
};

/// The whole tables of the GPUs that these are judged by, in a dialog of its own.
void show_prediction_tables(QWidget* window, const std::set<SimulatedPart>& parts);
/// One of them as rich text.
[[nodiscard]] QString prediction_table_html(const analysis::PublishedErrors& errors, const QColor& muted);

}  // namespace attnscope::ui
