// SPDX-License-Identifier: Apache-2.0
#include "profiler/simulator/traffic_simulation.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "profiler/simulator/l2_cache.h"

namespace attnscope {
namespace {

constexpr std::int64_t max_granule_bytes = 16'384;
constexpr std::size_t tensor_kinds = max_tensors;

/// Partition of a tensor's matrices into granules of row_cells x col_cells cells. Cell edges coincide with tile edges.
struct GranuleShape {
  std::int64_t cell_rows = 0;
  std::int64_t cell_cols = 0;
  std::int64_t row_cells = 1;
  std::int64_t col_cells = 1;
  std::int64_t granule_rows = 0;
  std::int64_t granule_cols = 0;
};

/// Derives the partition from a sample of accesses: cell height and width are the greatest common divisors of tile row
/// and column offsets. A missed edge affects the accuracy of DRAM bytes, not the total.
class GranuleShapeFinder {
 public:
  /// Returns false if cancelled.
  bool add_accesses(const TileProgram& program, const CancelToken& cancel) {
    constexpr std::int64_t sampled_blocks = 512;
    constexpr std::int64_t sampled_steps = 256;
    const std::int64_t blocks = program.blocks();
    // Includes the first blocks: a fixed stride alone could alias with the tile pattern.
    const std::int64_t stride = std::max<std::int64_t>(1, blocks / sampled_blocks);
    for (std::int64_t block = 0; block < blocks; block += block < sampled_blocks ? 1 : stride) {
      if (cancel.cancelled()) return false;
      const std::int64_t steps = program.steps(block);
      const std::int64_t step_stride = std::max<std::int64_t>(1, steps / sampled_steps);
      for (std::int64_t step = 0; step < steps; step += step < 8 ? 1 : step_stride) {
        accesses_.clear();
        program.visit(block, step, accesses_);
        for (const TileAccess& access : accesses_) add_accesses(access);
      }
    }
    return true;
  }

  [[nodiscard]] std::array<GranuleShape, tensor_kinds> granule_shapes() const {
    std::array<GranuleShape, tensor_kinds> result;
    std::ranges::transform(extents_, result.begin(), granule_shape);
    return result;
  }

 private:
  struct TensorExtent {
    std::int64_t row_divisor = 0;
    std::int64_t col_divisor = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t right_edge = 0;
    int element_bytes = 1;
  };

  void add_accesses(const TileAccess& access) {
    TensorExtent& extent = extents_.at(static_cast<std::size_t>(access.tensor));
    extent.row_divisor = std::gcd(extent.row_divisor, access.row);
    extent.col_divisor = std::gcd(extent.col_divisor, access.col);
    extent.rows = std::max(extent.rows, access.rows);
    extent.cols = std::max(extent.cols, access.cols);
    extent.right_edge = std::max(extent.right_edge, access.col + access.cols);
    extent.element_bytes = access.element_bytes;
  }

  static GranuleShape granule_shape(const TensorExtent& extent) {
    GranuleShape shape;
    shape.cell_rows = std::max<std::int64_t>(1, extent.row_divisor > 0 ? extent.row_divisor : extent.rows);
    shape.cell_cols = std::max<std::int64_t>(1, extent.col_divisor > 0 ? extent.col_divisor : extent.cols);
    while (shape.cell_rows % 2 == 0 && shape.cell_rows * shape.cell_cols * extent.element_bytes > max_granule_bytes) {
      shape.cell_rows /= 2;
    }
    std::int64_t bytes = shape.cell_rows * shape.cell_cols * extent.element_bytes;
    while (2 * bytes <= max_granule_bytes && shape.row_cells * shape.col_cells < 64) {
      const bool widen = shape.col_cells <= shape.row_cells && shape.col_cells * shape.cell_cols < extent.right_edge;
      (widen ? shape.col_cells : shape.row_cells) *= 2;
      bytes *= 2;
    }
    shape.granule_rows = shape.cell_rows * shape.row_cells;
    shape.granule_cols = shape.cell_cols * shape.col_cells;
    return shape;
  }

