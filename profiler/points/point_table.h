// SPDX-License-Identifier: Apache-2.0
// Columnar table of points and the runs they belong to, for fast filtering, grouping and fitting.
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

/// "FA2", "Naive", "Split-KV": for legends. An unregistered algorithm keeps its name.
[[nodiscard]] std::string short_title(const Registry&, std::string_view name);

class NoiseModel;

/// Index of a run in a PointTable.
using RunIndex = std::uint32_t;

/// Metadata of a run.
struct Run {
  std::string device_id;    ///< distinguishes GPUs of one model
  std::string device_name;  ///< "NVIDIA H200"
  std::string title;        ///< display name, unique among the runs of one device
  std::string label;        ///< shown with the curves of an imported run; else the preset
  std::string started_at;   ///< ISO 8601, UTC
  Provenance provenance = Provenance::measured;
  DeviceLimits limits;
  std::string l2_source = {};  ///< simulations: see DeviceInfo
  /// For runs with several rounds, if known: parameters of the measurement order.
  std::size_t planned_points = 0;  ///< points in that order
  std::size_t first_place = 0;     ///< index of this run's first point in it
  SweepRounds rounds = {};
  std::uint64_t turns = 0;  ///< equal for runs measured interleaved in the same rounds; else 0
  // Equal for repeated recordings (profiler/compare/comparison.h); empty if unknown.
  std::string plan = {};     ///< equal for equal plans
  std::string program = {};  ///< version
  std::string options = {};  ///< of the measurement, as text
  std::string nvrtc = {};    ///< compiler version; empty if unknown
  /// Unique device title among all loaded runs, set by name_devices(). If empty, titles are unique within the table.
  std::string device = {};
  /// Noise between recordings on this GPU, driver and day; null if unknown.
  std::shared_ptr<const NoiseModel> noise = nullptr;
  std::string preset = {};  ///< preset, or "import:" and the label of an imported run
  // Name given by the user; the title may be longer.
  std::string name = {};
  std::vector<std::string> tags = {};
  /// Most points that ran were throttled. Set when the run's table is built; subsets of the table keep it.
  std::optional<bool> mostly_throttled = std::nullopt;
};

/// One metric of all points, for kernel "all". Values are computed on first access. Thread-safe; concurrent accesses
/// may compute the same value twice.
class ValueColumn {
 public:
  [[nodiscard]] bool has(Row row) const { return origin(row) != absent; }
  /// Pre: has().
  [[nodiscard]] double value(Row row) const { return origin(row) == absent ? 0 : stored_value(row); }
  [[nodiscard]] Provenance provenance(Row row) const { return static_cast<Provenance>(origin(row)); }
  [[nodiscard]] std::optional<double> at(Row row) const {
    return has(row) ? std::optional(stored_value(row)) : std::nullopt;
  }

 private:
  friend class PointTable;
  static constexpr std::uint8_t absent = 0xFF;
  static constexpr std::uint8_t unknown = 0xFE;

  /// Without a metric: dram_traffic().
  ValueColumn(const PointColumns& points, std::string_view metric)
      : points_(&points),
        metric_(metric),
        values_(std::make_unique_for_overwrite<double[]>(points.size())),
        origins_(points.size(), unknown) {}
  /// Copies known values of the same points from another table, which has them at `rows`.
  void take(const ValueColumn& from, std::span<const Row> rows);
  [[nodiscard]] std::uint8_t origin(Row row) const {
    const std::uint8_t known = std::atomic_ref(origins_[row]).load(std::memory_order_acquire);
    return known == unknown ? compute(row) : known;
  }
  /// Pre: origin(row) was called.
  [[nodiscard]] double stored_value(Row row) const {
    return std::atomic_ref(values_[row]).load(std::memory_order_relaxed);
  }
  std::uint8_t compute(Row row) const;

  const PointColumns* points_;
  std::string metric_;
  std::unique_ptr<double[]> values_;  ///< uninitialized until a value is written
  mutable std::vector<std::uint8_t> origins_;
};

/// A facet value: text and identity.
struct FacetValue {
  double order = 0;  ///< sort key
  std::string text;
  std::string full = {};  ///< set if `text` is abbreviated or ambiguous

  /// Identifies the value within its facet.
  [[nodiscard]] const std::string& id() const { return full.empty() ? text : full; }
  bool operator==(const FacetValue& other) const { return id() == other.id(); }
};

/// One facet of all points: a code per row, and the values by code, ascending by order.
struct CodeColumn {
  std::vector<std::uint32_t> codes;
  std::vector<FacetValue> values;
};

struct Facet;

/// Thread-safe for reading: columns are created on first access and stay valid.
class PointTable {
 public:
  PointTable() : PointTable({}, PointColumns(), {}) {}
  PointTable(PointTable&&) = default;
  PointTable& operator=(PointTable&&) = default;
  PointTable(const PointTable&) = delete;
  PointTable& operator=(const PointTable&) = delete;
  ~PointTable() = default;

