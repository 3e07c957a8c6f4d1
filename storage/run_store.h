// SPDX-License-Identifier: Apache-2.0
// `.attnscope` file: SQLite in WAL mode, one writer. All numbers are in base units and have a provenance.
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

/// PRAGMA user_version. Increment with every change of the schema (schema.cpp), including fields of a point.
inline constexpr int schema_version = 7;

// Text and flags that users attach to a run. Not covered by the run's checksum.

inline constexpr std::size_t max_run_name_bytes = 200;  ///< bytes
inline constexpr std::size_t max_run_tag_bytes = 64;
inline constexpr std::size_t max_run_note_bytes = 16'384;
inline constexpr std::size_t max_run_tags = 64;

struct RunAnnotations {
  std::string name;               ///< empty: none
  std::string note;               ///< may have several lines
  std::vector<std::string> tags;  ///< sorted, unique
  bool hidden = false;            ///< not drawn in the window until shown
  bool deleted = false;           ///< not read anymore; merging keeps the run, a compact copy drops it

  bool operator==(const RunAnnotations&) const = default;
};

/// Changes to a run's text and flags; nullopt and empty lists change nothing.
struct RunEdit {
  std::optional<std::string> name;  ///< empty: removes the name
  std::optional<std::string> note;
  std::vector<std::string> tag;
  std::vector<std::string> untag;
  std::optional<bool> hidden;
  std::optional<bool> deleted;

  bool operator==(const RunEdit&) const = default;
};

/// Returns the first violation in an edit; empty if there is none.
[[nodiscard]] Message bounds_error(const RunEdit&);
[[nodiscard]] RunAnnotations edited(RunAnnotations, const RunEdit&);

struct EditedRun {
  std::int64_t run = 0;
  std::string uid;
  RunAnnotations annotations;
};

struct RunHeader {
  DeviceInfo device;
  Environment environment;
  std::string preset;
  std::vector<std::string> argv;
  std::string plan_hash;  ///< equal for equal plans; used by --resume
  std::size_t planned_points = 0;
  MeasureOptions options;
  bool imported = false;               ///< the points were measured by another program
  std::string simulation_reason = {};  ///< why a simulation replaced the requested GPU; empty if it was requested
  std::string uid = {};                ///< shards of one plan share it; empty: a new one
  Shard shard = {};  ///< shard that this run measures; plan_hash and planned_points are those of the whole plan
  int rounds = 1;
  std::uint64_t order_seed =
      0;  ///< seed of the point order in each round (profiler/plan/round_order.h); used if there are several rounds
};

/// Finished run to store at once.
struct CompleteRun {
  RunHeader header;
  std::vector<PointRecord> points;
};

enum class StoredRunState { running, complete, cancelled, interrupted, failed };

/// Result of comparing a run's content with its checksum.
enum class RunIntegrity {
  verified,
  unverified,  ///< no checksum: its collector is running or was killed
  damaged      ///< the checksum differs or is missing; values are still returned but may be wrong
};

struct RunSummary {
  std::int64_t id = 0;
  std::string uid;  ///< identifies the run in all copies and merges
  std::string device_name;
  std::string device_uuid;
  bool simulated = false;
  Provenance provenance = Provenance::measured;  ///< provenance of its points: measured, simulated or imported
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
  std::string simulation_reason;
  std::string l2_source;  ///< see DeviceInfo; empty also in simulations by versions that did not store it
  std::string rates_source;
  int rounds = 1;
  std::uint64_t order_seed = 0;
  std::vector<Shard> shards;  ///< shards of its plan that it has; empty if the plan was not split
  RunIntegrity integrity = RunIntegrity::verified;
  RunAnnotations annotations;
};

/// Returns true if the run has all shards of its plan.
[[nodiscard]] inline bool has_whole_plan(const RunSummary& run) {
  return run.shards.empty() || run.shards.size() == static_cast<std::size_t>(run.shards.front().count);
}