  std::array<TensorExtent, tensor_kinds> extents_;
  std::vector<TileAccess> accesses_;
};

class AccessSimulator {
 public:
  AccessSimulator(L2Cache& cache, const std::array<GranuleShape, tensor_kinds>& granule_shapes)
      : cache_(cache), granule_shapes_(granule_shapes) {}

  void simulate(const TileAccess& access) {
    if (access.rows <= 0 || access.cols <= 0) return;
    const GranuleShape& shape = granule_shapes_[static_cast<std::size_t>(access.tensor)];
    const std::int64_t last_row = access.row + access.rows - 1;
    const std::int64_t last_col = access.col + access.cols - 1;
    for (std::int64_t gr = access.row / shape.granule_rows; gr <= last_row / shape.granule_rows; ++gr) {
      const std::int64_t top = gr * shape.granule_rows;
      const std::int64_t row = std::max(access.row, top) - top;
      const std::int64_t row_end = std::min(last_row - top, shape.granule_rows - 1);
      for (std::int64_t gc = access.col / shape.granule_cols; gc <= last_col / shape.granule_cols; ++gc) {
        const std::int64_t left = gc * shape.granule_cols;
        const std::int64_t col = std::max(access.col, left) - left;
        const std::int64_t col_end = std::min(last_col - left, shape.granule_cols - 1);
        const std::int64_t bytes = (row_end - row + 1) * (col_end - col + 1) * access.element_bytes;
        const std::uint64_t cells = cells_of(shape, row, row_end, col, col_end);
        const std::uint64_t key = key_of(access, gr, gc);
        ++touches_;
        if (access.access != Access::store) cache_.load(key, cells, bytes);
        if (access.access != Access::load) cache_.store(key, cells, bytes);
      }
    }
  }

  [[nodiscard]] std::int64_t touches() const { return touches_; }

 private:
  static std::uint64_t cells_of(const GranuleShape& shape, std::int64_t row, std::int64_t row_end, std::int64_t col,
                                std::int64_t col_end) {
    if (shape.row_cells * shape.col_cells == 1) return 1;
    const std::int64_t first = col / shape.cell_cols;
    const std::int64_t width = (col_end / shape.cell_cols) - first + 1;
    const std::uint64_t one_row = (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) << first;
    std::uint64_t cells = 0;
    for (std::int64_t r = row / shape.cell_rows; r <= row_end / shape.cell_rows; ++r)
      cells |= one_row << (r * shape.col_cells);
    return cells;
  }

  // Hash of all four values with the splitmix64 finalizer. With millions of resident granules, the probability of a
  // collision is about 1e-6.
  static std::uint64_t key_of(const TileAccess& access, std::int64_t granule_row, std::int64_t granule_col) {
    const auto mixed = [](std::uint64_t key, auto part) {
      key += static_cast<std::uint64_t>(part) + 0x9E3779B97F4A7C15U;
      key = (key ^ (key >> 30U)) * 0xBF58476D1CE4E5B9U;
      key = (key ^ (key >> 27U)) * 0x94D049BB133111EBU;
      return key ^ (key >> 31U);
    };
    return mixed(mixed(mixed(mixed(0, access.tensor), access.instance), granule_row), granule_col);
  }

  L2Cache& cache_;
  const std::array<GranuleShape, tensor_kinds>& granule_shapes_;
  std::int64_t touches_ = 0;
};

struct ByteCounts {
  std::int64_t fetched = 0;
  std::int64_t written = 0;
  std::int64_t l2_bytes = 0;
};

/// Simulates one launch, up to `max_touches` accesses.
class LaunchSimulator {
 public:
  LaunchSimulator(const KernelLaunch& launch, const DeviceLimits& limits, L2Cache& cache,
                  const std::array<GranuleShape, tensor_kinds>& granule_shapes, std::int64_t max_touches)
      : launch_(launch),
        program_(*launch.program),
        limits_(limits),
        cache_(cache),
        simulator_(cache, granule_shapes),
        max_touches_(max_touches),
        start_{.fetched = cache.fetched_bytes(), .written = cache.written_bytes()} {
    result_.occupancy = theoretical_occupancy(limits, launch.footprint());
    warps_pct_per_block_ =
        result_.occupancy.blocks_per_sm > 0 ? result_.occupancy.warps_pct / result_.occupancy.blocks_per_sm : 0;
  }

