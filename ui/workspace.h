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
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/model/gpu_values.h"
#include "profiler/analysis/point_query.h"
#include "storage/file_stamp.h"
#include "storage/run_store.h"
#include "ui/aside.h"
#include "ui/models/point_set.h"
#include "ui/models/run_points.h"
#include "ui/published_errors.h"
#include "ui/selection.h"

namespace attnscope::ui {

class PointMeasurer;

struct LoadedRun {
  RunPtr info;
  RunPoints points;  ///< of a large file those that were chosen to be in memory
  bool visible = true;
  SettingsPtr settings = nullptr;  ///< of a large file, of all points of the run; else null

  [[nodiscard]] std::size_t size() const { return settings == nullptr ? points.size() : settings->points.size(); }
};

/// A title each: run_title(). Where runs of one device share it, each property in which they differ is appended, from
/// the coarse to the fine, until all titles differ ("PyTorch · bwd", "PyTorch · fwd · n_q 1"); what is still alike then
/// gets a number.
[[nodiscard]] std::vector<QString> distinct_titles(const std::vector<LoadedRun>& runs);

/// Whether all that run `a` holds stands in `b` as well: they are one run, copied.
[[nodiscard]] bool is_copy(const LoadedRun& a, const LoadedRun& b);

/// By path: the file's name, with as many folders before it as set it apart from the others' ("a/sweep.attnscope").
[[nodiscard]] std::map<QString, QString> distinct_file_names(const QStringList& paths);

/// What was read of a file, by which a later read tells whether it still is that file.
struct KnownFile {
  FileStamp stamp = {};
  std::map<std::int64_t, std::string> runs = {};  ///< their uids by id
  std::int64_t last_point = 0;                    ///< its id
  std::set<std::int64_t> grows = {};  ///< runs of several rounds that ran: points that are known may have got rounds
  std::map<std::int64_t, SettingsPtr> settings = {};              ///< of a large file, by run
  std::map<std::int64_t, std::vector<std::int64_t>> loaded = {};  ///< of a large file's runs that grow, ids in memory

  /// Whether a file with this stamp and these runs goes on where this one was left. The runs are asked as well as the
  /// stamp: a new file may have got the inode of one that was removed.
  [[nodiscard]] bool goes_on_in(const FileStamp& there, const std::vector<RunSummary>& runs_there) const;
};

/// What one read of a file gave: `error` is one sentence, and then nothing else is set.
struct FileContents {
  QString path;
  FileStamp stamp;
  bool whole = true;                 ///< read from its first point on
  std::set<std::int64_t> anew = {};  ///< runs that were read from their first point on where the file was not
  std::vector<RunSummary> runs;
  std::map<std::int64_t, RunPoints> points;           ///< by run
  std::map<std::int64_t, SettingsPtr> settings = {};  ///< of a large file, by run: of all of their points
  std::vector<StoredCeilings> ceilings;
  QString skipped;  ///< rows that were left out, one sentence; empty when there are none
  QString error;
};
/// A set of ceilings, and the open file that keeps it.
struct FileCeilings {
  QString file;
  StoredCeilings set;
};
/// What comes after what is known of the file; all of it where nothing is known, or where another file has come in its
/// place. Of a file with more than `most` points the values of the latest alone are read, and of all what they were set
/// to; without `most` all are. Blocking; opens read-only. Never throws.
[[nodiscard]] FileContents read_file(const QString& path, const std::optional<KnownFile>& known = {},
                                     ReadProgress* progress = nullptr, std::optional<std::size_t> most = {});

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

  [[nodiscard]] const QStringList& files() const { return files_; }
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
  [[nodiscard]] bool selecting() const { return superseded_ != nullptr; }
  [[nodiscard]] QString selected_share() const;
  /// How many points of a file are kept in memory; of what is opened from now on.
  void set_most_loaded(std::size_t points) { most_loaded_ = points; }
  [[nodiscard]] std::size_t most_loaded() const { return most_loaded_; }
  /// From now on only points that fit (analysis/point_query.h) are visible; of an empty one all are. The error, empty
  /// when it is understood; an error changes nothing.
  Message set_query(const QString& text);
  /// The one that holds, without blanks around it.
  [[nodiscard]] QString query() const { return query_text_; }
  /// What the devices of all open files were found to be capable of.
  [[nodiscard]] const std::vector<FileCeilings>& ceilings() const { return ceilings_; }
  /// The window's one long-lived collector for points asked for one by one; made when it is first asked for.
  [[nodiscard]] PointMeasurer& measurer();
  /// Of what is simulated.
  [[nodiscard]] PublishedErrors& published_errors() { return published_errors_; }
  /// What is supposed of the memories of all GPUs, as the explorer's sliders have it: what is drawn of theory follows.
  [[nodiscard]] const WhatIf& what_if() const { return what_if_; }
  void suppose(const WhatIf& factors);
  [[nodiscard]] bool loading() const { return pending_reads_ > 0; }
  /// The files of which nothing is shown yet, while they are read, by name with commas between, large ones with how
  /// much of them is read: "sweep.attnscope (34%)"; empty when there are none.
  [[nodiscard]] QString opening() const;
  void set_run_visible(std::size_t run, bool visible);
  void show_only(std::size_t run);
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
  void what_if_changed();
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
  /// Before anything of runs_ is another, which gathering looks at; gather() or go_on_gathering() has to follow.
  void stop_gathering() { gather_.stop(); }
  void go_on_gathering();
  [[nodiscard]] std::vector<PointSet::Part> ticked_parts() const;
  /// Of large files: finds out what fits, and reads of it what is to be in memory.
  void select_anew(bool goes_on);
  [[nodiscard]] SelectionAsk selection_ask(bool goes_on) const;
  void take_selection(Selection& selection);
  void read_in_background(const QString& path);
  void read_to_the_end(const QString& path, std::function<void(FileContents&)> then);
  void take_read(FileContents& contents);
  void name_runs();
  /// Memory that runs out closes the file: `contents` then has the error.
  void accept(FileContents& contents, bool first);
  void take_ceilings(const FileContents& contents);
  void take(FileContents& contents, bool first);
  /// Whether there is anything to announce.
  bool take_runs(const FileContents& contents);
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
  std::vector<FileCeilings> ceilings_;
  WhatIf what_if_;
  analysis::PointQuery query_;
  QString query_text_;
  mutable std::shared_ptr<const PointSet> ticked_;   ///< null: to be made
  mutable std::shared_ptr<const PointSet> visible_;  ///< likewise
  std::map<QString, QString> skipped_;               ///< path -> what was said of it
  std::map<QString, bool> followed_;                 ///< path -> a read of it is under way
  QTimer follow_timer_;
  PublishedErrors published_errors_;
  PointMeasurer* measurer_ = nullptr;  ///< a child
  std::size_t most_loaded_ = most_points_loaded;
  std::shared_ptr<const Listing> listing_;
  std::shared_ptr<ReadProgress> selected_;         ///< of the selection that is under way
  std::shared_ptr<std::atomic<bool>> superseded_;  ///< null while none is
  bool lists_anew_ = false;                        ///< it is of other points than listing_
  bool select_again_ = false;                      ///< points came while one was
  QThreadPool selector_;
  QThreadPool reader_;
  int pending_reads_ = 0;
  bool owes_points_ = false;  ///< points_changed() was announced by points_awaited()
  Aside gather_;              ///< the last: it looks at runs_ while it works
};

/// The database of measurements that ships with the program; empty when there is none.
[[nodiscard]] QString recorded_sample();

}  // namespace attnscope::ui
