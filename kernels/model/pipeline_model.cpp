// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/pipeline_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/model/block_order.h"

namespace attnscope {
namespace {

constexpr double schedulers = 4;
constexpr double memory_norm = 4;

double over(double amount, double rate) {
  return rate > 0 ? amount / rate : 0;
}

double norm(double a, double b, double exponent) {
  const double most = std::max(a, b);
  if (most <= 0) return 0;
  if (exponent == 1) return a + b;
  return most * std::pow(std::pow(a / most, exponent) + std::pow(b / most, exponent), 1 / exponent);
}

double norm(double a, double b, double c, double exponent) {
  return norm(norm(a, b, exponent), c, exponent);
}

/// FLOPs of matrix instructions, converted to 16-bit operands.
double tensor_work(const KernelWork& work) {
  return work.tensor_flops / work.relative_throughput;
}

/// SM cycles of a block's work at these rates.
UnitCosts block_unit_cycles(const LaunchLoad& load, const UnitCosts& per_cycle) {
  const double blocks = std::max(1.0, load.blocks);
  return {.tensor = over(tensor_work(load.work) / blocks, per_cycle.tensor),
          .exponential = over(load.work.exponentials / blocks, per_cycle.exponential),
          .fp32 = over(load.work.fp32_values / blocks, per_cycle.fp32),
          .shared = over(load.work.shared_bytes / blocks, per_cycle.shared),
          .l2 = over(load.l2_sm_bytes / blocks, per_cycle.l2)};
}

UnitCosts operator*(const UnitCosts& a, const UnitCosts& b) {
  return {.tensor = a.tensor * b.tensor,
          .exponential = a.exponential * b.exponential,
          .fp32 = a.fp32 * b.fp32,
          .shared = a.shared * b.shared,
          .l2 = a.l2 * b.l2};
}

double scheduler_unit_costs(const UnitCosts& costs) {
  return costs.tensor + costs.exponential + costs.fp32;
}
double shared_unit_costs(const UnitCosts& costs) {
  return costs.shared + costs.l2;
}

/// Load of the busiest scheduler over the mean. The warps of a block are assigned starting with the first scheduler;
/// blocks with fewer than four warps fill the gaps of others.
double imbalance(double warps_per_block, double blocks) {
  const double dealt = warps_per_block > schedulers ? warps_per_block : warps_per_block * blocks;
  return std::ceil(dealt / schedulers) / (dealt / schedulers);
}

class Sm {
 public:
  Sm(const LaunchLoad& load, const DeviceRates& rates) : load_(load), warps_(std::max(1.0, load.warps)) {
    const UnitCosts peak = block_unit_cycles(load, rates.peaks(load.timing.use.instruction));
    const UnitCosts fitted = block_unit_cycles(load, rates.fitted_peaks(load.timing.use.instruction));
    const UnitCosts alone = load.timing.alone * fitted;
    busy_ = load.timing.busy * peak;
    const double tensor = load.timing.busy.tensor;
    busy_.tensor = std::min(tensor, 1.0) * peak.tensor + std::max(tensor - 1, 0.0) * fitted.tensor;
    fitted_busy_ = load.timing.busy * fitted;
    alone_ = schedulers / warps_ * (scheduler_unit_costs(alone) + shared_unit_costs(alone));
  }

  [[nodiscard]] BlockRun mean() const {
    const double blocks = std::max(1.0, load_.blocks);
    return {.blocks = 1,
            .steps = load_.work.steps / blocks,
            .rounds = load_.work.rounds / blocks,
            .mask_reads = load_.work.mask_reads / blocks};
  }
  /// Cycles of a block if `at_once` of them start together.
  [[nodiscard]] double cycles(const BlockRun& block, double at_once) const {
    const double share = work_share(block);
    const double work = share * busiest_units(busy_, at_once);
    const double waits = std::max(0.0, step_waits(block) - (at_once - 1) * work);
    return norm(latency_of(block, share), at_once * work, load_.timing.overlap) + waits + l1_waits(share, at_once) +
           load_.timing.skew * share * busiest_units(fitted_busy_, at_once) / at_once;
  }

