// SPDX-License-Identifier: GPL-3.0-or-later
// Runs `attnscope collect --jsonl` as a child process, which owns the GPU and the database. Every start() ends with
// exactly one signal, even if a kernel crashes the process.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <optional>
#include <string_view>

#include "profiler/worker/protocol.h"

namespace attnscope::ui {

/// Returns the command-line program: $ATTNSCOPE_COLLECTOR, else in this program's folder, else in PATH; empty if not
/// found.
[[nodiscard]] QString find_collector();

struct CollectRequest {
  QString preset;  ///< empty: axes only
  QStringList axes;
  QStringList algorithms;
  QString device;  ///< "0", "simulated", "simulated:H200"
  bool warm_cache = false;
  bool resume = false;
  QString database;
  int rounds = 1;

  [[nodiscard]] QStringList arguments() const;
};

/// `attnscope ceilings` on a GPU, stored in a file.
struct CeilingsTask {
  QString device;  ///< argument of --device
  QString name;    ///< display name
  QString database;

  [[nodiscard]] QStringList arguments() const;
};

class CollectorProcess : public QObject {
  Q_OBJECT
 public:
  explicit CollectorProcess(QObject* parent = nullptr);
  ~CollectorProcess() override;

  void start_collector(const QStringList& arguments);
  /// Sends a request line to a session (`collect --serve`); see profiler/worker/requests.h.
  void write_request(std::string_view line);
  [[nodiscard]] QString last_error_line() const;
  void start(const QString& program, const QStringList& arguments);
  /// Asks it to stop after the current launch; terminates it after a timeout.
  void cancel();
  /// Kills it; committed points are kept. Pre: cancel().
  void kill_now();
  [[nodiscard]] bool is_running() const { return process_.state() != QProcess::NotRunning; }

 signals:
  void planned(const attnscope::PlanEvent& event);
  void kernel_built(const attnscope::BuildEvent& event);
  void point_started(const attnscope::StartedEvent& event);
  void point_done(const attnscope::PointEvent& event);
  void request_queued(const attnscope::QueuedEvent& event);  ///< this and the next two: sessions only
  void request_cancelled(const attnscope::CancelledEvent& event);
  void request_refused(const attnscope::RefusedEvent& event);
  void progressed(const attnscope::ProgressEvent& event);
  void logged(const attnscope::LogEvent& event);

  // Each start() ends with exactly one of these.
  void finished(const attnscope::DoneEvent& done);
  void cancelled(const attnscope::DoneEvent& done);
  void failed(const QString& reason);
  void crashed(const QString& reason);

 private:
  void read_lines();
  void handle_line(const QByteArray& line);
  void process_ended(int exit_code, QProcess::ExitStatus status);

  QProcess process_;
  QByteArray output_;
  QByteArray errors_;
  bool cancel_requested_ = false;
  bool ended_ = false;
  std::optional<DoneEvent> done_;
  QTimer escalation_timer_;
  int escalations_ = 0;
};

}  // namespace attnscope::ui
