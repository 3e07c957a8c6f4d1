// SPDX-License-Identifier: Apache-2.0
#include "profiler/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "kernels/algorithm.h"

namespace attnscope {
namespace {

// (n_q, n_k): single elements, lengths around tile edges, more queries than keys and the other way round.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 11> shapes{{{1, 1},
                                                                        {64, 128},
                                                                        {239, 1},
                                                                        {799, 3},
                                                                        {113, 203},
                                                                        {108, 256},
                                                                        {384, 256},
                                                                        {640, 128},
                                                                        {1023, 1024},
                                                                        {1024, 1023},
                                                                        {4224, 4224}}};
constexpr std::array<std::int64_t, 8> head_dims{32, 40, 64, 80, 96, 128, 192, 256};

std::vector<TileShape> tiles_for(const Algorithm& algorithm, const AttentionProblem& problem,
                                 const DeviceLimits& limits) {
  std::vector<TileShape> tiles{{.br = 16, .bc = 32}, algorithm.default_tile(problem, limits), {.br = 48, .bc = 80}};
  tiles[2].raster = Raster::heads_fastest;
  return tiles;
}

VerifyResult judge(const PointRecord& record) {
  VerifyResult result;
  result.max_abs_error = record.max_abs_error.value_or(0);
  result.error_bound = record.error_bound.value_or(0);
  result.rms_error = record.rms_error.value_or(0);
  const bool checked = record.max_abs_error.has_value();
  switch (record.disposition) {
    case Disposition::ok:
    case Disposition::no_counters:  // the output was computed and checked all the same
      result.outcome = checked ? VerifyOutcome::pass : VerifyOutcome::skip;
      if (!checked) result.reason = "The device did not check the output.";
      break;
    case Disposition::infeasible:
    case Disposition::out_of_memory:
    case Disposition::cancelled:
      result.outcome = VerifyOutcome::skip;
      result.reason = record.reason;
      break;
    case Disposition::incorrect:
    case Disposition::compile_error:
    case Disposition::timeout:
    case Disposition::crashed:
      result.outcome = VerifyOutcome::fail;
      result.reason = record.reason;
      break;
  }
  return result;
}

}  // namespace

std::string describe(const VerifyCase& verify_case) {
  return fmt::format("{}, {} inputs", describe(verify_case.spec), to_string(verify_case.inputs));
}

std::vector<VerifyCase> verify_cases(std::span<const std::string> names, const DeviceLimits& limits) {
  std::vector<const Algorithm*> chosen;
  for (const Algorithm* algorithm : algorithms()) {
    if (names.empty() || std::ranges::find(names, algorithm->name()) != names.end()) chosen.push_back(algorithm);
  }
  std::vector<VerifyCase> cases;
  const auto add = [&](const AttentionProblem& problem, InputKind inputs) {
    for (const Algorithm* algorithm : chosen) {
      if (std::ranges::find(algorithm->head_dims(), problem.d) == algorithm->head_dims().end()) continue;
      for (const TileShape& tile : tiles_for(*algorithm, problem, limits)) {
        cases.push_back({.spec = {.algorithm = std::string(algorithm->name()),
                                  .problem = problem,
                                  .tile = tile,
                                  .cache = CacheState::warm},
                         .inputs = inputs});
      }
    }
  };
  for (const std::int64_t d : head_dims) {
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      for (const Mask& mask : {Mask::none, Mask::causal}) {
        for (const auto& [n_q, n_k] : shapes) {
          // Two K/V heads with two query heads each: every index of the layout takes two values.
          const AttentionProblem problem{
              .dtype = dtype, .mask = mask, .batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = n_q, .n_k = n_k, .d = d};
          for (const InputKind inputs : input_kinds()) add(problem, inputs);
        }
      }
    }
  }
  return cases;
}

VerifySummary run_verify(Device& device, std::span<const VerifyCase> cases, const MeasureOptions& options,
                         const VerifyObserver& observer, const CancelToken& cancel) {
  VerifySummary summary;
  summary.total = cases.size();
  if (device.info().simulated) {
    summary.stopped = "The simulated device computes no output: there is nothing to verify.";
    return summary;
  }

  // Inputs change no kernel: the cases of one spec need it once.
  std::vector<PointSpec> specs;
  std::unordered_set<std::string> seen;
  for (const VerifyCase& verify_case : cases) {
    if (seen.insert(describe(verify_case.spec)).second) specs.push_back(verify_case.spec);
  }
  device.prepare(specs, cancel, [&](std::size_t done, std::size_t total, const BuildReport& report) {
    if (observer.on_build) observer.on_build(done, total, report);
  });

  MeasureOptions once = options;
  once.verify = true;
  once.counters = false;
  once.min_samples = 1;
  once.max_samples = 1;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cancel.cancelled()) {
      summary.cancelled = true;
      return summary;
    }
    once.input_kind = cases[i].inputs;
    const PointRecord record = device.measure(cases[i].spec, once, cancel);
    if (record.disposition == Disposition::cancelled) {
      summary.cancelled = true;
      return summary;
    }
    const VerifyResult result = judge(record);
    ++(result.outcome == VerifyOutcome::pass   ? summary.pass
       : result.outcome == VerifyOutcome::fail ? summary.fail
                                               : summary.skip);
    if (observer.on_case) observer.on_case(i, cases[i], result);
    if (!device.usable()) {
      summary.stopped =
          fmt::format("The device cannot be used any more after {}: {}", describe(cases[i]), record.reason);
      return summary;
    }
  }
  return summary;
}

}  // namespace attnscope
