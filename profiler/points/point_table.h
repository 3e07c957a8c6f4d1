// SPDX-License-Identifier: Apache-2.0
// Points as columns, with the runs that they belong to: built once of the points that are looked at, then filtered,
// grouped and fitted without an object or a search for each of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/registry.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/round_order.h"
#include "profiler/points/point_columns.h"

namespace attnscope::analysis {

// What analysis asks of algorithms. It is handed the set that a program works with and knows none by name.

/// The algorithms that a program works with, in the order in which views list them.
class Algorithms {
 public:
  Algorithms() = default;
  explicit Algorithms(const Registry& registry);
  [[nodiscard]] static Algorithms known() { return Algorithms(known_algorithms()); }

  /// nullptr for a name that is not among them.
  [[nodiscard]] const Algorithm* find(std::string_view name) const {
    return registry_ != nullptr ? registry_->find(name) : nullptr;
  }
  /// Pre: made of one.
  [[nodiscard]] const Registry& registry() const { return *registry_; }
  /// What they can be told beside the tile.
  [[nodiscard]] std::span<const Knob> knobs() const {
    return registry_ != nullptr ? std::span<const Knob>(registry_->knobs()) : std::span<const Knob>();
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Place in names(); their number for a name that is not among them.
  [[nodiscard]] std::size_t place(std::string_view name) const;

 private:
  const Registry* registry_ = nullptr;
  std::vector<std::string> names_;
};

/// "FA2", "Naive", "Split-KV": for legends; an algorithm that is not ours by the name that it came with.
[[nodiscard]] std::string short_title(const Algorithms&, std::string_view name);

class NoiseModel;

/// A place among a PointTable's runs.
using RunIndex = std::uint32_t;

/// A run, as far as it tells its points from those of others.
struct Run {
  std::string device_id;    ///< tells two GPUs of one name apart
  std::string device_name;  ///< "NVIDIA H200"
  std::string title;        ///< what people know it by; tells apart the runs of one device
  std::string label;        ///< what an imported run was imported under
  std::string started_at;   ///< ISO 8601, UTC: of two runs the later one is the newer
  Provenance provenance = Provenance::measured;
  DeviceLimits limits;
  std::string l2_from = {};  ///< of a simulation: DeviceInfo's
  /// Of a run of several rounds, where they are known: what the order of its points in each comes of.
  std::size_t planned_points = 0;  ///< in that order
  std::size_t first_place = 0;     ///< of this run's own points in it
  SweepRounds rounds = {};
  std::uint64_t turns = 0;  ///< equal for runs that were measured in the same rounds; 0: in rounds of its own
  /// What tells its device from those of all runs that are known, of which a table may have some: name_devices().
  /// Empty: those of the table are all.
  std::string device = {};
  /// What recordings of its GPU, driver and day differ by, where that was found; else null.
  std::shared_ptr<const NoiseModel> noise = nullptr;
  // What a person called it; a title may say more.
  std::string name = {};
  std::vector<std::string> tags = {};
};

/// One metric of all points, kernel "all". Values are computed when they are first asked for: of a large file, one
/// problem's are looked at. Several threads may ask; where two ask for the same at once, both compute it.
class ValueColumn {
 public:
  [[nodiscard]] bool has(Row row) const { return origin(row) != absent; }
  /// Pre: has().
  [[nodiscard]] double value(Row row) const { return origin(row) == absent ? 0 : held(row); }
  [[nodiscard]] Provenance provenance(Row row) const { return static_cast<Provenance>(origin(row)); }
  [[nodiscard]] std::optional<double> at(Row row) const { return has(row) ? std::optional(held(row)) : std::nullopt; }

 private:
  friend class PointTable;
  using Evaluate = std::function<std::optional<Evaluated>(const KernelValues&)>;
  static constexpr std::uint8_t absent = 0xFF;
  static constexpr std::uint8_t unknown = 0xFE;

