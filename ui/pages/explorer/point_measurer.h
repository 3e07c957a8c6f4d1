// SPDX-License-Identifier: GPL-3.0-or-later
// Measures what is explored: points asked for one by one of one long-lived collector, which keeps them in a file.
#pragma once

#include <QObject>
#include <QTimer>
#include <map>
#include <optional>
#include <vector>

#include "ui/pages/explorer/choices.h"
#include "ui/process/device_list.h"
#include "ui/process/serve_session.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// A point that was asked for, and what came of it.
struct MeasuredPoint {
  enum class State { waiting, running, finished, refused, cancelled };
  State state = State::waiting;
  ExplorerChoices choices;
  QString device;                                 ///< that measures: its name for people
  bool simulated = false;                         ///< that device is
  bool around = false;                            ///< of a neighbourhood
  PointEvent event{};                             ///< of what is finished
  QString why{};                                  ///< of what was refused
  QString file{};                                 ///< that keeps what is finished
  std::optional<PointRecord> record{};            ///< of what is finished, once it was read from there
  std::optional<analysis::Exploration> theory{};  ///< of what is finished and runs in theory, without padding

  /// Whether it is of exactly this configuration and GPU.
  [[nodiscard]] bool is_of(const ExplorerChoices& shown) const {
    return choices.point == shown.point && choices.device == shown.device && choices.what_if == shown.what_if;
  }
};

class PointMeasurer : public QObject {
  Q_OBJECT
 public:
  explicit PointMeasurer(QObject* parent = nullptr);
  ~PointMeasurer() override;

  /// Looks for the devices of this machine; again, it does nothing.
  void find_devices();
  /// Those of that GPU, real ones first. `algorithm`: that run it; no simulated GPU has the tile program of a kernel
  /// that is not of this program, and no other machine its files.
  [[nodiscard]] std::vector<ListedDevice> devices_of(const std::string& gpu, const std::string& algorithm = {}) const;

  /// Where points are kept from now on; a file of its own unless it is set.
  void set_database(const QString& path) { database_ = path; }
  [[nodiscard]] const QString& database() const { return database_; }

  /// Exactly this point, before all of a neighbourhood.
  void measure(const ExplorerChoices& choices, const ListedDevice& device);
  /// The tiles around it, up to `steps` of the grid to each side, the nearest first; those that wait of an earlier
  /// neighbourhood are let go.
  void sweep_around(const ExplorerChoices& choices, const ListedDevice& device, int steps);
  void cancel();
  /// What is asked from now on, a new collector measures, unless something is open.
  void begin_anew();

  /// The latest that is finished of exactly this configuration, whole; null where there is none, or its file is gone.
  /// Reads it from the file the first time that it can.
  [[nodiscard]] const PointRecord* record_of(const ExplorerChoices& choices);
  /// The latest first.
  [[nodiscard]] const std::vector<MeasuredPoint>& points() const { return points_; }
  /// The latest that is finished of a neighbourhood which has two tiles at least, as a map needs; null without one.
  [[nodiscard]] const MeasuredPoint* mapped() const;
  /// Of those, without an answer yet.
  [[nodiscard]] qsizetype open() const { return session_.open(); }

 signals:
  void devices_changed();
  void changed();
  /// A file is being written: it began, or has a point more.
  void kept(const QString& database);
  void let_go(const QString& database);
  void trouble(const QString& reason);

 private:
  void ask(const ExplorerChoices& choices, const ListedDevice& device, std::int64_t priority, bool around);
  void finish(const QString& id, const PointEvent& event);
  void close(const QString& id, MeasuredPoint::State state, const QString& why);
  [[nodiscard]] MeasuredPoint* find(const QString& id);

  struct Asked {
    std::uint64_t number = 0;  ///< of the point
    bool around = false;
  };
  QString database_;
  DeviceList devices_;
  bool probed_ = false;
  ServeSession session_;
  QTimer idle_;
  std::vector<MeasuredPoint> points_;
  std::uint64_t first_number_ = 0;  ///< of points_.back()
  std::map<QString, Asked> asked_;
};

/// The one long-lived collector of a workspace, a child of it, made when it is first asked for. What it keeps, the
/// workspace follows.
[[nodiscard]] PointMeasurer& measurer_of(Workspace& workspace);

}  // namespace attnscope::ui
