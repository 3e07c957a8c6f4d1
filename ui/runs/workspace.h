// SPDX-License-Identifier: GPL-3.0-or-later
// Open files, their runs, and which runs are visible. Files are read in a background thread, except single records
// (point_record_reader.h). Views hold shared pointers, so their data stays valid while a run grows.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/files/file_system.h"
#include "profiler/points/point_query.h"
#include "storage/run_store.h"
#include "ui/process/background_task.h"
#include "ui/runs/file_contents.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

struct FileCeilings {
  QString file;
  StoredCeilings set;
};
class Workspace : public QObject {
  Q_OBJECT
 public:
  /// `most`: maximum points over all open files.
  explicit Workspace(QObject* parent = nullptr, std::size_t most = most_points);
  ~Workspace() override;

  /// Opens a file in the background; emits opened() or open_failed(), which includes too many points.
  void open(const QString& path);
  /// Opens a file synchronously and without the limit of points, for programs without a window. Returns the error;
  /// empty on success.
  QString open_blocking(const QString& path);
  void close(const QString& path);
  /// Reads points that a collector adds, repeatedly while a run of the file is running.
  void follow(const QString& path);
  /// Call when the collector has ended: reads once more, then stops following.
  void stop_following(const QString& path);
  /// Reads what changed in an open file. Visibility is kept, except for runs that were hidden or unhidden.
  void refresh(const QString& path);

  [[nodiscard]] const QStringList& files() const { return files_; }
  [[nodiscard]] QStringList requested_files() const;
  /// Returns the name from distinct_file_names(), on one line.
  [[nodiscard]] QString file_name(const QString& path) const;
  [[nodiscard]] bool is_following() const { return !followed_.empty(); }
  [[nodiscard]] const std::vector<LoadedRun>& runs() const { return runs_; }
  /// Returns the points of the visible runs, without duplicates from copies. Cached until points_changed().
  [[nodiscard]] std::shared_ptr<const PointSet> checked() const;
  /// Returns the points of checked() that match the query; shown by all views.
  [[nodiscard]] std::shared_ptr<const PointSet> visible() const;
  /// Returns true while visible() is being recomputed in the background; points_changed() follows. Calling visible()
  /// before that computes it at once.
  [[nodiscard]] bool is_gathering() const { return gather_.is_busy(); }
  void wait_until_idle() { gather_.wait(); }
  [[nodiscard]] std::size_t checked_points() const;
  /// Sets the query that filters visible points (profiler/points/point_query.h); empty: all. Returns the error; empty
  /// on success. On error the query is unchanged.
  Message set_query(const QString& text);
  [[nodiscard]] QString query() const { return query_text_; }
  [[nodiscard]] const std::vector<FileCeilings>& ceilings() const { return ceilings_; }
  [[nodiscard]] bool is_loading() const { return pending_reads_ > 0; }
  /// Returns the names of files being opened that show nothing yet, separated by commas.
  [[nodiscard]] QString opening() const;
  void set_run_visible(std::size_t run, bool visible);
  void show_only(std::size_t run);
  /// File and RunSummary::uid of a run, whether read or not.
  using RunKey = std::pair<QString, std::string>;
  /// Runs whose visibility differs from their hidden flag.
  using CheckedRuns = std::map<RunKey, bool>;
  void set_checked_runs(const CheckedRuns& checked_runs);
  [[nodiscard]] CheckedRuns checked_runs() const;
  /// Returns the index of a run in runs(); nullopt if it has not been read. `path` need not be canonical.
  [[nodiscard]] std::optional<std::size_t> index_of(const QString& path, std::int64_t run) const;

 signals:
  void opened(const QString& path);
  void open_failed(const QString& path, const QString& reason);
  /// Some rows were skipped as damaged; emitted once per message.
  void rows_skipped(const QString& path, const QString& what);
  /// The file was replaced by another one, which was read. `what`: message.
  void file_replaced(const QString& path, const QString& what);
  void opening_changed();
  void query_changed();
  void runs_changed();
  void ceilings_changed();
  /// visible() has changed or failed.
  void points_changed();
  void points_pending();

 private:
  void announce_points();
  /// Computes visible(), in the background if there are many points, and emits points_changed().
  void gather();
  /// Call before changing runs_, which gathering reads; then call gather() or resume_gathering().
  void stop_gathering() {
    gather_.stop();
    checked_points_.reset();
  }
  void resume_gathering();
  void end_gathering();
  [[nodiscard]] std::vector<PointSet::Part> checked_parts() const;
  void read_in_background(const QString& path);
  void read_file_async(const QString& path, std::function<void(FileContents&)> then);
  void handle_read(FileContents& contents);
  void name_runs();
  [[nodiscard]] std::size_t remaining_points(const QString& path) const;
  /// If memory runs out, closes the file and sets contents.error.
  void accept(FileContents& contents, bool first);
  void update_ceilings(const FileContents& contents);
  bool update_noise(const FileContents& contents);
  void add_contents(FileContents& contents, bool first);
  enum class Change { none, points, runs };
  /// Replaces the runs of a file and the points of those that were read.
  Change update_runs(FileContents& contents);
  [[nodiscard]] bool initially_visible(const QString& file, const RunSummary& run);
  void begin_opening(const QString& path);
  void end_opening(const QString& path);
  void poll();
  [[nodiscard]] std::optional<KnownFile> known(const QString& path) const;

  std::size_t max_points_;
  QStringList files_;
  QStringList opening_;
  std::map<QString, FileStamp> stamps_;  ///< stamp at the last read of each file
  std::map<QString, QString> file_names_;
  std::vector<LoadedRun> runs_;
  CheckedRuns unread_checked_runs_;  ///< visibility of runs that have not been read
  std::vector<FileCeilings> ceilings_;
  std::map<QString, std::vector<StoredNoise>> noise_;
  analysis::PointQuery query_;
  QString query_text_;
  /// nullopt: must be recounted, which may compare points of copies
  mutable std::optional<std::size_t> checked_points_;
  mutable std::shared_ptr<const PointSet> checked_;  ///< null: must be computed, as visible_
  mutable std::shared_ptr<const PointSet> visible_;
  std::map<QString, QString> skipped_;  ///< message by path
  std::map<QString, bool> followed_;    ///< by path: whether a read is running
  QTimer follow_timer_;
  QThreadPool reader_;
  int pending_reads_ = 0;
  bool points_pending_ = false;  ///< points_pending() was emitted, points_changed() not yet
  struct GatherTask {
    std::vector<PointSet::Part> parts;  ///< empty if `checked` is already computed
    analysis::PointQuery query;
    std::shared_ptr<const PointSet> checked;
    std::shared_ptr<const PointSet> visible;
  };
  BackgroundTask<GatherTask, GatherTask> gather_;  ///< last member: its work reads runs_
};

}  // namespace attnscope::ui
