// SPDX-License-Identifier: GPL-3.0-or-later
// Points measured one by one as they are asked for, by one long-lived `attnscope collect --serve`: no process a point.
//
//   ServeSession session;
//   connect(&session, &ServeSession::point_finished, ...);
//   session.set_target({.device = "simulated:H200", .database = file});
//   const QString id = session.measure(spec, 10);   // starts the collector when there is none
//   session.cancel(id);
//
// Every id that measure() gives ends in exactly one of point_finished, point_refused and point_cancelled, never within
// measure() itself. The point is then in the target's file, in a run "explore". The collector restarts a lost worker by
// itself; where the collector dies, failed() says why and everything open is refused with that reason; the next
// measure() begins anew. While a session runs its file is locked: another collector on it is refused, until end().
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

/// What measures, and where it is kept.
struct ServeTarget {
  QString device;         ///< as `--device` takes it: "0", "simulated:H200"
  QString database;       ///< the file; made when there is none
  bool why = false;       ///< counts the use of each unit as well: GPUs alone
  QStringList more = {};  ///< other options of `collect`: {"--no-verify"}

  bool operator==(const ServeTarget&) const = default;
  /// What follows the program's name on its command line.
  [[nodiscard]] QStringList arguments() const;
};

class ServeSession : public QObject {
  Q_OBJECT
 public:
  explicit ServeSession(QObject* parent = nullptr);
  /// What is open is neither measured nor answered.
  ~ServeSession() override = default;

  /// For what is asked from now on. Another target than before: what is open is cancelled, and the session ends.
  void set_target(const ServeTarget& target);
  [[nodiscard]] const ServeTarget& target() const { return target_; }

  /// Asks for exactly this point, after all that have a higher priority or came earlier with the same; its id.
  QString measure(const PointSpec& spec, std::int64_t priority = 0);
  /// Of a point in flight: after its launch. An id that has its answer is passed over.
  void cancel(const QString& id);
  void cancel_all();
  /// Lets go of device and file once what is open is measured.
  void end();

  /// Requests without an answer.
  [[nodiscard]] qsizetype open() const { return open_.size(); }
  /// Whether a collector is at work, or waits for requests.
  [[nodiscard]] bool running() const { return state_ != State::idle; }

 signals:
  void session_started(const attnscope::PlanEvent& event);  ///< device, counters, file and run
  void point_queued(const QString& id);
  void point_started(const QString& id);
  /// Whatever came of it: PointEvent::disposition says, and `point_id` is its place in the file.
  void point_finished(const QString& id, const attnscope::PointEvent& event);
  void point_refused(const QString& id, const QString& reason);
  void point_cancelled(const QString& id);
  void kernel_built(const attnscope::BuildEvent& event);
  void progressed(const attnscope::ProgressEvent& event);
  void logged(const attnscope::LogEvent& event);
  void failed(const QString& reason);
  void ended();  ///< no collector runs any more; device and file are free

 private:
  enum class State { idle, serving, ending };
  struct Request {
    PointSpec spec;
    std::int64_t priority = 0;
    std::uint64_t arrival = 0;
    bool sent = false;
    bool cancelled = false;  ///< asked, and not confirmed
  };

  void start();
  void send(const QString& id, Request& request);
  /// Nothing where it has its answer already.
  bool close_request(const QString& id);
  [[nodiscard]] std::vector<QString> ids_by_arrival() const;
  void refuse_all(const QString& reason);
  void on_failure(const QString& reason);
  void on_end();

  ServeTarget target_;
  CollectorProcess process_;
  State state_ = State::idle;
  QHash<QString, Request> open_;
  std::uint64_t asked_ = 0;
};

}  // namespace attnscope::ui
