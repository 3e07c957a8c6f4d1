// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/sharing.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/algorithm.h"
#include "messages/sharing.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis {
namespace {

/// F and B, and what follows from them.
void add_rates(const PointTable& table, SharedPoint& point) {
  const AttentionProblem& p = point.spec.problem;
  const Algorithm* const algorithm = table.algorithms().find(point.spec.algorithm);
  const auto attention_ns = table.values(metric_key::gpu_attention_ns).at(point.row);
  const auto copies_ns = table.values(metric_key::gpu_copies_ns).at(point.row);
  const auto imbalance = table.values(metric_key::gpu_imbalance).at(point.row);
  const auto link_bytes = table.values(metric_key::link_bytes).at(point.row);
  if (link_bytes && copies_ns && *copies_ns > 0) point.link_rate = *link_bytes / p.gpus / *copies_ns * 1e9;
  if (algorithm == nullptr || !attention_ns || !imbalance || !(*attention_ns > 0)) return;
  point.attention_rate = algorithm->flops(p) / p.gpus * *imbalance / *attention_ns * 1e9;
  if (!point.link_rate || !algorithm->facts().copies_while_computing) return;
  const double halved = p.mask.right == 0 && p.gpu_order != GpuOrder::contiguous ? 2 : 1;
  point.hides_from = halved * *point.attention_rate / *point.link_rate * static_cast<double>(p.heads_kv) /
                     static_cast<double>(p.heads_q) * bytes_per_element(p.dtype) / 2;
}

}  // namespace

std::vector<SharedPoint> shared_points(const PointTable& table) {
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  std::map<std::pair<RunIndex, std::string>, Row> alone;
  std::vector<SharedPoint> all;
  for (const Row row : table.rows()) {
    if (!times.has(row)) continue;
    PointSpec spec = table.spec(row);
    if (spec.problem.gpus == 1) {
      spec.problem = on_one_gpu(spec.problem);
      alone[{table.run_index(row), describe(spec)}] = row;
    } else {
      all.push_back({.row = row, .spec = std::move(spec)});
    }
  }
  for (SharedPoint& point : all) {
    const AttentionProblem& p = point.spec.problem;
    point.tokens = static_cast<double>(p.n_k) / p.gpus;
    point.ns = times.value(point.row);
    PointSpec single = point.spec;
    single.problem = on_one_gpu(p);
    if (const auto found = alone.find({table.run_index(point.row), describe(single)}); found != alone.end()) {
      point.alone = found->second;
      point.efficiency = times.value(found->second) / (p.gpus * point.ns);
    }
    const auto exposed = table.values(metric_key::gpu_exposed_ns).at(point.row);
    const auto copies = table.values(metric_key::gpu_copies_ns).at(point.row);
    constexpr double rounding = 1e-9;
    if (exposed && copies && *copies > 0) {
      const double hidden = 1 - *exposed / *copies;
      point.hidden = hidden < rounding ? 0 : hidden;
    }
    add_rates(table, point);
  }
  std::ranges::stable_sort(all, {}, [&](const SharedPoint& point) {
    const AttentionProblem& p = point.spec.problem;
    AttentionProblem like = on_one_gpu(p);
    like.n_q = like.n_k = 1;
    return std::tuple(table.run_index(point.row), point.spec.algorithm, describe(like), p.gpu_order,
                      describe(point.spec.config()), p.gpus, p.n_k);
  });
  return all;
}

Message link_words(const LinkRate& link, bool measured) {
  const std::string rate = text(BytesPerSecond(link.bytes_per_second));
  const std::string latency = text(Nanoseconds(link.latency_ns));
  return measured ? Message(say::sharing::link_measured{.rate = rate, .latency = latency})
                  : Message(say::sharing::link_assumed{.rate = rate, .latency = latency});
}

}  // namespace attnscope::analysis
