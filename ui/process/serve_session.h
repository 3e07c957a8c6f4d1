// SPDX-License-Identifier: GPL-3.0-or-later
// Measures points on request with one long-lived `attnscope collect --serve` process.
//
//   ServeSession session;
//   connect(&session, &ServeSession::point_finished, ...);
//   session.set_target({.device = "simulated:H200", .database = file});
//   const QString id = session.measure(spec, 10);   // starts the collector if it is not running
//   session.cancel(id);
//
// Every id from measure() ends with exactly one of point_finished, point_refused and point_cancelled, never within
// measure(). Measured points are stored in the target's file, in a run "explore". The collector restarts lost workers.
// If the collector itself dies, failed() is emitted, open requests are refused with that reason, and the next measure()
// restarts it. The file is locked until end().
#pragma once

#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <vector>

#include "profiler/plan/point_spec.h"
#include "profiler/worker/protocol.h"
#include "ui/process/collector_process.h"

namespace attnscope::ui {

/// Device that measures and file that stores the points.
struct ServeTarget {
  QString device;
  QString database;       ///< created if missing
  bool why = false;       ///< also measures unit utilization; GPUs only
  QStringList more = {};  ///< more options of `collect`: {"--no-verify"}

  bool operator==(const ServeTarget&) const = default;
  [[nodiscard]] QStringList arguments() const;
};

class ServeSession : public QObject {
  Q_OBJECT
 public:
  explicit ServeSession(QObject* parent = nullptr);
  /// Drops open requests.
  ~ServeSession() override = default;

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

  /// Returns the number of unanswered requests.
  [[nodiscard]] qsizetype open() const { return open_.size(); }
  [[nodiscard]] bool is_running() const { return state_ != State::idle; }

 signals:
  void session_started(const attnscope::PlanEvent& event);  ///< device, counters, file and run
  void point_queued(const QString& id);
  void point_started(const QString& id);
  /// The point was measured, with any PointEvent::disposition; `point_id` is its id in the file.
  void point_finished(const QString& id, const attnscope::PointEvent& event);
  void point_refused(const QString& id, const QString& reason);
  void point_cancelled(const QString& id);
  void kernel_built(const attnscope::BuildEvent& event);
  void progressed(const attnscope::ProgressEvent& event);
  void logged(const attnscope::LogEvent& event);
  void failed(const QString& reason);
  void ended();  ///< no collector is running; device and file are free

 private:
  enum class State { idle, serving, ending };
  struct Request {
    PointSpec spec;
    std::int64_t priority = 0;
    std::uint64_t arrival = 0;
    bool sent = false;
    bool cancelled = false;  ///< requested, not confirmed
  };

  void start();
  void send(const QString& id, Request& request);
  /// Returns false if the request was already answered.
  bool close_request(const QString& id);
  [[nodiscard]] std::vector<QString> ids_by_arrival() const;
  void reject_all(const QString& reason);
  void on_failure(const QString& reason);
  void on_end();

  ServeTarget target_;
  CollectorProcess process_;
  State state_ = State::idle;
  QHash<QString, Request> open_;
  std::uint64_t asked_ = 0;
};

}  // namespace attnscope::ui
