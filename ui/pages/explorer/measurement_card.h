// SPDX-License-Identifier: GPL-3.0-or-later
// Buttons Measure, Sweep around, Cancel and Show map, and the state of the measurement.
#pragma once

#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <optional>
#include <vector>

#include "ui/pages/explorer/point_measurer.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class MeasurementCard : public QWidget {
  Q_OBJECT
 public:
  explicit MeasurementCard(PointMeasurer& measurer, QWidget* parent = nullptr);

  /// Sets the configuration to measure; `runs`: it is feasible by the model.
  void show_choices(const ExplorerChoices& choices, bool runs);
  /// A measured or simulated time of the shown configuration.
  struct RecordedTime {
    double ns = 0;
    Provenance provenance = Provenance::measured;
    double predicted_ns = 0;  ///< 0: not predicted
  };
  /// nullopt: not measured.
  void show_recorded(const std::optional<RecordedTime>& recorded);
  /// Measures the shown configuration on the chosen device; does nothing if the button is disabled.
  void measure();
  void sweep_around();

  [[nodiscard]] PointMeasurer& measurer() { return measurer_; }
  /// Number of pending points, and their file.
  [[nodiscard]] QString pending_points_text() const;
  /// Tiles per direction of a sweep around the point.
  [[nodiscard]] QSpinBox& steps() const { return *steps_; }

 signals:
  void measure_requested();
  void sweep_around_requested();
  /// Requests a heatmap of the tiles around a point; `point`: its id in `file`.
  void map_requested(const QString& file, qint64 point);
  /// A point is queued, running or done.
  void changed();

 private:
  /// Devices that can run the configuration; simulated GPUs need a tile program.
  [[nodiscard]] std::vector<ListedDevice> devices() const;
  /// Reason if no device can run the algorithm; else empty.
  [[nodiscard]] QString no_device_text() const;
  [[nodiscard]] std::optional<ListedDevice> device() const;
  void connect_measurer();
  void show_devices();
  void show_state();
  void show_state_text();
  /// Reason if the values are modeled only: padding or what-if factors are set; else empty.
  [[nodiscard]] QString modeled_only_text() const;

  ExplorerChoices choices_;
  bool runs_ = false;  ///< Feasible by the model.
  PointMeasurer& measurer_;
  bool device_chosen_by_user_ = false;  ///< The user chose the device among those of this GPU.
  std::optional<RecordedTime> recorded_;
  QString trouble_;
  QComboBox* device_ = nullptr;
  QPushButton* measure_button_ = nullptr;
  QPushButton* sweep_button_ = nullptr;
  QSpinBox* steps_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QPushButton* map_ = nullptr;
  ElidedLabel* state_ = nullptr;
};

/// Returns "1.20 ms (simulated)", the disposition, or "pending".
[[nodiscard]] QString outcome_label(const MeasuredPoint& point);

}  // namespace attnscope::ui
