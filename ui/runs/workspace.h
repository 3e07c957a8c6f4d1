// SPDX-License-Identifier: GPL-3.0-or-later
// The files that are open, their runs, and which of them are drawn. Reads in a thread of its own: the window does not
// wait for a disk, but for the record of one point that somebody looks at (point_records.h). Views hold shared
// pointers, so what they draw stays valid while a run grows.
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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/files/file_system.h"
#include "profiler/points/point_query.h"
#include "storage/run_store.h"
#include "ui/process/live.h"
#include "ui/runs/file_contents.h"
#include "ui/runs/loaded_runs.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// A set of ceilings, and the open file that keeps it.
struct FileCeilings {
  QString file;
  StoredCeilings set;
};
class Workspace : public QObject {
  Q_OBJECT
 public:
  /// `most`: points of all open files together.
  explicit Workspace(QObject* parent = nullptr, std::size_t most = most_points);
  ~Workspace() override;

  /// Reads in the background; ends in opened() or open_failed(), also where all open files would have too many points.
  void open(const QString& path);
  /// The same, but waits, and reads all of it, however large: for programs without a window. Returns the error, empty
  /// when it is open.
  QString open_now(const QString& path);
  void close(const QString& path);
  /// Reads what a collector has added, soon; `follow` goes on by itself while a run of the file is marked running.
  void follow(const QString& path);
  /// The collector on this file has ended: reads once more, then stops following it.
  void stop_following(const QString& path);
  /// The file is not what this run was read from: forgets what was read of it, says so (file_replaced()) and reads it
  /// again, unless that was done since the run was read.
  void read_anew(const RunInfo& as_read);
  /// Somebody has edited what is said of the file's runs: reads it again. Ticks stay, but of what is hidden now, or no
  /// longer.
  void read_edited(const QString& path);

  [[nodiscard]] const QStringList& files() const { return files_; }
  /// With those that are being opened.
  [[nodiscard]] QStringList wanted_files() const;
  /// What tells an open file from the others: distinct_file_names(), on one line.
  [[nodiscard]] QString file_name(const QString& path) const;
  /// Whether some file is being followed.
  [[nodiscard]] bool following() const { return !followed_.empty(); }
  [[nodiscard]] const std::vector<LoadedRun>& runs() const { return runs_; }
  /// The points of the ticked runs, of which a copy in another file adds nothing; made once for all who ask, until
  /// points_changed().
  [[nodiscard]] std::shared_ptr<const PointSet> ticked() const;
  /// What the query leaves of them: what all views show.
  [[nodiscard]] std::shared_ptr<const PointSet> visible() const;
  /// Whether visible() is being made anew aside: points_changed() follows. Who asks for it meanwhile makes it at once.
  [[nodiscard]] bool gathering() const { return gather_.busy(); }
  /// Until that is said: for pictures and files.
  void settle() { gather_.wait(); }
  /// Of the ticked runs.
  [[nodiscard]] std::size_t ticked_points() const;
  /// From now on only points that fit (analysis/point_query.h) are visible; of an empty one all are. The error, empty
  /// when it is understood; an error changes nothing.
  Message set_query(const QString& text);
  /// The one that holds, without blanks around it.
  [[nodiscard]] QString query() const { return query_text_; }
  /// What the devices of all open files were found to be capable of.
  [[nodiscard]] const std::vector<FileCeilings>& ceilings() const { return ceilings_; }
  [[nodiscard]] bool loading() const { return pending_reads_ > 0; }
  /// The files of which nothing is shown yet, while they are read, by name with commas between.
  [[nodiscard]] QString opening() const;
  void set_run_visible(std::size_t run, bool visible);
  void show_only(std::size_t run);
  /// A run by its file and RunSummary::uid, whether it has been read or not.
  using NamedRun = std::pair<QString, std::string>;
  /// Runs that are ticked though they are hidden, and those that are not ticked though they are not hidden.
  using Ticks = std::map<NamedRun, bool>;
  /// From now on these alone are ticked otherwise than their words say.
  void set_ticks(const Ticks& ticks);
  [[nodiscard]] Ticks ticks() const;
  /// The place of a run in runs(); nothing while it has not been read. The path need not be canonical.
  [[nodiscard]] std::optional<std::size_t> place_of(const QString& path, std::int64_t run) const;