struct MeasuredRounds {
  std::size_t index = 0;
  Disposition disposition = Disposition::ok;
  std::vector<int> rounds;  ///< rounds with timing samples, ascending
  std::string device_uuid;
};

struct StoredPoint {
  std::int64_t id = 0;
  std::int64_t run_id = 0;
  std::size_t index = 0;  ///< plan index
  std::string device_uuid;
  PointRecord record;
};

/// Ceilings of a device, measured at one time.
struct StoredCeilings {
  std::string uid;  ///< digest of the content; unchanged by copies and merges
  std::string device_uuid;
  std::string device_name;
  Environment environment;
  std::string measured_at;  ///< ISO 8601, UTC
  std::vector<Ceiling> ceilings;
};

/// Noise between recordings on a device, measured at one time.
struct StoredNoise {
  std::string uid;
  std::string device_uuid;
  std::string device_name;
  Environment environment;
  std::string measured_at;
  analysis::RecordingNoise noise;
  std::shared_ptr<const analysis::NoiseModel> model;
};

/// Row that was skipped with all that refers to it, or a damaged run.
struct InvalidRow {
  Message where;                           ///< "point 12 (run 1, plan index 3)"
  Message why;                             ///< "wall_seconds inf is not within ..."
  std::optional<std::int64_t> point = {};  ///< id, if the row is a point

  bool operator==(const InvalidRow&) const = default;
};

/// Move-only handle of one file. All members throw FileError.
class RunStore {
 public:
  enum class Mode {
    read_only,  ///< the file must exist; never writes, and creates no -wal if no one else writes
    collect,    ///< created if missing; a second collector fails with Kind::locked
  };
  /// Another program's lock fails a collector with Kind::locked after a minute, a reader after five seconds.
  static RunStore open(const std::filesystem::path& file, Mode mode);
  /// Creates a file and calls `fill`. The file appears under its name only after `fill` returned, even if the process
  /// is killed. An existing file is an error unless it is empty.
  static void create(const std::filesystem::path& file, const std::function<void(RunStore&)>& fill);

  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;
  ~RunStore();

  // Writing (Mode::collect). Each call is one transaction. Committed data survives the end of the process; after
  // finish_run() also a power loss. Throws if the file was removed or replaced.
  std::int64_t begin_run(const RunHeader&);
  /// `device`: one of several that share the plan; an existing point is replaced then.
  std::int64_t add_point(std::int64_t run, std::size_t index, const PointRecord&, const DeviceInfo* device = nullptr);
  /// Adds one more round to a stored point (profiler/metrics/rounds.h: add_round()) and returns its id. Throws if the
  /// point already has that round or is damaged.
  std::int64_t add_round(std::int64_t run, std::size_t index, int round, const PointRecord& measured);
  void finish_run(std::int64_t run, StoredRunState);
  /// Marks the run as running again, so that points can be added.
  void reopen_run(std::int64_t run);
  /// Adds all runs or, on error, none; returns their ids. `cancellation_check` is called before each point; an
  /// exception cancels the transaction.
  std::vector<std::int64_t> add_complete_runs(std::span<const CompleteRun>,
                                              const std::function<void()>& cancellation_check = {});
  /// Stores ceilings with the current time; returns the uid of the set.
  std::string add_ceilings(const DeviceInfo&, const Environment&, std::span<const Ceiling>);
  /// Stores noise between recordings with the current time; returns the uid of the set.
  std::string add_noise(const DeviceInfo&, const Environment&, const analysis::RecordingNoise&);
  /// Edits text and flags of these runs, including deleted ones. Returns the runs that changed, possibly none. Throws
  /// FileError for an edit that is bounds_error() and for an unknown run.
  std::vector<EditedRun> edit(std::span<const std::int64_t> runs, const RunEdit&);
  /// Returns the points of a run that are not cancelled, with their rounds, by plan index.
  [[nodiscard]] std::vector<MeasuredRounds> measured_rounds(std::int64_t run) const;

