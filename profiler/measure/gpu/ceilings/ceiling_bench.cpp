// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/ceilings/ceiling_loads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <utility>

#include "profiler/measure/gpu/point_abort.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::gpu {
namespace {

namespace key = ceiling_key;
using Method = CeilingLoad::Method;

constexpr std::chrono::milliseconds limit{15'000};
constexpr std::int64_t report_bytes = 64;
constexpr int max_iterations = 1 << 26;
constexpr int most_rows = 65535;  // grid.y limit
/// Covers the host's time to enqueue 256 empty launches.
constexpr std::chrono::nanoseconds launch_batch_delay = std::chrono::milliseconds(4);
constexpr std::chrono::nanoseconds launch_delay = std::chrono::microseconds(50);
constexpr double bottleneck_threshold_pct = 5;
/// A load counts as throttled if its clock is below this fraction of the highest one. NVML's reasons lag and cannot be
/// attributed to loads that take milliseconds.
constexpr double throttle_threshold = 0.97;
/// Samples per curve size; counters vary only with other work on the GPU.
constexpr int counted_rounds = 3;

std::string data_half_of(const std::string& buffer) {
  return buffer + "_half";
}

[[noreturn]] void refuse(std::int64_t needed, std::int64_t free) {
  throw PointAbort(Disposition::out_of_memory, make_message("Needs {} bytes ({}) of device memory; {} bytes are free.",
                                                            needed, text(Capacity(needed)), free));
}

void add_remark(const Message& remark, CeilingSet& set) {
  const bool said = std::ranges::any_of(set.remarks, [&](const Message& other) { return text(other) == text(remark); });
  if (!said) set.remarks.push_back(remark);
}

Ceiling summary_of(std::string name, double argument, std::string_view unit, const std::vector<double>& values,
                   CeilingSource source = CeilingSource::measured) {
  const SampleSummary summary = *summarize(values);
  return {.name = std::move(name),
          .argument = argument,
          .value = summary.median,
          .q1 = summary.q1,
          .q3 = summary.q3,
          .unit = std::string(unit),
          .source = source};
}

class CeilingBench {
 public:
  explicit CeilingBench(CeilingResources place)
      : place_(std::move(place)),
        cuda_(place_.runner.cuda()),
        sizes_(ceiling_buffers(place_.limits, free_device_bytes(cuda_))),
        begin_(make_event(cuda_)),
        end_(make_event(cuda_)) {
    if (place_.nvml != nullptr) other_utilization_ = place_.nvml->utilization_pct();
    const std::int64_t free = free_device_bytes(cuda_);
    if (sizes_.data_bytes == 0) refuse(min_free_bytes_for_ceilings(place_.limits), free);
    try {
      const auto make = [&](const char* name, std::int64_t bytes) { buffers_.emplace(name, allocate(cuda_, bytes)); };
      make("data", sizes_.data_bytes);
      make("ring_dram", sizes_.ring_bytes);
      make("ring_l2", sizes_.l2_ring_bytes);
      make("ring_l1", l1_ring_bytes);
      make(ceiling_report, report_bytes);
    } catch (const DriverError& error) {
      if (error.code() != CUDA_ERROR_OUT_OF_MEMORY) throw;
      refuse(sizes_.data_bytes + sizes_.ring_bytes + sizes_.l2_ring_bytes + l1_ring_bytes, free);
    }
  }

  CeilingSet measure(const CeilingOptions& options, const CancelToken& cancel, const CeilingProgress& progress) {
    cancel_ = &cancel;
    progress_ = progress;
    throw_if_cancelled();
    CeilingSet set;
    std::vector<CeilingLoad> loads = ceiling_loads(place_.limits, sizes_);
    begin(loads);
    calibrate_loads(std::move(loads), set);
    std::vector<SampledLoad*> order;
    for (SampledLoad& sampled : loads_) order.push_back(&sampled);
    std::mt19937_64 random(options.seed);
    for (int round = 0; round < options.rounds; ++round) {
      std::ranges::shuffle(order, random);
      for (SampledLoad* const sampled : order) {
        throw_if_cancelled();
        record_sample(*sampled);
      }
      report_progress(0.4 + 0.6 * (round + 1) / options.rounds);
    }
    report_progress(1);
    for (const SampledLoad& sampled : loads_) add_ceilings(sampled, set);
    add_capacities(set);
    add_conditions(set);
    return set;
  }

  [[nodiscard]] const CeilingKind* current() const { return at_; }

 private:
  struct SampledLoad {
    CeilingLoad load;
    std::vector<PreparedLaunch> prepared{};  ///< One element after prepare().
    std::vector<double> values{};
    std::vector<double> clocks_hz{};
    std::optional<std::uint64_t> throttle_reasons{};  ///< Empty until NVML has been read.

    [[nodiscard]] bool measures_same_as(const CeilingLoad& other) const {
      return load.key == other.key && load.argument == other.argument;
    }
  };
  struct Sample {
    double milliseconds = 0;  ///< From CUDA events.
    double nanoseconds = 0;   ///< From the global timer of the first block; 0 for driver copies and empty launches.
    double cycles = 0;
  };

  void throw_if_cancelled() const {
    if (cancel_->cancelled()) throw PointAbort(Disposition::cancelled, "Cancelled; no ceilings were stored.");
  }

  void prepare(SampledLoad& sampled) {
    CeilingLoad& load = sampled.load;
    if (load.iterations_in_grid) {
      load.launch.grid[1] = static_cast<std::uint32_t>(load.iterations);
    } else if (!load.launch.arguments.empty()) {
      load.launch.arguments.back() = std::int32_t{load.iterations};
    }
    sampled.prepared.clear();
    sampled.prepared.emplace_back(cuda_, load.launch, place_.runner.load(load.launch), [&](const std::string& buffer) {
      if (buffer == data_half_of("data")) {
        return buffers_.at("data").get() + static_cast<CUdeviceptr>(sizes_.data_bytes / 2);
      }
      return buffers_.at(buffer).get();
    });
  }

  void enqueue(SampledLoad& sampled) {
    const CUstream stream = place_.runner.stream();
    const CUdeviceptr data = buffers_.at("data").get();
    const std::int64_t half = sizes_.data_bytes / 2;
    const int times = sampled.load.method == Method::kernel ? 1 : sampled.load.iterations;
    for (int i = 0; i < times; ++i) {
      if (sampled.load.method == Method::driver_copy) {
        cuda_.copy_on_device(data + static_cast<CUdeviceptr>(half), data, static_cast<std::size_t>(half), stream);
      } else {
        sampled.prepared.front().enqueue(cuda_, stream);
      }
    }
  }

  /// `share`: done part of the whole measurement, 0 to 1.
  void report_progress(double share) {
    const auto percent = static_cast<std::size_t>(100 * share);
    if (percent <= percent_) return;
    percent_ = percent;
    if (progress_) progress_(percent, 100);
  }

  Sample measure_sample(SampledLoad& sampled) {
    KernelRunner& runner = place_.runner;
    const CeilingLoad& load = sampled.load;
    at_ = find_ceiling(load.key);
    if (load.cold) runner.enqueue_l2_clear();
    if (load.warm) enqueue(sampled);
    runner.enqueue_delay(load.method == Method::launches ? launch_batch_delay : launch_delay);
    cuda_.record(begin_.get(), runner.stream());
    enqueue(sampled);
    cuda_.record(end_.get(), runner.stream());
    if (const auto reading = place_.nvml != nullptr ? place_.nvml->read() : std::nullopt) {
      sampled.throttle_reasons = sampled.throttle_reasons.value_or(0) | reading->throttle_reasons;
    }
    runner.wait(end_.get(), limit);
    Sample sample{.milliseconds = 1e-6 * cuda_.elapsed_ns(begin_.get(), end_.get())};
    if (load.method != Method::kernel || load.iterations_in_grid) return sample;  // the first block ends early
    std::array<std::uint64_t, 2> report{};
    cuda_.copy_to_host(report.data(), buffers_.at(ceiling_report).get(), sizeof report);
    sample.cycles = static_cast<double>(report[0]);
    sample.nanoseconds = static_cast<double>(report[1]);
    return sample;
  }

  /// Raises the iterations until a sample takes the load's `milliseconds`.
  void calibrate(SampledLoad& sampled) {
    at_ = find_ceiling(sampled.load.key);
    int& iterations = sampled.load.iterations;
    if (iterations > 0) {
      prepare(sampled);
      (void)measure_sample(sampled);
      return;
    }
    iterations = 1;
    prepare(sampled);
    (void)measure_sample(sampled);  // first launch includes one-time costs
    for (;;) {
      const double milliseconds = measure_sample(sampled).milliseconds;
      const double wanted = sampled.load.milliseconds;
      const int most = sampled.load.iterations_in_grid ? most_rows : max_iterations;
      if (milliseconds <= 0 || milliseconds > wanted / 2 || iterations >= most) return;
      const double factor = std::clamp(wanted / milliseconds, 2.0, 1000.0);
      iterations = static_cast<int>(std::min<double>(most, std::ceil(iterations * factor)));
      prepare(sampled);
    }
  }

  void record_sample(SampledLoad& sampled) {
    const CeilingLoad& load = sampled.load;
    const Sample sample = measure_sample(sampled);
    const double done = load.amount * load.iterations;
    // A pointer chase is timed by its own thread, without launch and set-up time.
    const double nanoseconds = load.value == CeilingLoad::Value::each && load.method == Method::kernel
                                   ? sample.nanoseconds
                                   : 1e6 * sample.milliseconds;
    if (nanoseconds <= 0) return;
    sampled.values.push_back(load.value == CeilingLoad::Value::rate ? 1e9 * done / nanoseconds : nanoseconds / done);
    if (sample.nanoseconds > 0) sampled.clocks_hz.push_back(1e9 * sample.cycles / sample.nanoseconds);
  }

  /// Compiles the kernels and initializes the buffers.
  void begin(const std::vector<CeilingLoad>& loads) {
    KernelRunner& runner = place_.runner;
    std::vector<KernelLaunch> launches{ring_launch("ring_dram", sizes_.ring_bytes)};
    for (const CeilingLoad& load : loads) launches.push_back(load.launch);
    // Compile errors are reported when the kernel is loaded.
    (void)place_.builder.build_all(place_.arch, launches, 0, *cancel_,
                                   [&](std::size_t done, std::size_t total, const BuildReport&) {
                                     report_progress(0.2 * static_cast<double>(done) / static_cast<double>(total));
                                   });
    throw_if_cancelled();

    runner.enqueue_store_noise(buffers_.at("data").get(), sizes_.data_bytes);
    for (const auto& [ring, bytes] :
         {std::pair("ring_dram", sizes_.ring_bytes), std::pair("ring_l2", sizes_.l2_ring_bytes),
          std::pair("ring_l1", l1_ring_bytes)}) {
      const KernelLaunch link = ring_launch(ring, bytes);
      PreparedLaunch(cuda_, link, runner.load(link), [&](const std::string& name) {
        return buffers_.at(name).get();
      }).enqueue(cuda_, runner.stream());
    }
    runner.wait(limit);
  }

  /// Loads and calibrates all loads. Drops a failed load with a remark.
  void calibrate_loads(std::vector<CeilingLoad> loads, CeilingSet& set) {
    std::vector<std::pair<CeilingLoad, Message>> failures;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      throw_if_cancelled();
      SampledLoad& sampled = loads_.emplace_back(SampledLoad{.load = std::move(loads[i])});
      try {
        calibrate(sampled);
      } catch (const PointAbort& end) {
        if (end.disposition() == Disposition::cancelled) throw;
        failures.emplace_back(std::move(sampled.load), end.reason());
        loads_.pop_back();
      }
      report_progress(0.2 + 0.2 * static_cast<double>(i + 1) / static_cast<double>(loads.size()));
    }
    for (const auto& [load, reason] : failures) {
      const Message label = find_ceiling(load.key)->label();
      const Message remark = make_reason("ceiling.kernel_failed", "{} could not be measured: {}", label, reason);
      if (loads_.empty()) throw PointAbort(Disposition::crashed, remark);
      const bool has_alternative = std::ranges::any_of(
          loads_, [&failed = load](const SampledLoad& sampled) { return sampled.measures_same_as(failed); });
      add_remark(has_alternative ? make_message("{}: one of its benchmarks failed: {}", label, reason) : remark, set);
    }
    keep_fastest();
  }

  /// Keeps the fastest of the loads that measure the same ceiling.
  void keep_fastest() {
    std::map<std::pair<std::string_view, double>, std::pair<const SampledLoad*, double>> fastest;  // and its rate
    for (SampledLoad& sampled : loads_) {
      const CeilingLoad& load = sampled.load;
      const auto same = [&](const SampledLoad& other) { return other.measures_same_as(load); };
      double rate = 0;
      if (std::ranges::count_if(loads_, same) > 1) {
        throw_if_cancelled();
        for (int again = 0; again < 3; ++again) {
          const double milliseconds = measure_sample(sampled).milliseconds;
          if (milliseconds > 0) rate = std::max(rate, load.amount * load.iterations / milliseconds);
        }
      }
      auto [found, is_new] = fastest.try_emplace({load.key, load.argument}, &sampled, rate);
      if (!is_new && rate > found->second.second) found->second = {&sampled, rate};
    }
    loads_.remove_if([&](const SampledLoad& sampled) {
      return fastest.at({sampled.load.key, sampled.load.argument}).first != &sampled;
    });
  }

  void add_ceilings(const SampledLoad& sampled, CeilingSet& set) const {
    const CeilingKind& kind = *find_ceiling(sampled.load.key);
    if (sampled.values.empty()) {
      add_remark(make_reason("ceiling.kernel_failed", "{} could not be measured: no valid samples.", kind.label()),
                 set);
      return;
    }
    set.ceilings.push_back(summary_of(std::string(kind.key), sampled.load.argument, kind.unit, sampled.values));
    if (kind.curve || sampled.clocks_hz.empty()) return;
    set.ceilings.push_back(
        summary_of(std::string(kind.key).append(ceiling_clock_suffix), 0, "hertz", sampled.clocks_hz));
  }

  std::vector<Ceiling> measured_miss_rates(std::string_view read, std::string_view miss) {
    const auto counters = default_counters(place_.limits.compute_major);
    const auto dram_read = std::ranges::find(counters, metric_key::dram_read_bytes, &CounterMetric::name);
    RangeProfiler& profiler = place_.counters->profiler();
    const CounterConfig config = profiler.host().configure({dram_read->counter});
    std::vector<RangeProfiler::Range> ranges;
    const auto name_of = [](const SampledLoad& sampled, int round) {
      return fmt::format("{} {} {}", sampled.load.key, sampled.load.argument, round);
    };
    const auto run = [this](SampledLoad& sampled) {
      throw_if_cancelled();
      at_ = find_ceiling(sampled.load.key);
      enqueue(sampled);
      place_.runner.wait(limit);
    };
    for (SampledLoad& sampled : loads_) {
      if (sampled.load.key != read) continue;
      for (int round = 0; round < counted_rounds; ++round) {
        ranges.push_back({.name = name_of(sampled, round),
                          .before = [&sampled, run] { run(sampled); },
                          .work = [&sampled, run] { run(sampled); }});
      }
    }
    if (ranges.empty()) return {};
    const auto raw = profiler.collect(config, ranges);
    std::vector<Ceiling> misses;
    for (const SampledLoad& sampled : loads_) {
      if (sampled.load.key != read) continue;
      std::vector<double> shares;
      for (int round = 0; round < counted_rounds; ++round) {
        const double bytes = raw.at(name_of(sampled, round)).front();
        shares.push_back(bytes / (sampled.load.amount * sampled.load.iterations));
      }
      misses.push_back(summary_of(std::string(miss), sampled.load.argument, "1", shares));
    }
    return misses;
  }

  /// Estimates the miss rate from times: 0 at the size with the least time per byte, 1 at the largest size.
  static std::vector<Ceiling> estimated_miss_rates(const CeilingSet& set, std::string_view read,
                                                   std::string_view miss) {
    std::vector<Ceiling> misses;
    double hit = 0;
    double largest = 0;
    double missed = 0;
    for (const Ceiling& ceiling : set.ceilings) {
      if (ceiling.name != read) continue;
      const double time = 1 / ceiling.value;
      hit = hit == 0 ? time : std::min(hit, time);
      if (ceiling.argument > largest) {
        largest = ceiling.argument;
        missed = time;
      }
      misses.push_back({.name = std::string(miss),
                        .argument = ceiling.argument,
                        .value = time,
                        .unit = "1",
                        .source = CeilingSource::derived});
    }
    if (missed <= hit) return {};
    for (Ceiling& ceiling : misses) ceiling.value = std::clamp((ceiling.value - hit) / (missed - hit), 0.0, 1.0);
    return misses;
  }

  /// Adds the miss rates of both curves, and the sizes at which half of the reads miss.
  void add_capacities(CeilingSet& set) {
    Message no_counters = place_.no_counters;
    const std::array curves{std::array{key::l2_shared_read, key::l2_shared_miss, key::l2_shared_capacity},
                            std::array{key::l2_private_read, key::l2_private_miss, key::l2_private_capacity}};
    std::vector<std::vector<Ceiling>> misses;
    bool counted = false;
    if (place_.counters != nullptr) {
      try {
        for (const auto& [read, miss, capacity] : curves) misses.push_back(measured_miss_rates(read, miss));
        counted = true;
      } catch (const CuptiError& error) {
        no_counters = Message::verbatim(error.what());
        misses.clear();
      }
    }
    if (!counted) {
      set.remarks.push_back(
          make_message("L2 miss rates are derived from times, since counters are unavailable: {}", no_counters));
      for (const auto& [read, miss, capacity] : curves) misses.push_back(estimated_miss_rates(set, read, miss));
    }
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const auto half = half_miss_size(misses[i]);
      std::ranges::move(misses[i], std::back_inserter(set.ceilings));
      if (!half) continue;
      set.ceilings.push_back({.name = std::string(curves[i][2]),
                              .value = *half,
                              .unit = std::string(find_ceiling(curves[i][2])->unit),
                              .source = CeilingSource::derived});
    }
  }

