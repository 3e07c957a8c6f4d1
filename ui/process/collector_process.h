// SPDX-License-Identifier: GPL-3.0-or-later
// `attnscope collect --jsonl` as a child process: it owns the GPU and the database, and its end is always one named
// outcome. A kernel that takes it down takes nothing else.
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

/// The command-line program: $ATTNSCOPE_COLLECTOR, else beside this program, else in PATH; empty when there is none.
[[nodiscard]] QString find_collector();

struct CollectRequest {
  QString preset;  ///< empty: free axes only
  QStringList axes;
  QStringList algorithms;
  QString device;  ///< "0", "simulated", "simulated:H200"
  bool warm_cache = false;
  bool resume = false;
  QString database;
  int rounds = 1;

  /// What follows the program's name on its command line.
  [[nodiscard]] QStringList arguments() const;
};

/// `attnscope ceilings` of a GPU, kept in a file.
struct DeviceWork {
  QString device;  ///< as --device takes it
  QString name;    ///< for people
  QString database;

  [[nodiscard]] QStringList arguments() const;
};

class CollectorProcess : public QObject {
  Q_OBJECT
 public:
  explicit CollectorProcess(QObject* parent = nullptr);
  ~CollectorProcess() override;

  void start(const CollectRequest& request);
  /// The command-line program with these arguments.
  void start_collector(const QStringList& arguments);
  /// Asks a session (`collect --serve`) for something: a line of profiler/worker/requests.h.
  void write_request(std::string_view line);
  /// What it said last on its standard error.
  [[nodiscard]] QString last_error_line() const;
  /// For tests and for what is not a collection: any program that speaks the protocol.
  void start(const QString& program, const QStringList& arguments);
  /// Asks it to stop after the launch in flight; insists when it does not.
  void cancel();
  /// Ends it as it is, for one that does not stop; what it has committed stays. Pre: cancel().
  void end_now();
  [[nodiscard]] bool running() const { return process_.state() != QProcess::NotRunning; }

 signals:
  void planned(const attnscope::PlanEvent& event);
  void kernel_built(const attnscope::BuildEvent& event);
  void point_started(const attnscope::StartedEvent& event);
  void point_done(const attnscope::PointEvent& event);
  void request_queued(const attnscope::QueuedEvent& event);  ///< a session's, as the next two
  void request_cancelled(const attnscope::CancelledEvent& event);
  void request_refused(const attnscope::RefusedEvent& event);
  void progressed(const attnscope::ProgressEvent& event);
  void logged(const attnscope::LogEvent& event);

  // Exactly one of these ends every start().
  void finished(const attnscope::DoneEvent& done);
  void cancelled(const attnscope::DoneEvent& done);
  void failed(const QString& reason);
  void crashed(const QString& reason);

 private:
  void read_lines();
  void take_line(const QByteArray& line);
  void process_ended(int exit_code, QProcess::ExitStatus status);

  QProcess process_;
  QByteArray output_;
  QByteArray errors_;
  bool cancel_asked_ = false;
  bool ended_ = false;
  std::optional<DoneEvent> done_;
  QTimer insist_;
  int insistence_ = 0;
};

}  // namespace attnscope::ui
