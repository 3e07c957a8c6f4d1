// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/multi_gpu_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/algorithm.h"
#include "messages/facet.h"
#include "messages/field.h"
#include "messages/metric.h"
#include "messages/sharing.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// Sets attention_rate (F), link_rate (B) and hides_from.
void add_rates(const PointTable& table, MultiGpuPoint& point) {
  const AttentionProblem& p = point.spec.problem;
  const Algorithm* const algorithm = table.algorithms().find(point.spec.algorithm);
  const auto attention_ns = table.values(metric_key::gpu_attention_ns).at(point.row);
  const auto copies_ns = table.values(metric_key::gpu_copies_ns).at(point.row);
  const auto imbalance = table.values(metric_key::gpu_imbalance).at(point.row);
  const auto link_bytes = table.values(metric_key::link_bytes).at(point.row);
  if (link_bytes && copies_ns && *copies_ns > 0) point.link_rate = *link_bytes / p.gpus / *copies_ns * 1e9;
  if (algorithm == nullptr || !attention_ns || !imbalance || !(*attention_ns > 0)) return;
  point.attention_rate = algorithm->nominal_flops(p) / p.gpus * *imbalance / *attention_ns * 1e9;
  if (!point.link_rate || !algorithm->facts().overlaps_copies) return;
  const double halved = p.mask.right == 0 && p.gpu_order != GpuOrder::contiguous ? 2 : 1;
  point.hides_from = halved * *point.attention_rate / *point.link_rate * static_cast<double>(p.heads_kv) /
                     static_cast<double>(p.heads_q) * bytes_per_element(p.dtype) / 2;
}

}  // namespace

