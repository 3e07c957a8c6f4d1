// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/pipeline_model.h"

#include <algorithm>
#include <cmath>

#include "kernels/model/block_deal.h"

namespace attnscope {
namespace {

constexpr double schedulers = 4;
constexpr double memory_norm = 4;
/// Of the launching: split-KV's combine takes 3.8 to 4.2 us less behind the launch before it than by itself, on an
/// H200.
constexpr double early_share = 0.7;

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

/// Cycles of an SM that a block's work takes at the units' peaks.
UnitCosts cycles_of_block(const LaunchLoad& load, const DeviceRates& rates) {
  const double blocks = std::max(1.0, load.blocks);
  return {.tensor = over(load.work.tensor_flops / blocks, rates.per_cycle.tensor),
          .exponential = over(load.work.exponentials / blocks, rates.per_cycle.exponential),
          .fp32 = over(load.work.fp32_values / blocks, rates.per_cycle.fp32),
          .shared = over(load.work.shared_bytes / blocks, rates.per_cycle.shared),
          .l2 = over(load.l2_sm_bytes / blocks, rates.per_cycle.l2)};
}

UnitCosts operator*(const UnitCosts& a, const UnitCosts& b) {
  return {.tensor = a.tensor * b.tensor,
          .exponential = a.exponential * b.exponential,
          .fp32 = a.fp32 * b.fp32,
          .shared = a.shared * b.shared,
          .l2 = a.l2 * b.l2};
}

double of_schedulers(const UnitCosts& costs) {
  return costs.tensor + costs.exponential + costs.fp32;
}
double of_sm(const UnitCosts& costs) {
  return costs.shared + costs.l2;
}

/// The most loaded scheduler over the mean. A block's warps are dealt out from the first scheduler on; those of blocks
/// with fewer than four fill up what others left.
double imbalance(double warps_of_block, double blocks) {
  const double dealt = warps_of_block > schedulers ? warps_of_block : warps_of_block * blocks;
  return std::ceil(dealt / schedulers) / (dealt / schedulers);
}

/// One SM, in cycles.
class Sm {
 public:
  Sm(const LaunchLoad& load, const DeviceRates& rates) : load_(load), warps_(std::max(1.0, load.warps)) {
    const UnitCosts peak = cycles_of_block(load, rates);
    const UnitCosts alone = load.timing.alone * peak;
    busy_ = load.timing.busy * peak;
    alone_ = schedulers / warps_ * (of_schedulers(alone) + of_sm(alone));
  }

  /// A block of mean length.
  [[nodiscard]] BlockRun mean() const {
    const double blocks = std::max(1.0, load_.blocks);
    return {.blocks = 1,
            .steps = load_.work.steps / blocks,
            .rounds = load_.work.rounds / blocks,
            .squares_read = load_.work.squares_read / blocks};
  }
  /// Of such a block, `at_once` of which begin together.
  [[nodiscard]] double cycles(const BlockRun& block, double at_once) const {
    const double share = work_share(block);
    const double work = share * std::max(of_schedulers(busy_) * imbalance(warps_, at_once), of_sm(busy_));
    const double waits = std::max(0.0, waits_of_steps(block) - (at_once - 1) * work);
    return norm(latency_of(block, share), at_once * work, load_.timing.overlap) + waits +
           load_.timing.skew * work / at_once;
  }
  /// Of a mean block.
  [[nodiscard]] double latency() const { return latency_of(mean(), 1) + waits_of_steps(mean()); }
  /// Of a mean block, work only.
  [[nodiscard]] const UnitCosts& busy() const { return busy_; }

 private:
  /// Of the units' work, over the mean.
  [[nodiscard]] double work_share(const BlockRun& block) const {
    const BlockRun of_mean = mean();
    return of_mean.rounds > 0 ? block.rounds / of_mean.rounds : over(block.steps, of_mean.steps);
  }
  [[nodiscard]] double latency_of(const BlockRun& block, double share) const {
    return load_.timing.block_latency + load_.timing.round_latency * block.rounds +
           load_.timing.square_latency * block.squares_read + alone_ * share;
  }
  [[nodiscard]] double waits_of_steps(const BlockRun& block) const {
    return load_.timing.step_latency * block.steps / load_.work.steps_at_once;
  }