 private:
  /// Cycles of the busier of the schedulers' units and the shared units, for one of `at_once` mean blocks.
  [[nodiscard]] double busiest_units(const UnitCosts& busy, double at_once) const {
    return std::max(scheduler_unit_costs(busy) * imbalance(warps_, at_once), shared_unit_costs(busy));
  }
  /// Work of a block relative to the mean.
  [[nodiscard]] double work_share(const BlockRun& block) const {
    const BlockRun mean_block = mean();
    return mean_block.rounds > 0 ? block.rounds / mean_block.rounds : over(block.steps, mean_block.steps);
  }
  [[nodiscard]] double latency_of(const BlockRun& block, double share) const {
    return load_.timing.block_latency + load_.timing.round_latency * block.rounds +
           load_.timing.mask_read_latency * block.mask_reads + alone_ * share;
  }
  [[nodiscard]] double step_waits(const BlockRun& block) const {
    return load_.timing.step_latency * block.steps / load_.work.concurrent_steps;
  }

  /// Latency of refills of L1 from DRAM, beyond those with sufficient L1 capacity.
  [[nodiscard]] double l1_waits(double share, double at_once) const {
    const KernelWork& work = load_.work;
    if (work.concurrent_load_bytes <= 0 || load_.l1_bytes <= 0) return 0;
    const double fills = at_once / load_.l1_bytes - 1 / work.concurrent_load_bytes;
    const double from_dram = std::min(1.0, over(load_.dram_bytes, load_.l2_sm_bytes));
    return load_.timing.refill_latency * from_dram * share * work.register_bytes / std::max(1.0, load_.blocks) *
           std::max(0.0, fills);
  }