  // Returns false if cancelled.
  bool simulate(const CancelToken& cancel) {
    const std::int64_t places = std::int64_t{std::max(1, result_.occupancy.blocks_per_sm)} * limits_.sm_count;
    for (; next_block_ < std::min(places, program_.blocks()); ++next_block_) resident_.push_back(start(next_block_));

    ByteCounts middle = start_;
    while (!resident_.empty() && simulator_.touches() <= max_touches_) {
      if (!round(cancel)) return false;
      if (simulator_.touches() <= max_touches_ / 2) middle = now();
    }
    result_.complete = resident_.empty();
    finish(middle);
    return true;
  }

  [[nodiscard]] const LaunchSimulation& result() const { return result_; }

 private:
  struct Resident {
    std::int64_t block = 0;
    std::int64_t step = 0;
    std::int64_t steps = 0;
  };

  [[nodiscard]] Resident start(std::int64_t block) const { return {block, 0, program_.steps(block)}; }

  // Advances every resident block by one step. Checks for cancellation per block, because a step may cover a whole
  // matrix. Returns false if cancelled.
  bool round(const CancelToken& cancel) {
    const auto active = static_cast<double>(resident_.size());
    rounds_ += 1;
    block_rounds_ += active;
    sm_rounds_ += std::min(active, static_cast<double>(limits_.sm_count));
    for (Resident& place : resident_) {
      if (cancel.cancelled()) return false;
      if (place.step < place.steps) {
        accesses_.clear();
        program_.visit(place.block, place.step++, accesses_);
        for (const TileAccess& access : accesses_) {
          (access.access == Access::load ? traffic_.l2_to_sm_bytes : traffic_.sm_to_l2_bytes) += access.moved_bytes();
          simulator_.simulate(access);
        }
      }
      if (place.step >= place.steps && next_block_ < program_.blocks()) place = start(next_block_++);
    }
    std::erase_if(resident_, [](const Resident& place) { return place.step >= place.steps; });
    return true;
  }

  [[nodiscard]] ByteCounts now() const {
    return {.fetched = cache_.fetched_bytes(), .written = cache_.written_bytes(), .l2_bytes = traffic_.total()};
  }

  void finish(const ByteCounts& middle) {
    const ByteCounts end = now();
    result_.dram_read_bytes = static_cast<double>(end.fetched - start_.fetched);
    result_.dram_write_bytes = static_cast<double>(end.written - start_.written);
    result_.traffic = traffic_;
    if (!result_.complete) {
      result_.traffic = launch_.traffic;
      const auto window = static_cast<double>(std::max<std::int64_t>(1, end.l2_bytes - middle.l2_bytes));
      const double rest = static_cast<double>(launch_.traffic.total() - end.l2_bytes) / window;
      result_.dram_read_bytes += rest * static_cast<double>(end.fetched - middle.fetched);
      result_.dram_write_bytes += rest * static_cast<double>(end.written - middle.written);
    }
    if (rounds_ == 0) return;
    result_.achieved_warps_pct = block_rounds_ / sm_rounds_ * warps_pct_per_block_;
  }

  const KernelLaunch& launch_;
  const TileProgram& program_;
  const DeviceLimits& limits_;
  L2Cache& cache_;
  AccessSimulator simulator_;
  std::int64_t max_touches_;
  ByteCounts start_;
  LaunchSimulation result_;
  double warps_pct_per_block_ = 0;
  std::vector<Resident> resident_;
  std::int64_t next_block_ = 0;
  std::vector<TileAccess> accesses_;
  Traffic traffic_;
  double rounds_ = 0;
  double block_rounds_ = 0;
  double sm_rounds_ = 0;
};

class PlanSimulator {
 public:
  PlanSimulator(const AttentionPlan& plan, const DeviceLimits& limits, const SimulationOptions& options,
                const CancelToken& cancel)
      : limits_(limits),
        options_(options),
        cancel_(cancel),
        behavior_(l2_behavior(limits)),
        plan_cache_(behavior_.capacity_bytes(limits), behavior_.ways * max_granule_bytes) {
    for (const KernelLaunch& launch : plan.launches) {
      if (!launch.setup) launches_.push_back(&launch);
    }
  }