  // Reading.
  /// `include_deleted`: includes deleted runs. Only runs(), points() and visit_points() can return them.
  [[nodiscard]] std::vector<RunSummary> runs(bool include_deleted = false) const;
  /// Returns points of the given runs (empty: all), by run, then index. `after_id`: only points with a larger id, for
  /// viewers that follow a running collector.
  [[nodiscard]] std::vector<StoredPoint> points(std::span<const std::int64_t> runs = {}, std::int64_t after_id = 0,
                                                bool include_deleted = false) const;
  /// Visits the same points in the same order and in one snapshot, with a few hundred in memory at a time. `begin` is
  /// called before the first point, and again if the file changed and reading restarts; discard earlier points then.
  void visit_points(std::span<const std::int64_t> runs, std::int64_t after_id, const std::function<void()>& begin,
                    const std::function<void(StoredPoint&&)>& visit, bool include_deleted = false) const;
  /// Returns nullopt if no point has that id or if it is skipped as damaged.
  [[nodiscard]] std::optional<StoredPoint> point(std::int64_t id) const;
  /// Returns the manifests of user-defined kernels. `contents`: with stored source files.
  [[nodiscard]] std::vector<std::shared_ptr<const StoredManifest>> statements(bool contents = false) const;
  /// Returns the algorithms of the points that refer to each manifest, by its digest.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> algorithms_by_manifest() const;
  /// Ordered by device, oldest first.
  [[nodiscard]] std::vector<StoredCeilings> ceilings() const;
  [[nodiscard]] std::vector<StoredNoise> noise() const;
  /// Returns the rows that reads have skipped so far, each once.
  [[nodiscard]] std::vector<InvalidRow> invalid_rows() const;
  /// Returns a sentence if readers ignore a log of another file. Writers reject such files.
  [[nodiscard]] std::vector<Message> warnings() const;
  /// Returns true if the file is read with a log, or while a collector writes it.
  [[nodiscard]] bool reads_log() const;
  /// Checks the structure and references of the whole file with SQLite; returns one sentence per finding. Values are
  /// checked by points().
  [[nodiscard]] std::vector<Message> check_structure() const;
  /// Returns RunSummary::uid of a run, or nullopt. Cheaper than runs(), which counts points.
  [[nodiscard]] std::optional<std::string> run_uid(std::int64_t run) const;
  [[nodiscard]] const std::filesystem::path& file() const;

 private:
  struct Impl;
  explicit RunStore(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

/// Returns the point unchanged if it can be stored; otherwise a crashed point with the reason, so that one invalid
/// value does not end a sweep.
[[nodiscard]] PointRecord make_storable(PointRecord measured);

[[nodiscard]] std::string_view to_string(StoredRunState);
[[nodiscard]] Message title(StoredRunState);

struct FileCheck {
  std::size_t runs = 0;  ///< including hidden ones, and deleted ones, which an edit can restore
  std::size_t hidden = 0;
  std::size_t deleted = 0;
  std::size_t points = 0;
  std::size_t unverified = 0;  ///< runs without a checksum
  std::vector<InvalidRow> invalid_rows;
  std::vector<Message> damage;    ///< structural damage, one sentence each
  std::vector<Message> warnings;  ///< RunStore::warnings()

  [[nodiscard]] bool ok() const { return invalid_rows.empty() && damage.empty(); }
};

/// Returns true if the file is damaged or not an attnscope file.
[[nodiscard]] bool is_damage(FileError::Kind);

/// Checks the whole file. Throws FileError if it cannot be opened.
[[nodiscard]] FileCheck check_file(const std::filesystem::path& file);

/// Returns the newest set with a rate that device_rates() uses for predictions, or nullptr. `uuid` empty: of any GPU
/// with that name.
[[nodiscard]] const StoredCeilings* newest_rates(std::span<const StoredCeilings>, const DeviceLimits&,
                                                 std::string_view uuid = {});

/// Registers the file's user-defined kernels for reading (user::add_manifests_from_file()); returns one line per
/// rejected kernel. Thread-safe.
[[nodiscard]] std::vector<Message> register_manifests(const RunStore&);

}  // namespace attnscope
