// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/recorded_points.h"

#include <cmath>
#include <limits>

#include "messages/explorer_page.h"
#include "profiler/analysis/point_table.h"
#include "profiler/analysis/unit_use.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

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
  for (const bool same : {p.mask == q.mask, p.dtype == q.dtype, p.dropout == q.dropout, p.page == q.page,
                          p.deterministic == q.deterministic, a.cache == b.cache})
    apart += same ? 0 : of_words;
  return apart;
}

struct Use {
  QString words;
  double share = 0;
};

Use use_of(GpuUnit unit, const PointRecord& record, const std::string& kernel, const DeviceLimits& limits) {
  constexpr double percent_of_one = 100;
  const auto number = [](double percent) { return QString::number(percent, 'f', 0).toStdString(); };
  const auto said = [&](double percent) -> Use {
    return {qtext(say::explorer_page::use{.percent = number(percent)}), percent / percent_of_one};
  };
  if (const auto use = analysis::counted_use(unit, record, kernel)) return said(*use);
  if (unit == GpuUnit::tensor) {
    const auto pipe = evaluate(metric_key::tensor_pipe_pct, record, kernel);
    if (!pipe) return {};
    return {qtext(say::explorer_page::use_while_active{.percent = number(pipe->value)}), pipe->value / percent_of_one};
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
    const Use use = use_of(unit, record, kernel, limits);
    measured.uses.at(static_cast<std::size_t>(unit)) = use.words;
    measured.shares.at(static_cast<std::size_t>(unit)) = use.share;
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
  if (choices.point.padding_bytes > 0 || !choices.what_if.changes_nothing() || workspace_.gathering()) {
    return std::nullopt;
  }
  const PointSpec& spec = choices.point.spec;
  const Candidate* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& each : candidates(spec, choices.device)) {
    // Of equal ones the one that was recorded last; the very point before any other.
    const double apart = each.second == spec ? -1 : distance(spec, each.second);
    if (apart > least) continue;
    least = apart;
    nearest = &each;
  }
  if (nearest == nullptr) return std::nullopt;
  const ShownPoint point = (*points_)[nearest->first];
  Found found{.record = nullptr, .spec = nearest->second, .title = point.run->title, .ns = {}};
  found.ns = points_->table().values(metric_key::time_median_ns).at(nearest->first);
  // A file is read for the very point alone: the window waits for it.
  if (nearest->second == spec) found.record = records_.read(point).record;
  return found;
}

}  // namespace attnscope::ui