std::vector<MultiGpuPoint> multi_gpu_points(const PointTable& table) {
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  std::map<std::pair<RunIndex, std::string>, Row> alone;
  std::vector<MultiGpuPoint> all;
  for (const Row row : table.rows()) {
    if (!times.has(row)) continue;
    PointSpec spec = table.spec(row);
    if (spec.problem.gpus == 1) {
      spec.problem = single_gpu_problem(spec.problem);
      alone[{table.run_index(row), describe(spec)}] = row;
    } else {
      all.push_back({.row = row, .spec = std::move(spec)});
    }
  }
  for (MultiGpuPoint& point : all) {
    const AttentionProblem& p = point.spec.problem;
    point.tokens = static_cast<double>(p.n_k) / p.gpus;
    point.ns = times.value(point.row);
    PointSpec single = point.spec;
    single.problem = single_gpu_problem(p);
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
  std::ranges::stable_sort(all, {}, [&](const MultiGpuPoint& point) {
    const AttentionProblem& p = point.spec.problem;
    AttentionProblem like = single_gpu_problem(p);
    like.n_q = like.n_k = 1;
    return std::tuple(table.run_index(point.row), point.spec.algorithm, describe(like), p.gpu_order,
                      describe(point.spec.config()), p.gpus, p.n_k);
  });
  return all;
}

Message link_text(const LinkRate& link, bool measured) {
  const std::string rate = text(BytesPerSecond(link.bytes_per_second));
  const std::string latency = text(Nanoseconds(link.latency_ns));
  return measured ? Message(msg::sharing::link_measured{.latency = latency, .rate = rate})
                  : Message(msg::sharing::link_assumed{.latency = latency, .rate = rate});
}

namespace {

/// Problem without length, GPUs, order and tile, which have their own columns.
std::string problem_of(const MultiGpuPoint& point) {
  const AttentionProblem& p = point.spec.problem;
  const std::string heads =
      p.heads_q == p.heads_kv ? fmt::format("{}", p.heads_q) : fmt::format("{}/{}", p.heads_q, p.heads_kv);
  const std::string l2 = point.spec.cache == CacheState::cold ? "" : fmt::format(" L2 {}", to_string(point.spec.cache));
  return fmt::format("{} {} batch {} heads {} d {}{}", to_string(p.dtype), mask_text(p.mask), p.batch, heads, p.d, l2);
}

}  // namespace

Table sharing_table(const PointTable& points, std::vector<MultiGpuPoint> shared, bool people) {
  using Point = MultiGpuPoint;
  TableBuilder<Point> table(std::move(shared));
  const auto add = [&](std::string_view key, const Message& title, auto text_of, auto value_of,
                       const Message& help = {}) {
    Column column{.key = std::string(key), .title = text(title), .kind = ColumnKind::number, .help = text(help)};
    table.add(std::move(column), [value_of, text_of, people](const Point& point) {
      const std::optional<double> value = value_of(point);
      if (!value) return Cell{};
      return Cell{.text = people ? text_of(*value) : raw_text(value), .number = value, .row = point.row};
    });
  };
  const auto metric = [&](std::string_view key, const Message& title) {
    const Metric& known = *find_metric(key);
    add(
        key, title, [&known](double value) { return value_text(value, known.unit); },
        [&points, &known](const Point& point) { return points.values(known.key).at(point.row); }, known.help());
  };
  const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
  const auto ratio = [](double value) { return fmt::format("{:.3f}", value); };
  const auto share = [](double value) { return text(Share(value)); };
  const auto ns = [](double value) { return text(Nanoseconds(value)); };
  const auto flops = [](double value) { return text(FlopsPerSecond(value)); };
  const auto bytes = [](double value) { return text(BytesPerSecond(value)); };
  const auto number = [](double value) { return number_text(value); };
  table.add({.key = "algorithm", .title = text(msg::field::algorithm{})},
            [&points](const Point& point) { return short_title(points.algorithms(), point.spec.algorithm); });
  table.add({.key = "problem", .title = text(msg::sharing::problem{})}, problem_of);
  table.add({.key = "gpu_order", .title = text(msg::field::gpu_order{})},
            [](const Point& point) { return to_string(point.spec.problem.gpu_order); });
  table.add({.key = "tile", .title = text(msg::facet::tile{})},
            [](const Point& point) { return describe(point.spec.config()); });
  add("gpus", msg::field::gpus{}, whole, [](const Point& point) { return point.spec.problem.gpus; });
  add("N", "N", whole, [](const Point& point) { return static_cast<double>(point.spec.problem.n_k); });
  add("time_ns", msg::sharing::time{}, ns, std::mem_fn(&Point::ns));
  add("efficiency", msg::sharing::efficiency{}, ratio, std::mem_fn(&Point::efficiency),
      msg::sharing::efficiency_help{});
  metric(metric_key::gpu_attention_ns, msg::sharing::attention{});
  metric(metric_key::gpu_combine_ns, msg::sharing::combine{});
  metric(metric_key::gpu_exposed_ns, msg::sharing::exposed{});
  metric(metric_key::gpu_copies_ns, msg::sharing::copies{});
  add("hidden", msg::sharing::hidden{}, share, std::mem_fn(&Point::hidden), msg::sharing::hidden_help{});
  metric(metric_key::link_bytes, msg::metric::link_bytes{});
  metric(metric_key::model_link_bytes, msg::metric::model_link_bytes{});
  metric(metric_key::gpu_imbalance, msg::sharing::imbalance{});
  add("attention_rate", msg::sharing::attention_rate{}, flops, std::mem_fn(&Point::attention_rate));
  add("link_rate", msg::sharing::link_rate{}, bytes, std::mem_fn(&Point::link_rate));
  add("tokens", msg::sharing::tokens{}, whole, std::mem_fn(&Point::tokens));
  add("overlap_from", msg::sharing::overlap_from{}, number, std::mem_fn(&Point::hides_from),
      msg::sharing::overlap_from_help{});
  table.add({.key = "provenance", .title = text(msg::sharing::provenance{})},
            [&points](const Point& point) { return title(points.points().origin(point.row)); });
  table.add({.key = "run", .title = text(msg::sharing::run{})}, [&points](const Point& point) {
    return fmt::format("{} · {}", points.run(point.row).title, device_title(points, points.run_index(point.row)));
  });
  return std::move(table).take();
}

}  // namespace attnscope::analysis
