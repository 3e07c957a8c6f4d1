// SPDX-License-Identifier: GPL-3.0-or-later
// The files that are open, their runs, and which of them are drawn. Reads in a thread of its own: the window does not
// wait for a disk, but for the record of one point that somebody looks at (models/point_records.h). Views hold shared
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

#include "profiler/analysis/point_query.h"
#include "storage/file_stamp.h"
#include "storage/run_store.h"
#include "ui/process/live.h"
#include "ui/runs/file_contents.h"
#include "ui/runs/loaded_runs.h"
#include "ui/runs/point_selection.h"
#include "ui/runs/point_set.h"
#include "ui/runs/run_points.h"

namespace attnscope::ui {

/// A set of ceilings, and the open file that keeps it.
struct FileCeilings {
  QString file;
  StoredCeilings set;
};
class Workspace : public QObject {
  Q_OBJECT
 public:
  explicit Workspace(QObject* parent = nullptr);
  ~Workspace() override;

  /// Reads in the background; ends in opened() or open_failed().
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
  /// What the query leaves of them: what all views show; of large files, those of them that are in memory.
  [[nodiscard]] std::shared_ptr<const PointSet> visible() const;
  /// Whether visible() is being made anew aside: points_changed() follows. Who asks for it meanwhile makes it at once.
  [[nodiscard]] bool gathering() const { return gather_.busy(); }
  /// Until that is said: for pictures and files.
  void settle() { gather_.wait(); }
  /// Whether a ticked run is of a file that has more points than are kept in memory.
  [[nodiscard]] bool large() const;
  /// Of the ticked runs, in memory or not.
  [[nodiscard]] std::size_t ticked_points() const;
  /// All of them, and which of them fit the query, where large(); null while that is being found out.
  [[nodiscard]] const std::shared_ptr<const Listing>& listing() const { return listing_; }
  /// While it is, how far: "34%"; empty else, and before anything is known.
  [[nodiscard]] bool selecting() const { return select_.busy(); }
  [[nodiscard]] QString selected_share() const;
  /// Why listing() is null where nothing is being found out: a sentence; else empty. What is in memory is visible.
  [[nodiscard]] const QString& selection_error() const { return selection_error_; }
  /// Of a large file all points that are ticked, as far as they are known, without values; null where there is none, or
  /// where nobody has looked through it yet.
  [[nodiscard]] const std::shared_ptr<const PointSet>& all_settings() const { return all_settings_; }
  /// How many points of a file are kept in memory; of what is opened from now on.
  void set_most_loaded(std::size_t points) { most_loaded_ = points; }
  [[nodiscard]] std::size_t most_loaded() const { return most_loaded_; }
  /// From now on only points that fit (analysis/point_query.h) are visible; of an empty one all are. The error, empty
  /// when it is understood; an error changes nothing.
  Message set_query(const QString& text);
  /// Of a query the first word that set_query() refuses, by its place in characters; of length 0 where there is none.
  struct Word {
    qsizetype begin = 0;
    qsizetype length = 0;
  };
  [[nodiscard]] Word wrong_word(const QString& text) const;
  /// The one that holds, without blanks around it.
  [[nodiscard]] QString query() const { return query_text_; }
  /// What the devices of all open files were found to be capable of.
  [[nodiscard]] const std::vector<FileCeilings>& ceilings() const { return ceilings_; }
  [[nodiscard]] bool loading() const { return pending_reads_ > 0; }
  /// The files of which nothing is shown yet, while they are read, by name with commas between, large ones with how
  /// much of them is read: "sweep.attnscope (34%)"; empty when there are none.
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
  /// listing() or selecting() gives something else.
  void listing_changed();

 private:
  /// `goes_on`: points were added to those that were there, all of which are as they were.
  void announce_points(bool goes_on = false);
  /// Makes visible(), of many points aside, and says points_changed().
  void gather(bool goes_on, bool other_query);
  void say_points(bool goes_on, bool other_query);
  /// The same without deciding what follows: `then` does.
  void gather_then(std::function<void()> then);
  /// Before anything of runs_ is another, which gathering looks at; gather() or go_on_gathering() has to follow.
  void stop_gathering() {
    gather_.stop();
    ticked_points_.reset();
  }
  void go_on_gathering();
  void end_gathering();
  [[nodiscard]] std::vector<PointSet::Part> ticked_parts() const;
  /// What a query may name besides what ticked() has: a knob of a point that is not in memory.
  [[nodiscard]] std::vector<const analysis::PointColumns*> more_columns() const;
  /// Of large files: finds out what fits, and reads of it what is to be in memory.
  void select_anew(bool goes_on);
  /// What is being selected, if anything is, is of no use any more.
  void supersede();
  [[nodiscard]] SelectionAsk selection_ask(bool goes_on) const;
  void take_selection(Selection& selection);
  void read_in_background(const QString& path, bool edited = false);
  /// Of a large file's run that grows, values that are of other points than those that are in memory now.
  [[nodiscard]] bool are_of_others(const FileContents& contents, const LoadedRun& run) const;
  void read_to_the_end(const QString& path, std::function<void(FileContents&)> then, bool edited = false);
  void take_read(FileContents& contents);
  void name_runs();
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

  QStringList files_;
  QStringList opening_;
  std::map<QString, std::shared_ptr<ReadProgress>> progress_;  ///< of those that are read
  QTimer progress_timer_;
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
  std::size_t most_loaded_ = most_points_loaded;
  std::shared_ptr<const Listing> listing_;
  std::shared_ptr<ReadProgress> selected_;  ///< of the selection that is under way
  bool lists_anew_ = false;                 ///< it is of other points than listing_
  bool select_again_ = false;               ///< points came while one was
  Live<SelectionAsk, Selection> select_;
  QThreadPool reader_;
  int pending_reads_ = 0;
  QString selection_error_;                       ///< of the last one
  std::shared_ptr<const PointSet> all_settings_;  ///< of the last one that gave a listing
  int taken_selections_ = 0;  ///< that chose anew what is in memory: what was asked for before is of other points
  /// Files of which values were read again while a selection was made, which may have read them before.
  std::set<QString> outrun_;
  std::set<std::pair<QString, std::int64_t>> outdated_;  ///< runs, to be read again, though they grow no more
  bool owes_points_ = false;                             ///< points_changed() was announced by points_awaited()
  struct Gathered {
    std::vector<PointSet::Part> parts;  ///< of the ticked points, where these are not made yet
    analysis::PointQuery query;
    std::shared_ptr<const PointSet> ticked;
    std::shared_ptr<const PointSet> visible;
  };
  std::function<void()> gathered_;   ///< what follows
  Live<Gathered, Gathered> gather_;  ///< the last: it looks at runs_ while it works
};

}  // namespace attnscope::ui
