// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/points/fixtures.h"
#include "kernels/registry.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::fixtures {
namespace {

constexpr double counter_excess = 1.001;

void add_values(KernelRecord& kernel, const Traffic& traffic, double dram_share, double seconds,
                Provenance provenance) {
  const auto add = [&](std::string_view name, double value, const char* unit, Provenance origin) {
    kernel.metrics.push_back({std::string(name), value, unit, origin});
  };
  const auto in = static_cast<double>(traffic.l2_to_sm_bytes);
  const auto out = static_cast<double>(traffic.sm_to_l2_bytes);
  add(metric_key::l2_to_sm_bytes, in * counter_excess, "byte", provenance);
  add(metric_key::sm_to_l2_bytes, out * counter_excess, "byte", provenance);
  add(metric_key::dram_read_bytes, in * dram_share, "byte", provenance);
  add(metric_key::dram_write_bytes, out * dram_share, "byte", provenance);
  add(metric_key::achieved_occupancy_pct, 24.3, "percent", provenance);
  add(metric_key::theoretical_occupancy_pct, 25, "percent", provenance);
  add(metric_key::registers, 168, "register", provenance);
  add(metric_key::shared_bytes, 98304, "byte", provenance);
  add(metric_key::local_bytes, 0, "byte", provenance);
  for (int i = 0; i < 12; ++i) kernel.samples_ns.push_back(seconds * 1e9 * (1 + 0.004 * std::sin(i)));
  kernel.occupancy_limiter = "shared memory";
}

}  // namespace

const DeviceLimits& h200() {
  return *find_gpu("H200");
}

PointSpec spec(const std::string& algorithm, std::int64_t n, int br, int bc, std::int64_t d) {
  PointSpec point;
  point.algorithm = algorithm;
  point.problem.heads_q = 132;
  point.problem.heads_kv = 132;
  point.problem.n_q = n;
  point.problem.n_k = n;
  point.problem.d = d;
  point.tile.br = br;
  point.tile.bc = bc;
  return point;
}

PointRecord ok_point(const PointSpec& spec, bool simulated) {
  PointRecord record;
  record.spec = spec;
  record.provenance = simulated ? Provenance::simulated : Provenance::measured;
  const Algorithm& algorithm = *built_in_algorithms().find(spec.algorithm);
  const AttentionPlan plan = algorithm.plan(spec.problem, spec.config(), h200());
  add_model_metrics(algorithm, plan, spec.problem, record);

  const DeviceLimits& limits = h200();
  const auto total = static_cast<double>(plan.traffic().total());
  const auto least = static_cast<double>(compulsory_traffic(spec.problem).total());
  // DRAM bytes between all L2 hits and all misses, around the point where the working set exceeds L2.
  const double pressure = static_cast<double>(plan.buffer_bytes()) / static_cast<double>(limits.l2_bytes);
  const double miss = spec.algorithm == "fa2" ? 0 : 1 / (1 + std::pow(1 / std::max(pressure / 2, 1e-9), 4));
  const double dram_share = (least + miss * std::max(0.0, total - least)) / total;
  for (const KernelLaunch& launch : plan.launches) {
    const auto traffic_seconds = static_cast<double>(launch.traffic.total()) / limits.l2_bytes_per_second;
    const double skew =
        1 + 0.6 * std::abs(std::log2(spec.tile.br / 128.0)) + 0.3 * std::abs(std::log2(spec.tile.bc / 64.0));
    const double seconds = std::max(traffic_seconds, forward_flops(spec.problem) / 3e14) * skew + 5e-6;
    if (plan.launches.size() > 1) {
      add_values(kernel_record(record, launch.name), launch.traffic, dram_share, seconds, record.provenance);
    } else {
      add_values(kernel_record(record, "all"), launch.traffic, dram_share, seconds, record.provenance);
    }
  }
  if (plan.launches.size() > 1) {
    const double seconds = total / limits.l2_bytes_per_second * 1.3 + 15e-6;
    add_values(kernel_record(record, "all"), plan.traffic(), dram_share, seconds, record.provenance);
  }
  record.max_abs_error = 3.1e-4;
  record.error_bound = 2.2e-3;
  record.rms_error = 1.9e-5;
  if (!simulated) record.clocks = ClockReading{1.98e9, 3.2e9, 54, 512, 0, false};
  return record;
}

PointRecord failed_point(const PointSpec& spec, Disposition disposition, const Message& reason) {
  PointRecord record;
  record.spec = spec;
  record.disposition = disposition;
  record.reason = reason;
  return record;
}

std::vector<PointRecord> memory_wall(bool simulated) {
  std::vector<PointRecord> points;
  for (const std::string name : {"naive", "fa1", "fa2"}) {
    for (std::int64_t n = 256; n <= 16384; n *= 2) {
      PointSpec point = spec(name, n);
      point.set_config(built_in_algorithms().find(name)->default_config(point.problem, h200()));
      if (name == "naive" && n > 8192) {
        points.push_back(
            failed_point(point, Disposition::out_of_memory, "needs 132 GiB of device memory, 138 GiB are free"));
      } else {
        points.push_back(ok_point(point, simulated));
      }
    }
  }
  return points;
}

