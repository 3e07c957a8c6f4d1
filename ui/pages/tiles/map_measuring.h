// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with a marked area of a heatmap: measure what it lacks, all of it anew, or what lies between its
// places. Through the window's one long-lived collector (PointMeasurer).
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>
#include <vector>

#include "profiler/tilemap/map_points.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/plots/heatmap_grid.h"

namespace attnscope::ui {

class MapMeasuring : public QWidget {
  Q_OBJECT
 public:
  explicit MapMeasuring(PointMeasurer& measurer, QWidget* parent = nullptr);

  /// Offers what that area of the map asks for. Nothing is offered of points that are not ours, and says so.
  void show_area(const HeatmapGrid& grid, const analysis::MapArea& area);
  /// No area is marked: hidden, unless points are under way.
  void forget_area();
  /// One place, before all others; `grid` says on which GPU.
  void measure_place(const HeatmapGrid& grid, HeatmapGrid::Place place);
  /// What that is, of a map of that run, where a value stands already (`again`) or none: whether it is measured, on
  /// which device, or simulated.
  [[nodiscard]] QString words_of_place(const analysis::Run& of, const std::string& algorithm, bool again) const;
  /// Whether a device that is found by now does that.
  [[nodiscard]] bool can_measure(const analysis::Run& of, const std::string& algorithm) const {
    return !devices_for(of.device_name, algorithm, is_simulated(of.provenance)).empty();
  }

  [[nodiscard]] const std::vector<PointSpec>& missing() const { return missing_; }
  [[nodiscard]] const std::vector<PointSpec>& all() const { return all_; }
  [[nodiscard]] const std::vector<PointSpec>& between() const { return between_; }
  /// What it is at, in words.
  [[nodiscard]] QString state_words() const { return state_->text(); }

 signals:
  void closed();

 private:
  [[nodiscard]] const ListedDevice* device() const;
  /// Those of a map's GPU, what makes the map's kind of values first.
  [[nodiscard]] std::vector<ListedDevice> devices_for(const std::string& gpu, const std::string& algorithm,
                                                      bool simulated) const;
  void show_devices();
  void ask_for(const std::vector<PointSpec>& points);
  void refresh();

  PointMeasurer& measurer_;
  std::vector<ListedDevice> devices_;
  std::vector<PointSpec> missing_;
  std::vector<PointSpec> all_;
  std::vector<PointSpec> between_;
  std::string gpu_;  ///< of the map
  std::string algorithm_;
  bool simulated_ = false;  ///< the map's values are
  analysis::MapArea area_;
  bool area_shown_ = false;
  bool asked_ = false;  ///< from here
  QString asked_on_;    ///< the device that was asked last, which may be simulated
  QString trouble_;
  QLabel* title_ = nullptr;
  QPushButton* missing_button_ = nullptr;
  QPushButton* again_button_ = nullptr;
  QPushButton* between_button_ = nullptr;
  QLabel* on_ = nullptr;
  QComboBox* device_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QToolButton* close_ = nullptr;
};

}  // namespace attnscope::ui