  const LaunchLoad& load_;
  double warps_;
  UnitCosts busy_;
  UnitCosts fitted_busy_;  ///< on the GPU of the fit
  double alone_ = 0;
};

/// Equal blocks: waves over all slots, the last one possibly partial.
ScheduledCycles cycles_in_waves(const LaunchLoad& load, const Sm& sm, double sms) {
  const BlockRun block = sm.mean();
  const double blocks = std::max(1.0, load.blocks);
  const double each = std::max(1.0, load.blocks_per_sm);
  const double full = std::floor(blocks / (sms * each));
  const double rest = std::ceil((blocks - full * sms * each) / sms);
  const double wave = sm.cycles(block, each);
  return {.all = full * wave + (rest > 0 ? sm.cycles(block, rest) : 0), .balanced = blocks / (sms * each) * wave};
}

ScheduledCycles sm_cycles(const LaunchLoad& load, const Sm& sm, double sms) {
  if (load.work.order.empty()) return cycles_in_waves(load, sm, sms);
  return scheduled_cycles(load.work.order, static_cast<int>(sms), static_cast<int>(std::max(1.0, load.blocks_per_sm)),
                          [&](const BlockRun& block, double at_once) { return sm.cycles(block, at_once); });
}

/// Cyclically reread bytes as a share of L2 at which half of the rereads miss, and the exponent of the transition.
/// FlashAttention-1, d 64, warm L2, on an H200: 10% of its bytes reach DRAM at 19 MiB, 54% at 32 MiB, 91% at 44 MiB.
constexpr double half_miss_share = 0.52;
constexpr double miss_exponent = 6;

double miss_ratio(double reread_bytes, double l2_bytes) {
  if (reread_bytes <= 0 || l2_bytes <= 0) return 0;
  return 1 / (1 + std::pow(half_miss_share * l2_bytes / reread_bytes, miss_exponent));
}

/// Write-back bytes: stored lines stay in L2 until evicted. On an H100 (50 MiB L2), launches that store as much as they
/// read leave 22 MiB; launches that read more leave less.
double estimate_writeback_bytes(const KernelModel& kernel, const DeviceLimits& limits, double dram_bytes) {
  constexpr double dirty_share = 0.45;
  if (dram_bytes <= 0) return 0;
  // If rows are stored repeatedly or reduced in L2, about half of the distinct bytes are results.
  const auto stored = static_cast<double>(kernel.traffic.sm_to_l2_bytes);
  const double distinct = kernel.work.distinct_bytes;
  const double written = std::min(stored < distinct ? stored : distinct / 2, dram_bytes);
  const double dirty_l2_share = dirty_share * std::min(1.0, 2 * written / dram_bytes);
  return std::min(written, dirty_l2_share * static_cast<double>(limits.l2_bytes));
}

/// Busy cycles per unit for the whole launch, summed over all SMs.
UnitValues busy_cycles(const LaunchLoad& load, const DeviceRates& rates) {
  constexpr double lanes = 32;
  constexpr double wavefront_bytes = 128;
  const UnitIssueCosts& use = load.timing.use;
  const double wavefronts =
      (use.wavefronts.shared * load.work.shared_bytes + use.wavefronts.l2 * load.l2_sm_bytes) / wavefront_bytes +
      (use.wavefronts.exponential * load.work.exponentials + use.wavefronts.fp32 * load.work.fp32_values) / lanes;
  return {over(tensor_work(load.work), rates.peaks(use.instruction).tensor),
          over(use.exponentials * load.work.exponentials, rates.per_cycle.exponential),
          over(wavefronts * wavefront_bytes, rates.per_cycle.shared), over(load.l2_to_sm_bytes, rates.per_cycle.l2), 0};
}

/// L1 capacity left by resident blocks with this much shared memory. The carve-out is the next larger of these sizes,
/// and at least 28 KiB stay L1 (CUDA C++ Programming Guide, compute capabilities 8.x and 9.0).
double available_l1_bytes(std::int64_t shared_bytes, const DeviceLimits& limits) {
  constexpr std::array sizes{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  constexpr std::int64_t kib = 1024;
  std::int64_t taken = limits.shared_bytes_per_sm;
  for (const std::int64_t size : sizes) {
    if (size * kib >= shared_bytes) taken = std::min(taken, size * kib);
  }
  return static_cast<double>(limits.shared_bytes_per_sm + 28 * kib - taken);
}

}  // namespace

std::string_view to_string(GpuUnit unit) {
  constexpr std::array<std::string_view, gpu_units.size()> words{"tensor", "exponential", "shared memory", "L2 port",
                                                                 "DRAM"};
  return words.at(static_cast<std::size_t>(unit));
}

LaunchLoad launch_load(const KernelModel& kernel, const DeviceLimits& limits, double dram_bytes) {
  constexpr int threads_per_warp = 32;
  const Occupancy occupancy = theoretical_occupancy(limits, kernel.footprint());
  const std::int64_t shared = kernel.dynamic_shared_bytes + limits.shared_bytes_reserved;
  return {.work = kernel.work,
          .timing = kernel.timing,
          .blocks = static_cast<double>(kernel.blocks()),
          .warps = std::ceil(static_cast<double>(kernel.threads_per_block()) / threads_per_warp),
          .blocks_per_sm = static_cast<double>(std::max(1, occupancy.blocks_per_sm)),
          .l1_bytes = available_l1_bytes(std::max(1, occupancy.blocks_per_sm) * shared, limits),
          .l2_sm_bytes = static_cast<double>(kernel.traffic.total()),
          .l2_to_sm_bytes = static_cast<double>(kernel.traffic.l2_to_sm_bytes),
          .dram_bytes = dram_bytes,
          .writeback_bytes = estimate_writeback_bytes(kernel, limits, dram_bytes),
          .starts_early = kernel.starts_early,
          .runs = static_cast<double>(kernel.runs)};
}

namespace {

/// A launch at varying clock: only SM times depend on it, so their cycles are computed once.
class TimedLaunch {
 public:
  TimedLaunch(const LaunchLoad& load, const DeviceRates& rates)
      : load_(load),
        sms_(rates.sm_count),
        sm_(load, rates),
        cycles_(sm_cycles(load, sm_, sms_)),
        busy_(busy_cycles(load, rates)),
        l2_ns_(1e9 * over(load.l2_sm_bytes, rates.l2_bytes_per_second)),
        dram_ns_(1e9 * over(load.dram_bytes, rates.dram_bytes_per_second)),
        dram_busy_ns_(1e9 * over(load.dram_bytes - load.writeback_bytes, rates.dram_peak_bytes_per_second)) {}