  const LaunchLoad& load_;
  double warps_;
  UnitCosts busy_;
  double alone_ = 0;
};

/// Blocks that are alike: waves on all places, the last one as full as it is.
DealtCycles cycles_in_waves(const LaunchLoad& load, const Sm& sm, double sms) {
  const BlockRun block = sm.mean();
  const double blocks = std::max(1.0, load.blocks);
  const double each = std::max(1.0, load.blocks_per_sm);
  const double full = std::floor(blocks / (sms * each));
  const double rest = std::ceil((blocks - full * sms * each) / sms);
  const double wave = sm.cycles(block, each);
  return {.all = full * wave + (rest > 0 ? sm.cycles(block, rest) : 0), .evenly = blocks / (sms * each) * wave};
}

DealtCycles sm_cycles(const LaunchLoad& load, const Sm& sm, double sms) {
  if (load.work.order.empty()) return cycles_in_waves(load, sm, sms);
  return dealt_cycles(load.work.order, static_cast<int>(sms), static_cast<int>(std::max(1.0, load.blocks_per_sm)),
                      [&](const BlockRun& block, double at_once) { return sm.cycles(block, at_once); });
}

/// Of the L2's size: half of what is reread is missed where what the blocks pass through takes this share of it, and
/// the exponent by which that turns from little to all. Of FlashAttention-1 at d 64 on an H200, warm: 10% of its bytes
/// reach DRAM at 19 MiB, 54% at 32 MiB, 91% at 44 MiB.
constexpr double half_missed_share = 0.52;
constexpr double miss_exponent = 6;

double missed_share(double cycled_bytes, double l2_bytes) {
  if (cycled_bytes <= 0 || l2_bytes <= 0) return 0;
  return 1 / (1 + std::pow(half_missed_share * l2_bytes / cycled_bytes, miss_exponent));
}

}  // namespace

std::string_view to_string(TimeTerm term) {
  constexpr std::array<std::string_view, time_term_count> words{
      "tensor", "exponential", "fp32", "shared memory", "L2 port", "latency", "L2", "DRAM", "launch"};
  return words.at(static_cast<std::size_t>(term));
}

TimeTerm LaunchTime::bound() const {
  return static_cast<TimeTerm>(std::ranges::max_element(terms) - terms.begin());
}

double LaunchTime::bound_by() const {
  std::array<double, time_term_count> sorted = terms;
  std::ranges::sort(sorted, std::greater{});
  return sorted[1] > 0 ? sorted[0] / sorted[1] : 1;
}

LaunchLoad launch_load(const KernelModel& kernel, const DeviceLimits& limits, double dram_bytes) {
  constexpr int threads_per_warp = 32;
  const Occupancy occupancy = theoretical_occupancy(limits, kernel.footprint());
  return {.work = kernel.work,
          .timing = kernel.timing,
          .blocks = static_cast<double>(kernel.blocks()),
          .warps = std::ceil(static_cast<double>(kernel.threads_per_block()) / threads_per_warp),
          .blocks_per_sm = static_cast<double>(std::max(1, occupancy.blocks_per_sm)),
          .l2_sm_bytes = static_cast<double>(kernel.traffic.total()),
          .dram_bytes = dram_bytes,
          .starts_early = kernel.starts_early};
}

namespace {

/// A launch, all of whose times but the SMs' are the same at any clock: what its SMs do in cycles is asked once.
class TimedLaunch {
 public:
  TimedLaunch(const LaunchLoad& load, const DeviceRates& rates)
      : load_(load),
        sms_(rates.sm_count),
        sm_(load, rates),
        cycles_(sm_cycles(load, sm_, sms_)),
        l2_ns_(1e9 * over(load.l2_sm_bytes, rates.l2_bytes_per_second)),
        dram_ns_(1e9 * over(load.dram_bytes, rates.dram_bytes_per_second)) {}

  [[nodiscard]] double ns(double clock_hz) const {
    return norm(cycles_.all * 1e9 / clock_hz, l2_ns_, dram_ns_, memory_norm) + load_.timing.launch_ns;
  }
  [[nodiscard]] double dram_ns() const { return dram_ns_; }
  [[nodiscard]] double tensor_flops() const { return load_.work.tensor_flops; }