std::vector<PointRecord> tile_sweep() {
  std::vector<PointRecord> points;
  for (const std::string name : {"fa1", "fa2"}) {
    for (int br = 16; br <= 256; br += br < 128 ? 16 : 32) {
      for (int bc = 16; bc <= 256; bc += bc < 128 ? 16 : 32) {
        const PointSpec point = spec(name, 4096, br, bc);
        const auto refusal = built_in_algorithms().find(name)->refusal(point.problem, point.tile, h200());
        if (refusal) {
          points.push_back(failed_point(point, Disposition::infeasible, refusal->reason));
        } else if (br == 112 && bc == 96) {
          points.push_back(failed_point(point, Disposition::timeout, "one launch took longer than 15 s"));
        } else if (br == 96 && bc == 16) {
          points.push_back(failed_point(point, Disposition::incorrect, "largest error 0.4, bound 0.0022"));
        } else if (br == 80 && bc == 224) {
          continue;
        } else {
          points.push_back(ok_point(point));
        }
      }
    }
  }
  return points;
}

PointRecord imported_point(const std::string& algorithm, const AttentionProblem& problem, double nanoseconds) {
  PointRecord record;
  record.spec.algorithm = algorithm;
  record.spec.problem = problem;
  record.spec.tile.br = 0;
  record.spec.tile.bc = 0;
  record.provenance = Provenance::imported;
  // Median and quartiles without samples, as other programs report them.
  KernelRecord& all = record.kernels.emplace_back();
  all.metrics = {{std::string(metric_key::time_median_ns), nanoseconds, "ns", Provenance::imported},
                 {std::string(metric_key::time_q1_ns), 0.98 * nanoseconds, "ns", Provenance::imported},
                 {std::string(metric_key::time_q3_ns), 1.05 * nanoseconds, "ns", Provenance::imported}};
  return record;
}

std::vector<PointRecord> peers() {
  std::vector<PointRecord> points;
  for (std::int64_t n = 256; n <= 16384; n *= 2) {
    const AttentionProblem problem = spec("fa2", n).problem;
    points.push_back(imported_point("torch-flash", problem, forward_flops(problem) / 4.2e14 * 1e9 + 9e3));
    points.push_back(imported_point("torch-cudnn", problem, forward_flops(problem) / 5.9e14 * 1e9 + 14e3));
  }
  return points;
}

PointSpec decode_spec(const std::string& algorithm, std::int64_t n_k, std::int64_t n_q) {
  PointSpec point = spec(algorithm, n_k);
  point.problem.n_q = n_q;
  point.problem.heads_q = 16;
  point.problem.heads_kv = 16;
  point.set_config(built_in_algorithms().find(algorithm)->default_config(point.problem, h200()));
  return point;
}

std::vector<PointRecord> decoding() {
  std::vector<PointRecord> points;
  for (std::int64_t n_k = 1024; n_k <= 65536; n_k *= 2) {
    for (const char* name : {"naive", "fa2"}) points.push_back(ok_point(decode_spec(name, n_k)));
  }
  return points;
}

std::vector<PointRecord> backward() {
  std::vector<PointRecord> points;
  for (const Mask& mask : {Mask::none, Mask::causal}) {
    for (std::int64_t n = 512; n <= 8192; n *= 2) {
      for (const std::string name : {"naive", "fa2"}) {
        PointRecord record;
        record.spec = spec(name, n);
        record.spec.problem.pass = Pass::bwd;
        record.spec.problem.mask = mask;
        const Traffic least = compulsory_traffic(record.spec.problem);
        const double excess = name == "naive" ? static_cast<double>(standard_attention_bytes(record.spec.problem)) /
                                                    static_cast<double>(least.total())
                                              : 1 + static_cast<double>(n) / 256;
        const auto scaled = [&](std::int64_t bytes) {
          return static_cast<std::int64_t>(static_cast<double>(bytes) * excess);
        };
        const Traffic moved{.l2_to_sm_bytes = scaled(least.l2_to_sm_bytes),
                            .sm_to_l2_bytes = scaled(least.sm_to_l2_bytes)};
        const double seconds = pass_flops(record.spec.problem) / 2.5e14 + 2e-5;
        add_values(record.kernels.emplace_back(), moved, 0.5, seconds, Provenance::measured);
        points.push_back(record);
      }
    }
  }
  return points;
}

Points& Points::add(const std::vector<PointRecord>& records, const analysis::Run& run) {
  const auto index = static_cast<analysis::RunIndex>(runs_.size());
  runs_.push_back(run);
  records_.insert(records_.end(), records.begin(), records.end());
  run_of_.resize(records_.size(), index);
  return *this;
}

Points& Points::add(const std::vector<PointRecord>& records) {
  return add(records, run(records.empty() ? Provenance::measured : records.front().provenance));
}

analysis::PointTable Points::table() const {
  analysis::PointTableBuilder builder;
  for (const analysis::Run& run : runs_) builder.add_run(run);
  std::vector<std::size_t> places(runs_.size());  // next index in each run's plan
  for (std::size_t i = 0; i < records_.size(); ++i) builder.add(run_of_[i], records_[i], places[run_of_[i]]++);
  return std::move(builder).finish();
}

analysis::Run run(Provenance provenance, const std::string& title, const std::string& started_at) {
  analysis::Run run;
  run.device_id = provenance == Provenance::measured ? "GPU-00000000-1111" : std::string(to_string(provenance));
  run.device_name = h200().name;
  run.title = title;
  run.label = title;
  run.preset = title;
  run.started_at = started_at;
  run.provenance = provenance;
  run.limits = h200();
  return run;
}

}  // namespace attnscope::fixtures