  [[nodiscard]] Row size() const { return points_->size(); }
  [[nodiscard]] bool empty() const { return points_->empty(); }
  /// Known algorithms when the table was built.
  [[nodiscard]] const Registry& algorithms() const { return *algorithms_; }
  /// All rows in insertion order.
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] const PointColumns& points() const { return *points_; }

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] RunIndex run_index(Row row) const { return run_of_[row]; }
  [[nodiscard]] const Run& run(Row row) const { return runs_[run_of_[row]]; }

  /// Reconstructed on each call; use for few rows only.
  [[nodiscard]] PointSpec spec(Row row) const { return points_->spec(row); }
  [[nodiscard]] AttentionProblem problem(Row row) const { return points_->spec(row).problem; }
  [[nodiscard]] const std::string& algorithm(Row row) const { return algorithm_->text_value(row); }
  [[nodiscard]] std::int64_t n_q(Row row) const { return n_q_->number(row); }
  [[nodiscard]] std::int64_t n_k(Row row) const { return n_k_->number(row); }
  [[nodiscard]] Disposition disposition(Row row) const { return points_->disposition(row); }
  [[nodiscard]] const Message& reason(Row row) const { return points_->reason(row); }
  /// The GPU was throttled during the measurement.
  [[nodiscard]] bool throttled(Row row) const { return points_->throttled(row); }
  /// The point ran, and was throttled while most of its run was not, or the reverse.
  [[nodiscard]] bool is_throttling_unusual(Row row) const {
    return disposition(row) == Disposition::ok && throttled(row) != run(row).mostly_throttled.value_or(false);
  }
  /// Tile code: equal for equal tiles and knobs, ordered by Br, Bc, then knobs.
  [[nodiscard]] std::uint32_t tile_code(Row row) const { return tile_codes_[row]; }
  [[nodiscard]] const Config& tile(std::uint32_t code) const { return tiles_[code]; }
  [[nodiscard]] const Config& tile_of(Row row) const { return tiles_[tile_codes_[row]]; }

  /// evaluate() of every point.
  [[nodiscard]] const ValueColumn& values(std::string_view metric) const;
  /// dram_traffic() of every point, the DRAM bytes of plots.
  [[nodiscard]] const ValueColumn& dram_traffic() const { return values({}); }
  [[nodiscard]] const CodeColumn& codes(const Facet&) const;
  /// Copies known values of the same points from another table, which has them at `rows`. Call before other threads use
  /// this table.
  void copy_known_values(const PointTable& from, std::span<const Row> rows);

 private:
  friend class PointTableBuilder;
  PointTable(std::vector<Run> runs, PointColumns points, std::vector<RunIndex> run_of);
  void index_tiles();

  const Registry* algorithms_ = &known_algorithms();
  std::vector<Run> runs_;
  std::vector<RunIndex> run_of_;
  std::unique_ptr<const PointColumns> points_;  ///< heap-allocated: other members point into it
  const FieldColumn* algorithm_;
  const FieldColumn* n_q_;
  const FieldColumn* n_k_;
  std::vector<std::uint32_t> tile_codes_;
  std::vector<Config> tiles_;
  std::unique_ptr<std::mutex> creation_mutex_ = std::make_unique<std::mutex>();  ///< protects creation of columns
  mutable std::map<std::string, ValueColumn, std::less<>> values_;               ///< key: metric
  mutable std::map<std::string, CodeColumn, std::less<>> codes_;
};

/// Builds a point table incrementally.
class PointTableBuilder {
 public:
  RunIndex add_run(Run run);
  [[nodiscard]] Run& run(RunIndex index) { return runs_[index]; }
  /// `place`, `id`: see PointColumns::add().
  void add(RunIndex run, const PointRecord&, std::size_t place = 0, std::int64_t id = 0);
  /// Appends rows of other columns.
  void add(RunIndex run, const PointColumns& from, std::span<const Row> rows);
  [[nodiscard]] PointTable finish() &&;

 private:
  std::vector<Run> runs_;
  std::vector<RunIndex> run_of_;
  PointColumns points_;
};

/// Subset of a table as a new table.
struct TableSubset {
  PointTable table;
  std::vector<RunIndex> runs;  ///< run indices in the source table, by index in this one
};
/// Pre: `rows` ascend. Known metric values are kept.
[[nodiscard]] TableSubset extract_rows(const PointTable&, std::span<const Row> rows);

/// Returns true if the tile is known; imported points may lack it.
[[nodiscard]] inline bool has_tile(const TileShape& tile) {
  return tile.br > 0 && tile.bc > 0;
}

/// Returns true if run `a` started later, or at the same time and has the higher index.
[[nodiscard]] bool is_newer(const PointTable&, RunIndex a, RunIndex b);

/// Device name without vendor: "H200", "A100-SXM4-80GB". GPUs of one model are distinguished by the start of their ids.
[[nodiscard]] std::string device_title(const PointTable&, RunIndex);
/// Sets Run::device so that a device has the same title in all tables made from these runs.
void name_devices(std::span<Run> runs);

/// Partitions runs so that the points of a group do not overlap in one curve or map. `places`: for each run, in
/// priority order, the sorted positions (N, or tile) of its points. Each run joins the first group without a common
/// position, else starts a new one.
[[nodiscard]] std::vector<std::vector<std::size_t>> disjoint_groups(std::span<const std::vector<std::int64_t>> places);

}  // namespace attnscope::analysis