 signals:
  void opened(const QString& path);
  void open_failed(const QString& path, const QString& reason);
  /// Some rows of the file are not what was written and are not shown; said once for each sentence.
  void rows_skipped(const QString& path, const QString& what);
  /// Another file has come in the place of one that was read, of which all was forgotten; `what` says so.
  void file_replaced(const QString& path, const QString& what);
  /// What opening() gives has changed.
  void opening_changed();
  /// Another query holds.
  void query_changed();
  /// Runs were added, removed or changed state.
  void runs_changed();
  void ceilings_changed();
  /// What visible() gives has changed, for whatever reason, or why it gives nothing.
  void points_changed();
  /// gathering() has begun.
  void points_awaited();

 private:
  void announce_points();
  /// Makes visible(), of many points aside, and says points_changed().
  void gather();
  /// Before anything of runs_ is another, which gathering looks at; gather() or go_on_gathering() has to follow.
  void stop_gathering() {
    gather_.stop();
    ticked_points_.reset();
  }
  void go_on_gathering();
  void end_gathering();
  [[nodiscard]] std::vector<PointSet::Part> ticked_parts() const;
  void read_in_background(const QString& path, bool edited = false);
  void read_to_the_end(const QString& path, std::function<void(FileContents&)> then, bool edited = false);
  void take_read(FileContents& contents);
  void name_runs();
  /// Points that may still be read of a file.
  [[nodiscard]] std::size_t room_for(const QString& path) const;
  /// Memory that runs out closes the file: `contents` then has the error.
  void accept(FileContents& contents, bool first);
  void take_ceilings(const FileContents& contents);
  /// Whether the file says another noise than before.
  bool take_noise(const FileContents& contents);
  void take(FileContents& contents, bool first);
  /// Whether there is anything to announce.
  bool take_runs(FileContents& contents);
  /// One that has just been read, without its points.
  [[nodiscard]] LoadedRun begun(const FileContents& contents, const RunSummary& run);
  /// Whether it is to be ticked.
  [[nodiscard]] bool take_tick(const QString& file, const RunSummary& run);
  /// In place of what was read of it.
  void replace_runs(const FileContents& contents);
  void forget(const QString& path);
  void say_replaced(const QString& path);
  void begin_opening(const QString& path);
  void end_opening(const QString& path);
  void poll();
  /// Nothing before the first read.
  [[nodiscard]] std::optional<KnownFile> known(const QString& path) const;

  std::size_t most_;
  QStringList files_;
  QStringList opening_;
  std::map<QString, FileStamp> stamps_;  ///< of what was read of each file
  std::map<QString, QString> file_names_;
  std::vector<LoadedRun> runs_;
  Ticks ticks_;  ///< of those that have not been read
  std::vector<FileCeilings> ceilings_;
  std::map<QString, std::vector<StoredNoise>> noise_;  ///< by path
  analysis::PointQuery query_;
  QString query_text_;
  mutable std::optional<std::size_t> ticked_points_;  ///< nothing: to be counted, which may compare points of copies
  mutable std::shared_ptr<const PointSet> ticked_;    ///< null: to be made
  mutable std::shared_ptr<const PointSet> visible_;   ///< null: to be made
  std::map<QString, QString> skipped_;                ///< path -> what was said of it
  std::map<QString, bool> followed_;                  ///< path -> a read of it is under way
  QTimer follow_timer_;
  QThreadPool reader_;
  int pending_reads_ = 0;
  bool owes_points_ = false;  ///< points_changed() was announced by points_awaited()
  struct Gathered {
    std::vector<PointSet::Part> parts;  ///< of the ticked points, where these are not made yet
    analysis::PointQuery query;
    std::shared_ptr<const PointSet> ticked;
    std::shared_ptr<const PointSet> visible;
  };
  Live<Gathered, Gathered> gather_;  ///< the last: it looks at runs_ while it works
};

}  // namespace attnscope::ui
