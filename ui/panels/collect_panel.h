// SPDX-License-Identifier: GPL-3.0-or-later
// Choose a device and a sweep, start it, watch it, stop it. Start says why when it cannot.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <set>

#include "ui/panels/collect_form.h"
#include "ui/panels/collect_log.h"
#include "ui/process/collector_process.h"

namespace attnscope::ui {

class CollectPanel : public QWidget {
  Q_OBJECT
 public:
  explicit CollectPanel(QWidget* parent = nullptr);

  [[nodiscard]] CollectorProcess& collector() { return collector_; }
  [[nodiscard]] CollectForm& form() { return *form_; }
  /// Why Start is disabled; empty when it is not.
  [[nodiscard]] QString blocker() const { return blocker_; }
  [[nodiscard]] CollectRequest request() const { return form_->request(); }
  /// The point being measured, shortened; empty between collections.
  [[nodiscard]] QString in_flight() const { return in_flight_->text(); }
  [[nodiscard]] bool running() const { return collector_.running(); }
  /// How far the collection is, in words.
  [[nodiscard]] QString progress_words() const { return progress_->format(); }
  /// Stops after the launch in flight. What is done is kept.
  void cancel();
  /// Measures a GPU itself, unless something is being collected.
  void measure(const DeviceWork& work);

 signals:
  /// The collector has begun (or ended) writing this run of the file; 0 where it never made one.
  void collection_started(const QString& database, qint64 run);
  void collection_grew(const QString& database);
  void collection_ended(const QString& database, qint64 run);
  /// The collector is being started, for whatever.
  void begun();
  /// How far the measurement of a GPU itself is, in words, or how it ended.
  void device_progressed(const QString& words);
  /// What was measured of a GPU is in that file now.
  void device_measured(const attnscope::ui::DeviceWork& work);
  /// One line for the window's banner: what went wrong.
  void trouble(const QString& message);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void add_buttons();
  void add_progress();
  void connect_progress();
  void connect_end();
  void show_plan(const PlanEvent& event);
  void show_point(const PointEvent& event);
  void start();
  /// What all that the collector does begins with.
  void begin(const QString& database);
  void show_progress(const ProgressEvent& event);
  void validate();
  void ended(const QString& summary);

  CollectorProcess collector_;
  QString blocker_;
  QString database_in_use_;
  qint64 run_ = 0;
  CollectRequest wanted_;           ///< what was started last
  std::optional<DeviceWork> work_;  ///< what runs, or ran last; none: a sweep
  QStringList said_;                ///< about that work
  bool stopping_ = false;           ///< it was cancelled, and has not ended
  std::set<std::int64_t> kept_;     ///< points that ended, by their ids

  CollectForm* form_ = nullptr;
  QLabel* plan_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* in_flight_ = nullptr;
  CollectLog* log_ = nullptr;
};

}  // namespace attnscope::ui