  [[nodiscard]] double ns(double clock_hz) const {
    return norm(cycles_.all * 1e9 / clock_hz, l2_ns_, dram_ns_, memory_norm) + load_.timing.launch_ns;
  }
  [[nodiscard]] double dram_ns() const { return dram_ns_; }
  [[nodiscard]] double runs() const { return load_.runs; }

  [[nodiscard]] LaunchTime at(double clock_hz) const {
    const double cycle_ns = 1e9 / clock_hz;
    LaunchTime time;
    time.clock_hz = clock_hz;
    time.ns = ns(clock_hz);
    std::ranges::transform(busy_, time.busy_ns.begin(), [&](double cycles) { return cycles / sms_ * cycle_ns; });
    time.busy_ns[static_cast<std::size_t>(GpuUnit::dram)] = dram_busy_ns_;
    time.launch_ns = load_.timing.launch_ns;
    time.sms = static_cast<int>(sms_);
    time.empty_sms = static_cast<int>(std::max(0.0, sms_ - load_.blocks));
    // Early start hides the launch overhead: 3.1 us on an H200, the median of 96 shapes of a combine kernel.
    time.hidden_ns = load_.starts_early ? load_.timing.launch_ns : 0;
    time.waves = load_.blocks / (sms_ * std::max(1.0, load_.blocks_per_sm));
    time.idle_ns = std::max(0.0, cycles_.all - cycles_.balanced) * cycle_ns;
    return time;
  }

 private:
  const LaunchLoad& load_;
  double sms_;
  Sm sm_;
  ScheduledCycles cycles_;
  UnitValues busy_;
  double l2_ns_;
  double dram_ns_;
  double dram_busy_ns_;
};

std::vector<TimedLaunch> timed_launches(std::span<const LaunchLoad> loads, const DeviceRates& rates) {
  std::vector<TimedLaunch> launches;
  launches.reserve(loads.size());
  for (const LaunchLoad& load : loads) launches.emplace_back(load, rates);
  return launches;
}

/// Repeated execution of launches at a share of the boost clock.
class ClockSolver {
 public:
  ClockSolver(std::span<const TimedLaunch> launches, const DeviceRates& rates) : launches_(launches), rates_(rates) {
    for (const TimedLaunch& launch : launches) {
      tensor_ns_ += launch.runs() * launch.at(rates.boost_hz).busy(GpuUnit::tensor);
      dram_ns_ += launch.runs() * launch.dram_ns();
    }
  }
  [[nodiscard]] bool is_sustainable(double share) const {
    // Executions before the median of ten samples.
    constexpr double preceding_executions = 5;
    const ClockLimits& limits = rates_.clock;
    double ns = 0;
    for (const TimedLaunch& launch : launches_) ns += launch.runs() * launch.ns(share * rates_.boost_hz);
    if (ns <= 0) return true;
    const auto after = [](double time, double lag) { return lag > 0 ? 1 - std::exp(-time / lag) : 1; };
    const double busy = tensor_ns_ / share / ns;
    const double below = limits.load + limits.tensor_slope * std::max(0.0, busy - limits.tensor_threshold);
    if (share > 1 - below * after(ns, limits.load_ns)) return false;
    const double added =
        limits.tensor * tensor_ns_ / ns * std::pow(share, limits.exponent) + limits.dram * dram_ns_ / ns;
    return limits.idle + after(preceding_executions * ns, limits.averaging_ns) * added <= 1;
  }