  ValueColumn(const PointColumns& points, Evaluate evaluate)
      : points_(&points),
        evaluate_(std::move(evaluate)),
        values_(std::make_unique_for_overwrite<double[]>(points.size())),
        origins_(points.size(), unknown) {}
  /// Takes over what is known of the same points in another table, where they stand in these rows.
  void take(const ValueColumn& from, std::span<const Row> rows);
  [[nodiscard]] std::uint8_t origin(Row row) const {
    const std::uint8_t known = std::atomic_ref(origins_[row]).load(std::memory_order_acquire);
    return known == unknown ? compute(row) : known;
  }
  /// Pre: the row's origin was asked for.
  [[nodiscard]] double held(Row row) const { return std::atomic_ref(values_[row]).load(std::memory_order_relaxed); }
  std::uint8_t compute(Row row) const;

  const PointColumns* points_;
  Evaluate evaluate_;
  std::unique_ptr<double[]> values_;  ///< nothing is held of it before a value is written
  mutable std::vector<std::uint8_t> origins_;
};

/// A value of a facet, for people and as a key.
struct FacetValue {
  double order = 0;  ///< sorting key
  std::string text;
  std::string full = {};  ///< where `text` is shortened, or another value reads alike

  /// What the value is known by.
  [[nodiscard]] const std::string& id() const { return full.empty() ? text : full; }
  bool operator==(const FacetValue& other) const { return id() == other.id(); }
};

/// One facet of all points: a code each, and what the codes stand for, ascending by order.
struct CodeColumn {
  std::vector<std::uint32_t> codes;
  std::vector<FacetValue> values;
};

struct Facet;

/// Several threads may look at one: columns are made when they are first asked for, and stay.
class PointTable {
 public:
  PointTable() : PointTable({}, {}, PointColumns(), {}) {}
  PointTable(PointTable&&) = default;
  PointTable& operator=(PointTable&&) = default;
  PointTable(const PointTable&) = delete;
  PointTable& operator=(const PointTable&) = delete;
  ~PointTable() = default;

  [[nodiscard]] Row size() const { return points_->size(); }
  [[nodiscard]] bool empty() const { return points_->empty(); }
  [[nodiscard]] const Algorithms& algorithms() const { return algorithms_; }
  /// All rows, in the order in which the points were given.
  [[nodiscard]] std::vector<Row> rows() const;
  /// What the points hold, row by row.
  [[nodiscard]] const PointColumns& points() const { return *points_; }

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] RunIndex run_index(Row row) const { return run_of_[row]; }
  [[nodiscard]] const Run& run(Row row) const { return runs_[run_of_[row]]; }

  /// Put together again when it is asked for: of few rows.
  [[nodiscard]] PointSpec spec(Row row) const { return points_->spec(row); }
  [[nodiscard]] AttentionProblem problem(Row row) const { return points_->spec(row).problem; }
  [[nodiscard]] const std::string& algorithm(Row row) const { return algorithm_->word(row); }
  [[nodiscard]] std::int64_t n_q(Row row) const { return n_q_->number(row); }
  [[nodiscard]] std::int64_t n_k(Row row) const { return n_k_->number(row); }
  [[nodiscard]] Disposition disposition(Row row) const { return points_->disposition(row); }
  [[nodiscard]] const Message& reason(Row row) const { return points_->reason(row); }
  /// Whether the GPU slowed its clocks while it was measured.
  [[nodiscard]] bool throttled(Row row) const { return points_->throttled(row); }
  /// A tile as a number: equal for equal tiles, in the order of Br, Bc and what else was chosen.
  [[nodiscard]] std::uint32_t tile_code(Row row) const { return tile_codes_[row]; }
  [[nodiscard]] const Config& tile(std::uint32_t code) const { return tiles_[code]; }
  [[nodiscard]] const Config& tile_of(Row row) const { return tiles_[tile_codes_[row]]; }

