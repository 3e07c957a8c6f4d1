// SPDX-License-Identifier: Apache-2.0
#include "sweep_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "profiler/metrics/metrics.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

/// Runs of a file with their points. Throws Wrong if a run was not measured on a GPU.
std::vector<Sweep> read_sweeps(const fs::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  std::vector<Sweep> sweeps;
  for (const RunSummary& run : store.runs()) {
    require(!run.simulated, "the GPU was replaced by a simulation");
    Sweep& sweep = sweeps.emplace_back();
    sweep.state = run.state;
    for (const StoredPoint& point : store.points({{run.id}})) {
      Finding& finding = sweep.points[point.index];
      finding.disposition = point.record.disposition;
      finding.reason = english_text(point.record.reason);
      finding.clocks = point.record.clocks;
      finding.error = point.record.max_abs_error;
      require(point.record.provenance == Provenance::measured, "a point is not measured");
      for (const KernelRecord& kernel : point.record.kernels) {
        for (const MetricValue& metric : kernel.metrics) {
          finding.metrics[kernel.kernel + " " + metric.name] = metric.value;
        }
        if (!kernel.samples_ns.empty()) finding.samples[kernel.kernel] = kernel.samples_ns;
        if (kernel.launch) finding.launches.push_back(*kernel.launch);
      }
    }
  }
  require(store.invalid_rows().empty(), "damaged rows");
  return sweeps;
}

/// Differences from the undisturbed point, except for measured values; empty if none.
std::string differences(const Finding& point, const Finding& wanted) {
  std::string all;
  const auto add = [&](const std::string& words) { all += (all.empty() ? "" : "; ") + words; };
  for (const auto& [name, value] : wanted.metrics) {
    if (!point.metrics.contains(name)) add(fmt::format("no {} (undisturbed: {})", name, value));
  }
  for (const auto& [name, value] : point.metrics) {
    if (!wanted.metrics.contains(name)) add(fmt::format("unexpected {} {}", name, value));
  }
  if (point.launches != wanted.launches) {
    add(fmt::format("different launches, {} instead of {}", point.launches.size(), wanted.launches.size()));
  }
  if (point.error != wanted.error) {
    const auto words = [](std::optional<double> error) { return error ? fmt::format("{}", *error) : "none"; };
    add(fmt::format("error {} instead of {}", words(point.error), words(wanted.error)));
  }
  return all;
}

/// SM<->L2 bytes of a GPU are reproducible; other counters depend on caches and clocks.
bool agree(const std::string& metric, double value, double undisturbed, bool real) {
  if (!real) return value == undisturbed;
  constexpr double tolerance = 0.05;
  if (!metric.ends_with(metric_key::l2_to_sm_bytes) && !metric.ends_with(metric_key::sm_to_l2_bytes)) {
    return std::isfinite(value);
  }
  return std::abs(value - undisturbed) <= tolerance * undisturbed;
}

/// On a real GPU compares the medians, since single samples of a few microseconds vary with the clock.
bool has_similar_time(const std::vector<double>& samples, const std::vector<double>& undisturbed, bool real) {
  if (!real) {
    return std::ranges::all_of(
        samples, [&](double sample) { return std::ranges::find(undisturbed, sample) != undisturbed.end(); });
  }
  constexpr double factor = 8;
  return is_near(summarize(samples)->median, summarize(undisturbed)->median, factor);
}

}  // namespace

Words SweepJudge::sweep(const std::string& lengths, const fs::path& file) {
  return {"collect", "--jsonl", "--timeout",    "5",           "-a", lengths,      "-a", "heads=1",
          "-a",      "d=64",    "--algorithms", "fa2,splitkv", "-o", file.string()};
}

Words SweepJudge::words(const fs::path& file) const {
  Words all = sweep("N=[16,32,48]", file);
  if (what_ == FaultTarget::sweep_with_metrics) all.insert(all.end(), {"--metrics", "lts__t_bytes.sum"});
  return all;
}

