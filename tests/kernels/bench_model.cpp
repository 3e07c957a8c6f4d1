// SPDX-License-Identifier: Apache-2.0
// Time of a model evaluation, which runs at every slider movement. Targets: 50 us at batch 1 and N 16384; 1 ms at batch
// 64 with key lengths; 1 ms including a time prediction.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"

namespace attnscope {
namespace {

AttentionProblem problem_for(const Algorithm& algorithm, const Mask& mask, Pass pass, std::int64_t batch) {
  const bool for_decoding = algorithm.facts().for_decoding;
  return {.pass = pass,
          .mask = mask,
          .batch = batch,
          .heads_q = 16,
          .heads_kv = 16,
          .n_q = for_decoding ? 1 : 16384,
          .n_k = 16384,
          .d = 128};
}

void ask(benchmark::State& state, const Algorithm& algorithm, const AttentionProblem& problem) {
  const DeviceLimits& device = known_gpus().front();
  const Config config = algorithm.default_config(problem, device);
  for (auto _ : state) {
    const AttentionModel model = algorithm.model(problem, config, device);
    benchmark::DoNotOptimize(model.kernels.data());
  }
}

void predict(benchmark::State& state, const Algorithm& algorithm, const AttentionProblem& problem) {
  const DeviceLimits& device = known_gpus().front();
  const Config config = algorithm.default_config(problem, device);
  for (auto _ : state) {
    const std::vector<LaunchTime> times = predict_times(algorithm.model(problem, config, device), device);
    benchmark::DoNotOptimize(times.data());
  }
}

const int registered = [] {
  struct Shape {
    std::string mask;
    std::int64_t batch;
  };
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const Shape& shape :
         {Shape{"full", 1}, Shape{"causal", 1}, Shape{"window:1024:0", 1}, Shape{"blocks:128:random25", 1},
          Shape{"blocks:128:butterfly", 1}, Shape{"lengths:ramp", 64}, Shape{"causal+lengths:ramp", 64},
          Shape{"blocks:128:random25+lengths:ramp", 64}}) {
      for (const Pass pass : {Pass::fwd, Pass::fwd_bwd}) {
        const AttentionProblem problem = problem_for(*algorithm, parse_mask(shape.mask).value(), pass, shape.batch);
        const DeviceLimits& device = known_gpus().front();
        if (algorithm->refusal(problem, algorithm->default_config(problem, device), device)) continue;
        const std::string name = algorithm->name() + "/" + std::string(to_string(pass)) + "/" + shape.mask + "/batch " +
                                 std::to_string(shape.batch);
        benchmark::RegisterBenchmark(("model/" + name).c_str(), [algorithm, problem](benchmark::State& state) {
          ask(state, *algorithm, problem);
        })->Unit(benchmark::kMicrosecond);
        benchmark::RegisterBenchmark(("predict/" + name).c_str(), [algorithm, problem](benchmark::State& state) {
          predict(state, *algorithm, problem);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return 0;
}();

}  // namespace
}  // namespace attnscope
