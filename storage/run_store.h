// SPDX-License-Identifier: Apache-2.0
// A `.attnscope` file: SQLite, WAL, one writer. Every number in it is in base units and says where it comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "profiler/files/file_error.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/shards.h"
#include "profiler/stats/recording_noise.h"

namespace attnscope {

// What a person says of a run, and how that is changed. Outside the checksum of the run.

inline constexpr std::size_t longest_run_name = 200;  ///< bytes
inline constexpr std::size_t longest_run_tag = 64;
inline constexpr std::size_t longest_run_note = 16'384;
inline constexpr std::size_t most_run_tags = 64;

struct RunWords {
  std::string name;               ///< empty: none
  std::string note;               ///< of several lines
  std::vector<std::string> tags;  ///< sorted, each once
  bool hidden = false;            ///< a window does not draw it until it is asked to
  bool deleted = false;           ///< not read any more; merging keeps it, a compact copy leaves it out

  bool operator==(const RunWords&) const = default;
};

/// What is to be other; what is not named stays.
struct RunEdit {
  std::optional<std::string> name;  ///< empty: none from now on
  std::optional<std::string> note;
  std::vector<std::string> tag;
  std::vector<std::string> untag;
  std::optional<bool> hidden;
  std::optional<bool> deleted;

  bool operator==(const RunEdit&) const = default;
};

/// What is wrong with the words of an edit; empty when nothing is.
[[nodiscard]] Message out_of_bounds(const RunEdit&);
[[nodiscard]] RunWords edited(RunWords, const RunEdit&);

/// A run whose words were changed.
struct EditedRun {
  std::int64_t run = 0;
  std::string uid;
  RunWords words;  ///< after the edit
};

struct RunHeader {
  DeviceInfo device;
  Environment environment;
  std::string preset;
  std::vector<std::string> argv;
  std::string plan_hash;  ///< equal for equal plans: --resume looks for it
  std::size_t planned_points = 0;
  MeasureOptions options;
  bool imported = false;               ///< the points come from another program's measurement
  std::string simulated_because = {};  ///< why a simulation stands for the GPU that was wanted; empty: it was asked for
  std::string uid = {};  ///< of a part of a plan that several collectors share out: the same in each; empty: a new one
  Shard shard = {};      ///< of the plan that this run is of; hash and number of points are those of the whole plan
  int rounds = 1;        ///< how often the plan is measured
  std::uint64_t order_seed =
      0;  ///< of several rounds: what the order of points in each comes of (profiler/plan/round_order.h)
};

/// A run that is stored whole.
struct CompleteRun {
  RunHeader header;
  std::vector<PointRecord> points;
};

enum class StoredRunState { running, complete, cancelled, interrupted, failed };

/// Whether a run's content is that of its checksum.
enum class RunIntegrity {
  verified,
  unverified,  ///< it has no checksum: its collector runs or was killed
  damaged      ///< the checksum differs or is missing; its numbers may be wrong, and are given
};

struct RunSummary {
  std::int64_t id = 0;
  std::string uid;  ///< stays with the run through copies and merges
  std::string device_name;
  std::string device_uuid;
  bool simulated = false;
  Provenance provenance = Provenance::measured;  ///< of its points: measured, simulated or imported
  std::string preset;
  std::string started_at;   ///< ISO 8601, UTC
  std::string finished_at;  ///< empty while running
  StoredRunState state = StoredRunState::running;
  std::size_t planned_points = 0;
  std::size_t points = 0;
  std::size_t ok_points = 0;
  std::vector<std::string> argv;
  int device_ordinal = 0;
  DeviceLimits limits;
  Environment environment;
  std::string plan_hash;
  MeasureOptions options;
  std::string simulated_because;  ///< RunHeader's
  std::string l2_from;            ///< DeviceInfo's; also empty in simulations by versions that did not say
  std::string rates_from;         ///< DeviceInfo's
  int rounds = 1;                 ///< how often the plan was to be measured
  std::uint64_t order_seed = 0;   ///< RunHeader's
  std::vector<Shard> shards;      ///< of its plan that it has; empty: it is no part of one that was cut
  RunIntegrity integrity = RunIntegrity::verified;
  RunWords words;  ///< what a person said of it
};

/// Not of some shards of it alone.
[[nodiscard]] inline bool is_of_whole_plan(const RunSummary& run) {
  return run.shards.empty() || run.shards.size() == static_cast<std::size_t>(run.shards.front().count);
}

/// How far a point of a run is.
struct MeasuredRounds {
  std::size_t index = 0;  ///< its place in the plan
  Disposition disposition = Disposition::ok;
  std::vector<int> rounds;  ///< those that left times, ascending
  std::string device_uuid;  ///< of what ran it
};

struct StoredPoint {
  std::int64_t id = 0;
  std::int64_t run_id = 0;
  std::size_t index = 0;    ///< place in the run's plan
  std::string device_uuid;  ///< of what ran it
  PointRecord record;
};

/// What a device was found to be capable of, at one time.
struct StoredCeilings {
  std::string uid;  ///< the digest of all of it: it stays through copies and merges
  std::string device_uuid;
  std::string device_name;
  Environment environment;
  std::string measured_at;  ///< ISO 8601, UTC
  std::vector<Ceiling> ceilings;
};

/// What one recording was found to do to points, at one time.
struct StoredNoise {
  std::string uid;  ///< as StoredCeilings'
  std::string device_uuid;
  std::string device_name;
  Environment environment;
  std::string measured_at;  ///< ISO 8601, UTC
  analysis::RecordingNoise noise;
  std::shared_ptr<const analysis::NoiseModel> model;  ///< of it
};

/// What is wrong with a file: a row that reading skipped, with all that belongs to it, or a run that is damaged.
struct BadRow {
  Message where;                           ///< "point 12 (run 1, place 3)"
  Message why;                             ///< "wall_seconds inf is not within ..."
  std::optional<std::int64_t> point = {};  ///< its id, where it is a point