 private:
  std::span<const TimedLaunch> launches_;
  const DeviceRates& rates_;
  double tensor_ns_ = 0;
  double dram_ns_ = 0;
};

double sustained_clock_hz(std::span<const TimedLaunch> launches, const DeviceRates& rates) {
  constexpr double min_clock_share = 0.3;
  constexpr int halvings = 24;
  if (rates.clock.fixed_hz > 0) return rates.clock.fixed_hz;
  const ClockSolver held(launches, rates);
  if (held.is_sustainable(1)) return rates.boost_hz;
  double within = min_clock_share;
  double above = 1;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (within + above) / 2;
    (held.is_sustainable(middle) ? within : above) = middle;
  }
  return within * rates.boost_hz;
}

}  // namespace

std::vector<LaunchTime> launch_times(std::span<const LaunchLoad> loads, const DeviceRates& rates) {
  const std::vector<TimedLaunch> launches = timed_launches(loads, rates);
  const double clock = sustained_clock_hz(launches, rates);
  std::vector<LaunchTime> times;
  times.reserve(launches.size());
  for (const TimedLaunch& launch : launches) times.push_back(launch.at(clock));
  return times;
}

double point_ns(std::span<const LaunchTime> times) {
  double ns = 0;
  for (const LaunchTime& time : times) ns += time.ns - time.hidden_ns;
  return ns;
}

ScheduleTimes schedule_times(const Schedule& schedule, std::span<const LaunchTime> times, const DeviceRates& rates) {
  return total_schedule_times(schedule, simulate_schedule(schedule, [&](const Operation& each) {
                                if (!each.is_transfer()) return times[each.launch].ns;
                                const auto bytes = static_cast<double>(each.transfer.bytes());
                                // A copy within a GPU reads and writes DRAM.
                                return each.link_bytes() > 0 ? rates.link.copy_ns(bytes)
                                                             : 2e9 * bytes / rates.dram_bytes_per_second;
                              }));
}

std::vector<LaunchTime> busiest_gpu_launches(const Schedule& schedule, std::span<const LaunchTime> times) {
  if (schedule.empty()) return {times.begin(), times.end()};
  std::vector<std::vector<LaunchTime>> gpus(static_cast<std::size_t>(schedule.gpus));
  for (const Operation& each : schedule.operations) {
    if (!each.is_transfer()) gpus[static_cast<std::size_t>(each.gpu)].push_back(times[each.launch]);
  }
  return *std::ranges::max_element(gpus, {}, [](const auto& launches) { return point_ns(launches); });
}

double point_ns(const Schedule& schedule, std::span<const LaunchTime> times, const DeviceRates& rates) {
  return schedule.empty() ? point_ns(times) : schedule_times(schedule, times, rates).ns;
}

std::vector<LaunchLoad> predict_loads(const AttentionModel& model, const DeviceLimits& limits) {
  std::vector<LaunchLoad> loads;
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup) continue;
    const double again = std::max(0.0, static_cast<double>(kernel.traffic.total()) - kernel.work.distinct_bytes);
    const double missed = miss_ratio(kernel.work.reread_bytes, static_cast<double>(limits.l2_bytes));
    loads.push_back(launch_load(kernel, limits, kernel.work.distinct_bytes + missed * again));
  }
  return loads;
}

std::vector<LaunchTime> predict_times(const AttentionModel& model, const DeviceLimits& limits) {
  return predict_times(model, limits, device_rates(limits));
}

std::vector<LaunchTime> predict_times(const AttentionModel& model, const DeviceLimits& limits,
                                      const DeviceRates& rates) {
  return launch_times(predict_loads(model, limits), rates);
}

Traffic AttentionModel::traffic() const {
  Traffic sum;
  for (const KernelModel& kernel : kernels) {
    if (!kernel.setup) sum += kernel.runs * kernel.traffic;
  }
  return sum;
}

std::optional<double> AttentionModel::executed_flops() const {
  if (refusal || !can_predict_time) return std::nullopt;
  double sum = 0;
  for (const KernelModel& kernel : kernels)
    sum += kernel.setup ? 0 : static_cast<double>(kernel.runs) * kernel.work.tensor_flops;
  return sum;
}

}  // namespace attnscope