  /// evaluate() of every point.
  [[nodiscard]] const ValueColumn& values(std::string_view metric) const;
  /// dram_traffic() of every point: what plots show as DRAM bytes.
  [[nodiscard]] const ValueColumn& dram_traffic() const;
  [[nodiscard]] const CodeColumn& codes(const Facet&) const;
  /// Takes over the values that are known of the same points in another table, where they stand in these rows: they are
  /// the points' own, whatever is beside them. Before anybody else looks at this one.
  void take_values(const PointTable& from, std::span<const Row> rows);

 private:
  friend class PointTableBuilder;
  PointTable(Algorithms algorithms, std::vector<Run> runs, PointColumns points, std::vector<RunIndex> run_of);
  void find_tiles();

  Algorithms algorithms_;
  std::vector<Run> runs_;
  std::vector<RunIndex> run_of_;
  std::unique_ptr<const PointColumns> points_;  ///< stays where it is when the table is moved
  const FieldColumn* algorithm_;
  const FieldColumn* n_q_;
  const FieldColumn* n_k_;
  std::vector<std::uint32_t> tile_codes_;
  std::vector<Config> tiles_;
  std::unique_ptr<std::mutex> making_ = std::make_unique<std::mutex>();  ///< held while a column is put in its place
  mutable std::map<std::string, ValueColumn, std::less<>> values_;
  mutable std::optional<ValueColumn> dram_traffic_;
  mutable std::map<std::string, CodeColumn, std::less<>> codes_;
};

/// Makes a table of points that come one at a time.
class PointTableBuilder {
 public:
  /// The table of fields has to outlive the table of points.
  explicit PointTableBuilder(Algorithms algorithms = Algorithms::known(),
                             std::span<const Field> fields = point_fields())
      : algorithms_(std::move(algorithms)), points_(fields) {}

  RunIndex add_run(Run run);
  /// To say more of one.
  [[nodiscard]] Run& run(RunIndex index) { return runs_[index]; }
  /// `place`, `id`: PointColumns'.
  void add(RunIndex run, const PointRecord&, std::size_t place = 0, std::int64_t id = 0);
  /// Rows of other columns, of the same fields.
  void add(RunIndex run, const PointColumns& from, std::span<const Row> rows);
  [[nodiscard]] PointTable finish() &&;

 private:
  Algorithms algorithms_;
  std::vector<Run> runs_;
  std::vector<RunIndex> run_of_;
  PointColumns points_;
};

/// Some rows of a table as one of their own.
struct SomeRows {
  PointTable table;
  std::vector<RunIndex> runs;  ///< of the other table, by place in this one: those that have some of the rows
};
/// `rows` ascend. Values that are known stay so.
[[nodiscard]] SomeRows some_rows(const PointTable&, std::span<const Row> rows);

/// Whether the point's source said which tile it used.
[[nodiscard]] inline bool tile_stated(const TileShape& tile) {
  return tile.br > 0 && tile.bc > 0;
}

/// Whether run `a` is newer than `b`: it began later, or at the same time and stands later in the table.
[[nodiscard]] bool newer(const PointTable&, RunIndex a, RunIndex b);

/// "H200", "A100-SXM4-80GB": the name of a run's device without its vendor; two GPUs of one name are told apart by the
/// beginning of their ids.
[[nodiscard]] std::string device_title(const PointTable&, RunIndex);
/// Has the devices of these runs called the same in all tables, also in those that hold some of them alone.
void name_devices(std::span<Run> runs);

/// Runs whose points can stand in one series or map without one hiding another. `places`: of each run, in the order in
/// which they are to lead, the places (N, or tile) that its points take, ascending. The first run and those that share
/// no place with what is already in the first group come first; what is left makes further groups in the same way.
[[nodiscard]] std::vector<std::vector<std::size_t>> disjoint_groups(std::span<const std::vector<std::int64_t>> places);

}  // namespace attnscope::analysis