  bool operator==(const BadRow&) const = default;
};

/// Move-only handle on one file. All members throw FileError.
class RunStore {
 public:
  enum class Mode {
    read_only,  ///< the file must exist; never writes, also not a -wal beside it for a file that no one writes
    collect,    ///< created when missing; a second collector is refused (Kind::locked)
  };
  /// `while_locked` is asked every few milliseconds while another program's lock is in a collector's way, with the
  /// milliseconds waited so far: false gives up (Kind::locked). Without it that is after five seconds.
  static RunStore open(const std::filesystem::path& file, Mode mode, std::function<bool(int)> while_locked = {});
  /// A new file that has its name only once `fill` is through with it: killed or failing before, there is none. Where
  /// one is already, unless it is empty, that is an error.
  static void create(const std::filesystem::path& file, const std::function<void(RunStore&)>& fill);

  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;
  ~RunStore();

  // Writing (Mode::collect). Each call is one transaction: what it returned from outlives this process, however it
  // ends; after finish_run() also a loss of power. Throws
  // where the file was removed or replaced.
  std::int64_t begin_run(const RunHeader&);
  std::int64_t add_point(std::int64_t run, std::size_t index, const PointRecord&);
  /// The same of one of the devices that share the run's plan: in place of whatever was found there.
  std::int64_t add_point(std::int64_t run, std::size_t index, const PointRecord&, const DeviceInfo&);
  /// What one more round found of a point that add_point() gave (profiler/metrics/rounds.h: add_round()); its id, which
  /// stays. A round that the point has already, or a point that is not what was written, is an error.
  std::int64_t add_round(std::int64_t run, std::size_t index, int round, const PointRecord& measured);
  void finish_run(std::int64_t run, StoredRunState);
  /// Marks it running again: it gets more points.
  void reopen_run(std::int64_t run);
  /// All of them, or none when one cannot be stored; their ids. `proceed` is called before each point: where it throws,
  /// none is stored.
  std::vector<std::int64_t> add_complete_runs(std::span<const CompleteRun>, const std::function<void()>& proceed = {});
  /// What a device was found to be capable of, now. Its uid.
  std::string add_ceilings(const DeviceInfo&, const Environment&, std::span<const Ceiling>);
  /// What a recording does to points, as found now. Its uid.
  std::string add_noise(const DeviceInfo&, const Environment&, const analysis::RecordingNoise&);
  /// Changes what a person says of these runs, deleted ones among them. Returns those that are other now; none is no
  /// error. Throws FileError for words that are out_of_bounds(), and for no run.
  std::vector<EditedRun> edit(std::span<const std::int64_t> runs, const RunEdit&);
  /// The points of a run that are not `cancelled`, with their rounds, by place.
  [[nodiscard]] std::vector<MeasuredRounds> measured_rounds(std::int64_t run) const;