  /// Returns an empty optional if cancelled.
  [[nodiscard]] std::optional<std::vector<LaunchSimulation>> simulate() {
    GranuleShapeFinder finder;
    for (const KernelLaunch* launch : launches_) {
      if (!finder.add_accesses(*launch->program, cancel_)) return std::nullopt;
    }
    granule_shapes_ = finder.granule_shapes();
    if (options_.cache == CacheState::cold) return simulate_cold();
    if (!simulate_warm()) return std::nullopt;
    return simulate_warm();
  }

 private:
  using Results = std::vector<LaunchSimulation>;

  [[nodiscard]] std::optional<LaunchSimulation> simulate(const KernelLaunch& launch, L2Cache& cache) const {
    LaunchSimulator simulator(launch, limits_, cache, granule_shapes_, options_.max_touches);
    if (!simulator.simulate(cancel_)) return std::nullopt;
    LaunchSimulation result = simulator.result();
    result.dram_in_plan_bytes = result.dram_read_bytes + result.dram_write_bytes;
    return result;
  }

  [[nodiscard]] static double flushed(L2Cache& cache) {
    const std::int64_t before = cache.written_bytes();
    cache.flush();
    return static_cast<double>(cache.written_bytes() - before);
  }

  /// Distinct bytes that the simulated part did not reach (new rows of Q, new heads of K and V). From a cold L2 each is
  /// transferred at least once.
  [[nodiscard]] static double unsimulated_bytes(const KernelLaunch& launch, const LaunchSimulation& result) {
    if (result.complete) return 0;
    return std::max(0.0, launch.work.distinct_bytes - result.dram_read_bytes - result.dram_write_bytes);
  }

  /// Simulates the plan once, from the L2 contents as they are.
  [[nodiscard]] std::optional<Results> simulate_warm() {
    Results results;
    for (const KernelLaunch* launch : launches_) {
      const auto result = simulate(*launch, plan_cache_);
      if (!result) return std::nullopt;
      results.push_back(*result);
    }
    return results;
  }

  [[nodiscard]] std::optional<Results> simulate_cold() {
    Results results;
    for (const KernelLaunch* launch : launches_) {
      // The first launch starts cold in both modes, so it is simulated once.
      const bool first = launch == launches_.front();
      const bool last = launch == launches_.back();
      auto result = simulate(*launch, plan_cache_);
      if (!result) return std::nullopt;
      double in_plan = result->dram_in_plan_bytes;
      L2Cache cold_cache = plan_cache_;
      if (!first) {
        cold_cache.clear();
        result = simulate(*launch, cold_cache);
        if (!result) return std::nullopt;
      }
      const double flushed_bytes = flushed(cold_cache);
      result->dram_write_bytes += flushed_bytes;
      if (last) in_plan += flushed_bytes;
      const double unseen = unsimulated_bytes(*launch, *result);
      result->dram_read_bytes += unseen;
      if (first) in_plan += unseen;
      result->dram_in_plan_bytes = in_plan;
      results.push_back(*result);
    }
    return results;
  }

  const DeviceLimits& limits_;
  const SimulationOptions& options_;
  const CancelToken& cancel_;
  L2Behavior behavior_;
  std::vector<const KernelLaunch*> launches_;
  std::array<GranuleShape, tensor_kinds> granule_shapes_;
  L2Cache plan_cache_;  ///< L2 state across the launches of the plan, as timed
};

}  // namespace

std::optional<std::vector<LaunchSimulation>> simulate_traffic(const AttentionPlan& plan, const DeviceLimits& limits,
                                                              const SimulationOptions& options,
                                                              const CancelToken& cancel) {
  return PlanSimulator(plan, limits, options, cancel).simulate();
}

}  // namespace attnscope