  void add_conditions(CeilingSet& set) const {
    if (other_utilization_) {
      set.ceilings.push_back({.name = std::string(key::others_use), .value = *other_utilization_, .unit = "percent"});
      if (*other_utilization_ >= bottleneck_threshold_pct) {
        set.remarks.push_back(make_message(
            "Other processes used {:.0f}% of the GPU at the start; the ceilings may be too low.", *other_utilization_));
      }
    } else {
      set.remarks.push_back("Other use of the GPU is unknown: NVML gave no utilization.");
    }
    if (std::ranges::any_of(loads_, [](const SampledLoad& sampled) { return !sampled.throttle_reasons; })) {
      set.remarks.push_back("Throttling is unknown: NVML gave no throttle reasons.");
      return;
    }
    std::uint64_t reasons = 0;
    std::map<std::string_view, double> clocks;
    double highest = 0;
    for (const SampledLoad& sampled : loads_) {
      reasons |= *sampled.throttle_reasons;
      if (const auto clock = summarize(sampled.clocks_hz)) {
        clocks.emplace(sampled.load.key, clock->median);
        highest = std::max(highest, clock->median);
      }
    }
    std::vector<std::string_view> slowed;
    for (const auto& [name, clock] : clocks) {
      if (clock < throttle_threshold * highest) slowed.push_back(name);
    }
    set.ceilings.push_back(
        {.name = std::string(key::throttle_reasons), .value = static_cast<double>(reasons), .unit = "1"});
    if (slowed.empty() || !indicates_throttling(reasons)) return;
    set.remarks.push_back(make_message("The GPU was throttled ({}) during: {}.", describe_throttle_reasons(reasons),
                                       fmt::join(slowed, ", ")));
  }

  CeilingResources place_;
  const CudaApi& cuda_;
  CeilingBuffers sizes_;
  std::map<std::string, DeviceMemory> buffers_;
  Event begin_;
  Event end_;
  std::optional<double> other_utilization_;
  std::list<SampledLoad> loads_;  ///< Not moved: PreparedLaunch keeps a pointer to its load.
  const CancelToken* cancel_ = nullptr;
  const CeilingKind* at_ = nullptr;
  CeilingProgress progress_;
  std::size_t percent_ = 0;
};

}  // namespace

CeilingSet measure_ceilings(const CeilingResources& resources, const CeilingOptions& options, const CancelToken& cancel,
                            const CeilingProgress& progress, const CeilingKind*& current) {
  CeilingBench bench(resources);
  try {
    return bench.measure(options, cancel, progress);
  } catch (...) {
    current = bench.current();
    throw;
  }
}

}  // namespace attnscope::gpu