  // Reading.
  /// A deleted run and its points are given if they are asked for, and nowhere but here.
  [[nodiscard]] std::vector<RunSummary> runs(bool deleted_too = false) const;
  /// Points of the given runs (empty: of all), by run, then index. `after_id` gives only points with a larger id: a
  /// viewer follows a run in progress with it.
  [[nodiscard]] std::vector<StoredPoint> points(std::span<const std::int64_t> runs = {}, std::int64_t after_id = 0,
                                                bool deleted_too = false) const;
  /// The points that points() gives, in that order and in one snapshot, of which a few hundred are in memory at a
  /// time.
  /// `begin` comes before the first of them, and again where the file changed meanwhile and reading starts anew: what
  /// was given before that is no one's content.
  void each_point(std::span<const std::int64_t> runs, std::int64_t after_id, const std::function<void()>& begin,
                  const std::function<void(StoredPoint&&)>& visit, bool deleted_too = false) const;
  /// One point; nothing where the file has none of that id, or where reading skips it.
  [[nodiscard]] std::optional<StoredPoint> point(std::int64_t id) const;
  /// What the file's users' kernels were stated by. `contents`: of sources that were kept, too.
  [[nodiscard]] std::vector<std::shared_ptr<const KernelStatement>> statements(bool contents = false) const;
  /// Of each statement, by its digest, the algorithms of the points that refer to it.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> algorithms_by_statement() const;
  /// By device, the oldest first.
  [[nodiscard]] std::vector<StoredCeilings> ceilings() const;
  /// The same of noise.
  [[nodiscard]] std::vector<StoredNoise> noise() const;
  /// What runs(), points(), ceilings() and what is like them have skipped until now, each row once.
  [[nodiscard]] std::vector<BadRow> bad_rows() const;
  /// Tables and views in the file that are not ours and are left alone: "table notes".
  [[nodiscard]] std::vector<std::string> extras() const;
  /// The whole file, page by page: what SQLite finds wrong with its structure and with what rows refer to, a sentence
  /// each. points() looks at what the rows say.
  [[nodiscard]] std::vector<Message> structural_damage() const;
  /// RunSummary::uid of a run; nothing where there is none of that id. Of one row, where runs() counts points.
  [[nodiscard]] std::optional<std::string> run_uid(std::int64_t run) const;
  [[nodiscard]] const std::filesystem::path& file() const;

 private:
  struct Impl;
  explicit RunStore(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

/// The point as a device gave it; where that holds what no file may, a crashed one that says so: one wrong value ends
/// no sweep.
[[nodiscard]] PointRecord storable(PointRecord measured);

[[nodiscard]] std::string_view to_string(StoredRunState);
[[nodiscard]] Message title(StoredRunState);

struct FileCheck {
  std::size_t runs = 0;             ///< deleted ones as well, for an edit brings them back
  std::size_t points = 0;           ///< that are as they should be
  std::size_t unverified = 0;       ///< runs without a checksum
  std::vector<BadRow> bad_rows;     ///< what the rows say
  std::vector<Message> damage;      ///< of the file's structure, a sentence each
  std::vector<std::string> extras;  ///< tables and views that are not ours: "table notes"

  [[nodiscard]] bool ok() const { return bad_rows.empty() && damage.empty(); }
};

/// Reads all of the file. Throws FileError where it cannot be opened.
[[nodiscard]] FileCheck check_file(const std::filesystem::path& file);

/// Of the sets that hold a rate which times are predicted with (device_rates()) the newest of that GPU, else nullptr.
/// Empty `uuid`: of any GPU of that name.
[[nodiscard]] const StoredCeilings* newest_rates(std::span<const StoredCeilings>, const DeviceLimits&,
                                                 std::string_view uuid = {});

/// Makes what the file says of users' kernels known for reading (user::know_from_file()); one line about each that is
/// not taken. Thread-safe.
[[nodiscard]] std::vector<Message> known_statements(const RunStore&);

}  // namespace attnscope