  [[nodiscard]] LaunchTime at(double clock_hz) const {
    const double cycle_ns = 1e9 / clock_hz;
    LaunchTime time;
    time.clock_hz = clock_hz;
    time.ns = ns(clock_hz);
    const double on_each = std::max(1.0, load_.blocks) / sms_ * cycle_ns;
    const auto set = [&](TimeTerm which, double ns) { time.terms[static_cast<std::size_t>(which)] = ns; };
    set(TimeTerm::tensor, sm_.busy().tensor * on_each);
    set(TimeTerm::exponential, sm_.busy().exponential * on_each);
    set(TimeTerm::fp32, sm_.busy().fp32 * on_each);
    set(TimeTerm::shared_memory, sm_.busy().shared * on_each);
    set(TimeTerm::l2_port, sm_.busy().l2 * on_each);
    set(TimeTerm::latency, sm_.latency() * on_each / std::max(1.0, std::min(load_.blocks_per_sm, load_.blocks / sms_)));
    set(TimeTerm::l2, l2_ns_);
    set(TimeTerm::dram, dram_ns_);
    set(TimeTerm::launch, load_.timing.launch_ns);
    time.hidden_ns = load_.starts_early ? early_share * load_.timing.launch_ns : 0;
    time.waves = load_.blocks / (sms_ * std::max(1.0, load_.blocks_per_sm));
    time.idle_ns = std::max(0.0, cycles_.all - cycles_.evenly) * cycle_ns;
    return time;
  }

 private:
  const LaunchLoad& load_;
  double sms_;
  Sm sm_;
  DealtCycles cycles_;
  double l2_ns_;
  double dram_ns_;
};

std::vector<TimedLaunch> timed(std::span<const LaunchLoad> loads, const DeviceRates& rates) {
  std::vector<TimedLaunch> launches;
  launches.reserve(loads.size());
  for (const LaunchLoad& load : loads) launches.emplace_back(load, rates);
  return launches;
}

double held_clock_of(std::span<const TimedLaunch> launches, const DeviceRates& rates) {
  // Of a median of ten samples: what ran before it.
  constexpr double executions_before = 5;
  constexpr double lowest_share = 0.3;
  constexpr int halvings = 24;
  double tensor_ns = 0;  // at the peak
  double dram_ns = 0;
  for (const TimedLaunch& launch : launches) {
    tensor_ns += 1e9 * over(launch.tensor_flops(), rates.per_cycle.tensor * rates.sm_count * rates.boost_hz);
    dram_ns += launch.dram_ns();
  }
  const auto power = [&](double share) {
    double ns = 0;
    for (const TimedLaunch& launch : launches) ns += launch.ns(share * rates.boost_hz);
    if (ns <= 0) return 0.0;
    const double added =
        rates.power.tensor * tensor_ns / ns * std::pow(share, rates.power.exponent) + rates.power.dram * dram_ns / ns;
    const double felt = rates.power.lag_ns > 0 ? 1 - std::exp(-executions_before * ns / rates.power.lag_ns) : 1;
    return rates.power.idle + felt * added;
  };
  if (power(1) <= 1) return rates.boost_hz;
  double within = lowest_share;
  double above = 1;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (within + above) / 2;
    (power(middle) <= 1 ? within : above) = middle;
  }
  return within * rates.boost_hz;
}

}  // namespace

LaunchTime launch_time(const LaunchLoad& load, const DeviceRates& rates, double clock_hz) {
  return TimedLaunch(load, rates).at(clock_hz);
}

double held_clock_hz(std::span<const LaunchLoad> loads, const DeviceRates& rates) {
  return held_clock_of(timed(loads, rates), rates);
}

std::vector<LaunchTime> launch_times(std::span<const LaunchLoad> loads, const DeviceRates& rates) {
  const std::vector<TimedLaunch> launches = timed(loads, rates);
  const double clock = held_clock_of(launches, rates);
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

std::vector<LaunchLoad> predict_loads(const AttentionModel& model, const DeviceLimits& limits) {
  std::vector<LaunchLoad> loads;
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup) continue;
    const double again = std::max(0.0, static_cast<double>(kernel.traffic.total()) - kernel.work.distinct_bytes);
    const double missed = missed_share(kernel.work.cycled_bytes, static_cast<double>(limits.l2_bytes));
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

}  // namespace attnscope
