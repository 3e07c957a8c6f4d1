// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/recorded_points.h"

#include <algorithm>
#include <cmath>

#include "messages/explorer_page.h"
#include "profiler/analysis/point_table.h"
#include "profiler/analysis/unit_use.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// A run has its driver's name, the explorer a product's.
bool same_gpu(const std::string& a, const std::string& b) {
  return a == b || (find_gpu(a) != nullptr && find_gpu(a) == find_gpu(b));
}

double octaves(double a, double b) {
  return a > 0 && b > 0 ? std::abs(std::log2(a / b)) : a == b ? 0 : 1;
}

/// Sides of a tile weigh least: what differs in the problem itself is farther away.
double distance(const PointSpec& a, const PointSpec& b) {
  constexpr double of_problem = 4;
  constexpr double of_words = 16;
  const AttentionProblem& p = a.problem;
  const AttentionProblem& q = b.problem;
  double apart = octaves(a.tile.br, b.tile.br) + octaves(a.tile.bc, b.tile.bc) + (a.knobs == b.knobs ? 0 : 1);
  const auto add = [&](auto x, auto y) {
    apart += of_problem * octaves(static_cast<double>(x), static_cast<double>(y));
  };
  add(p.n_q, q.n_q);
  add(p.n_k, q.n_k);
  add(p.d, q.d);
  add(p.heads_q * p.batch, q.heads_q * q.batch);
  add(p.heads_kv * p.batch, q.heads_kv * q.batch);
  for (const bool same : {p.mask == q.mask, p.dtype == q.dtype, a.cache == b.cache}) apart += same ? 0 : of_words;
  return apart;
}

QString words_of_use(GpuUnit unit, const PointRecord& record, const std::string& kernel, const DeviceLimits& limits) {
  const auto said = [](double percent) {
    return qtext(say::explorer_page::use{.percent = QString::number(percent, 'f', 0).toStdString()});
  };
  if (const auto use = analysis::counted_use(unit, record, kernel)) return said(*use);
  if (unit == GpuUnit::tensor) {
    const auto pipe = evaluate(metric_key::tensor_pipe_pct, record, kernel);
    if (!pipe) return {};
    return qtext(say::explorer_page::use_while_active{.percent = QString::number(pipe->value, 'f', 0).toStdString()});
  }
  const auto rate = evaluate(metric_key::dram_bandwidth, record, kernel);
  if (unit != GpuUnit::dram || !rate || limits.dram_bytes_per_second <= 0) return {};
  return said(100 * rate->value / limits.dram_bytes_per_second);
}

}  // namespace

std::optional<UnitBars::Measured> measured_of(const PointRecord& record, const std::string& kernel,
                                              const DeviceLimits& limits) {
  const auto time = evaluate(metric_key::time_median_ns, record, kernel);
  if (!time) return std::nullopt;
  UnitBars::Measured measured{.ns = time->value, .provenance = to_qstring(to_string(time->provenance))};
  if (time->provenance != Provenance::measured) return measured;
  for (const GpuUnit unit : gpu_units) {
    measured.uses.at(static_cast<std::size_t>(unit)) = words_of_use(unit, record, kernel, limits);
  }
  return measured;
}

const std::vector<RecordedPoints::Candidate>& RecordedPoints::candidates(const PointSpec& spec,
                                                                         const std::string& device) {
  const std::shared_ptr<const PointSet> points = workspace_.visible();
  const std::string asked = spec.algorithm + ' ' + std::string(to_string(spec.problem.pass)) + ' ' + device;
  if (points == points_ && asked == asked_) return candidates_;
  points_ = points;
  asked_ = asked;
  candidates_.clear();
  const analysis::PointTable& table = points->table();
  std::vector<bool> of_gpu;
  for (const analysis::Run& run : table.runs()) {
    of_gpu.push_back(run.provenance == Provenance::measured && same_gpu(run.device_name, device));
  }
  for (Row row = 0; row < table.size(); ++row) {
    if (!of_gpu[table.run_index(row)] || table.algorithm(row) != spec.algorithm) continue;
    if (table.disposition(row) != Disposition::ok) continue;
    PointSpec candidate = table.spec(row);
    if (candidate.problem.pass == spec.problem.pass) candidates_.emplace_back(row, std::move(candidate));
  }
  return candidates_;
}

std::optional<RecordedPoints::Found> RecordedPoints::find(const ExplorerChoices& choices) {
  if (choices.point.padding_bytes > 0 || !choices.what_if.changes_nothing()) return std::nullopt;
  const PointSpec& spec = choices.point.spec;
  const std::vector<Candidate>& all = candidates(spec, choices.device);
  if (all.empty()) return std::nullopt;
  // Of equal ones the one that was recorded last.
  const auto nearest = std::ranges::min_element(all.rbegin(), all.rend(), {},
                                                [&](const Candidate& each) { return distance(spec, each.second); });
  const ShownPoint point = (*points_)[nearest->first];
  const PointRecords::Read read = records_.read(point);
  if (!read.record) return std::nullopt;
  return Found{.record = read.record, .title = point.run->title, .exact = nearest->second == spec};
}

}  // namespace attnscope::ui
