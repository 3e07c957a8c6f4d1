// SPDX-License-Identifier: GPL-3.0-or-later
// Measures explored points one by one with a long-lived collector, which stores them in a file; and the
// row with its buttons and state.
#pragma once

#include <QComboBox>
#include <QObject>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <memory>
#include <optional>
#include <vector>

#include "ui/pages/explorer/choices.h"
#include "ui/process/device_list.h"
#include "ui/process/serve_session.h"
#include "ui/runs/workspace.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

struct MeasuredPoint {
  enum class State { waiting, running, finished, refused, cancelled };
  QString id{};  ///< id of the request
  State state = State::waiting;
  ExplorerChoices choices;
  QString device;  ///< Display name of the measuring device.
  bool simulated = false;
  bool around = false;                          ///< Part of a sweep around another point.
  PointEvent event{};                           ///< Result of a `finished` point.
  QString why{};                                ///< Reason of a `refused` point.
  QString file{};                               ///< File of a `finished` point.
  std::shared_ptr<const PointRecord> record{};  ///< Record of a `finished` point, once read from the file.

  [[nodiscard]] bool is_pending() const { return state == State::waiting || state == State::running; }
  [[nodiscard]] bool matches_choices(const ExplorerChoices& shown) const {
    return choices.point == shown.point && choices.device == shown.device && choices.what_if == shown.what_if;
  }
};

class PointMeasurer : public QObject {
  Q_OBJECT
 public:
  explicit PointMeasurer(QObject* parent = nullptr);
  ~PointMeasurer() override;

  /// Starts the search for local devices; later calls do nothing.
  void find_devices();
  /// Returns the devices of that GPU, real ones first. `algorithm`: only devices that can run it; user-defined kernels
  /// have no tile program for simulated GPUs and no files on remote hosts.
  [[nodiscard]] std::vector<ListedDevice> devices_of(const std::string& gpu, const std::string& algorithm = {}) const;

  /// File for later points; default: explored.attnscope in the user's data folder.
  void set_database(const QString& path) { database_ = path; }
  [[nodiscard]] const QString& database() const { return database_; }

  /// Queues this point before all points of sweeps.
  void measure(const ExplorerChoices& choices, const ListedDevice& device);
  /// Queues the tiles around it, up to `steps` grid steps per direction, nearest first. Cancels pending points of an
  /// earlier sweep.
  void sweep_around(const ExplorerChoices& choices, const ListedDevice& device, int steps);
  void cancel();
  /// Makes later points use a new collector, unless points are pending.
  void restart_collector();

  /// Returns the latest finished record of exactly this configuration; null: none, or its file is gone. Reads the file
  /// on the first call.
  [[nodiscard]] std::shared_ptr<const PointRecord> record_of(const ExplorerChoices& choices);
  [[nodiscard]] const std::vector<MeasuredPoint>& points() const { return points_; }
  /// Returns the latest finished point of a sweep with at least two tiles, for the heatmap; null: none.
  [[nodiscard]] const MeasuredPoint* latest_swept_point() const;
  [[nodiscard]] qsizetype open() const { return session_.open(); }

 signals:
  void devices_changed();
  void changed();
  /// A file is being written: on start and after each point.
  void file_written(const QString& database);
  void file_released(const QString& database);
  void error_occurred(const QString& reason);

 private:
  void request_points(const ExplorerChoices& choices, const ListedDevice& device, std::int64_t priority, bool around);
  void finish(const QString& id, const PointEvent& event);
  void close(const QString& id, MeasuredPoint::State state, const QString& why);
  [[nodiscard]] MeasuredPoint* find(const QString& id);

  QString database_;
  DeviceList devices_;
  bool probed_ = false;
  ServeSession session_;
  QTimer idle_;
  std::vector<MeasuredPoint> points_;  ///< Latest first.
};

/// Returns the workspace's measurer, created on the first call. The workspace reloads the files that it writes.
[[nodiscard]] PointMeasurer& shared_measurer(Workspace& workspace);

class MeasurementCard : public QWidget {
  Q_OBJECT
 public:
  explicit MeasurementCard(PointMeasurer& measurer, QWidget* parent = nullptr);

  /// Sets the configuration to measure; `runs`: it is feasible by the model.
  void show_choices(const ExplorerChoices& choices, bool runs);
  struct RecordedTime {
    double ns = 0;
    Provenance provenance = Provenance::measured;
    double predicted_ns = 0;  ///< 0: not predicted
  };
  void show_recorded(const std::optional<RecordedTime>& recorded);
  /// Measures the shown configuration on the chosen device; does nothing if the button is disabled.
  void measure();
  void sweep_around();

  [[nodiscard]] PointMeasurer& measurer() { return measurer_; }
  [[nodiscard]] QString pending_points_text() const;
  /// Tiles per direction of a sweep around the point.
  [[nodiscard]] QSpinBox& steps() const { return *steps_; }

 signals:
  void measure_requested();
  void sweep_around_requested();
  /// Requests a heatmap of the tiles around a point; `point`: its id in `file`.
  void map_requested(const QString& file, qint64 point);
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
