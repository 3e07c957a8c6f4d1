// SPDX-License-Identifier: GPL-3.0-or-later
// Measures points on request with one long-lived `attnscope collect --serve` process.
// Every id from measure() ends with exactly one of point_finished, point_refused and point_cancelled, never within
// measure(). Measured points are stored in the target's file, in a run "explore". The collector restarts lost workers.
// If the collector itself dies, failed() is emitted, open requests are refused with that reason, and the next measure()
// restarts it. The file is locked until end().
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <map>
#include <vector>

#include "profiler/plan/point_spec.h"
#include "profiler/worker/protocol.h"
#include "ui/process/collector_process.h"

namespace attnscope::ui {

struct ServeTarget {
  QString device;
  QString database;  ///< created if missing
  bool why = false;  ///< also measures unit utilization; GPUs only

  bool operator==(const ServeTarget&) const = default;
  [[nodiscard]] QStringList arguments() const;
};

class ServeSession : public QObject {
  Q_OBJECT
 public:
  explicit ServeSession(QObject* parent = nullptr);

  /// Sets the target of later requests. If it changes, open requests are cancelled and the session ends.
  void set_target(const ServeTarget& target);
  [[nodiscard]] const ServeTarget& target() const { return target_; }

  /// Requests a point and returns its id. Requests run by priority, then in order.
  QString measure(const PointSpec& spec, std::int64_t priority = 0);
  /// A running point is cancelled after its launch. Answered ids are ignored.
  void cancel(const QString& id);
  void cancel_all();
  /// Releases device and file once all open requests are done.
  void end();

  [[nodiscard]] qsizetype open() const { return std::ssize(open_); }
  [[nodiscard]] bool is_running() const { return state_ != State::idle; }

 signals:
  void session_started(const attnscope::PlanEvent& event);  ///< device, counters, file and run
  void point_queued(const QString& id);
  void point_started(const QString& id);
  /// The point was measured, with any PointEvent::disposition; `point_id` is its id in the file.
  void point_finished(const QString& id, const attnscope::PointEvent& event);
  void point_refused(const QString& id, const QString& reason);
  void point_cancelled(const QString& id);
  void logged(const attnscope::LogEvent& event);
  void failed(const QString& reason);
  void ended();  ///< no collector is running; device and file are free

 private:
  enum class State { idle, serving, ending };
  struct Request {
    PointSpec spec;
    std::int64_t priority = 0;
    bool sent = false;
    bool cancelled = false;  ///< requested, not confirmed
  };

  void start();
  void send(std::uint64_t id);
  bool close_request(const QString& id);
  /// In order of arrival.
  [[nodiscard]] std::vector<QString> open_ids() const;
  void reject_all(const QString& reason);
  void on_failure(const QString& reason);
  void on_end();

  ServeTarget target_;
  CollectorProcess process_;
  State state_ = State::idle;
  std::map<std::uint64_t, Request> open_;  ///< key: request id
  std::uint64_t asked_ = 0;
};

}  // namespace attnscope::ui