SweepJudge::SweepJudge(const GpuSetup& gpu, FaultTarget what, const fs::path& earlier) : gpu_(gpu), what_(what) {
  const TemporaryFolder fresh;  // without compiled kernels
  const fs::path file = fresh / "whole.attnscope";
  fs::copy_file(earlier, file);
  calls_ = gpu_.calls_of(fresh, words(file));
  wanted_ = read_sweeps(file).at(1);
  for (const auto& [index, point] : wanted_.points) {
    if (point.disposition != Disposition::ok) throw std::runtime_error("undisturbed: " + point.reason);
  }
}

void SweepJudge::judge(const Fault& fault, const TemporaryFolder& folder, const fs::path& file) const {
  const Outcome outcome = gpu_.run(folder, words(file), gpu_.disturbed(fault, folder));
  judge_end(outcome, file);
  const std::vector<Sweep> sweeps = read_sweeps(file);
  require(sweeps.at(0).points.size() == 2 && sweeps.size() <= 2, "the earlier run changed, or there are too many runs");
  const bool begun = sweeps.size() == 2;
  bool whole = begun;
  std::string said = outcome.err + outcome.out;
  if (begun) {
    whole = judge_points(sweeps[1], fault);
    for (const auto& [index, point] : sweeps[1].points) said += point.reason;
  }
  require(whole || is_ignorable(fault.call) || names_cause(said, fault), "no output names the call: " + outcome.err);
  require(!begun || outcome.exit_code != 0 || sweeps[1].state == StoredRunState::complete,
          "exit code 0, but the run is incomplete");
  require(begun || outcome.exit_code != 0, "exit code 0, but there is no run");
  if (fault.at_restart) {
    require(outcome.exit_code == 5 || sweeps.at(1).state == StoredRunState::complete,
            "exit code " + std::to_string(outcome.exit_code));
  }

  Words resuming = words(file);
  resuming.emplace_back("--resume");
  const Outcome again = gpu_.run(folder, resuming, gpu_.variables());
  require(again.exit_code == 0 || again.exit_code == 5, "resuming fails: " + again.err);
  const std::vector<Sweep> resumed = read_sweeps(file);
  require(resumed.size() == 2, "resuming started another run");
  require(resumed[1].state == StoredRunState::complete, "the resumed run is incomplete");
  require(resumed[1].points.size() == wanted_.points.size(), "the resumed run lacks points");
  (void)judge_points(resumed[1], fault);
}

bool SweepJudge::judge_points(const Sweep& sweep, const Fault& fault) const {
  bool whole = sweep.points.size() == wanted_.points.size();
  for (const auto& [index, point] : sweep.points) {
    const auto found = wanted_.points.find(index);
    require(found != wanted_.points.end(), fmt::format("point {} is not in the plan", index));
    judge_point(index, point, found->second);
    if (point.disposition == Disposition::ok) continue;
    whole = false;
    require(fault.at_restart || point.disposition != Disposition::infeasible,
            fmt::format("point {} is infeasible", index));
  }
  return whole;
}

void SweepJudge::judge_point(std::size_t index, const Finding& point, const Finding& wanted) const {
  if (point.disposition == Disposition::ok) {
    const std::string other = differences(point, wanted);
    require(other.empty(), fmt::format("point {} is ok, but differs from an undisturbed one: {}", index, other));
    require(!point.samples.empty(), fmt::format("point {} is ok but has no time", index));
  } else {
    require(!point.reason.empty(), fmt::format("point {} is not ok but has no reason", index));
  }
  for (const auto& [name, value] : point.metrics) {
    const auto metric = wanted.metrics.find(name);
    require(metric != wanted.metrics.end() && agree(name, value, metric->second, gpu_.real),
            fmt::format("point {}: {} is {}", index, name, value));
  }
  for (const auto& [kernel, samples] : point.samples) {
    const auto undisturbed = wanted.samples.find(kernel);
    require(undisturbed != wanted.samples.end() && has_similar_time(samples, undisturbed->second, gpu_.real),
            fmt::format("point {}: median of {} is {} ns", index, kernel, summarize(samples)->median));
  }
  // Clock readings may be missing if NVML fails.
  require(!point.clocks || gpu_.real || *point.clocks == wanted.clocks,
          fmt::format("point {} has different clocks", index));
}

}  // namespace attnscope::testing
