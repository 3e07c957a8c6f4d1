// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/recorded_points.h"

#include <vector>

#include "messages/explorer_page.h"
#include "profiler/points/point_table.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

struct Use {
  QString words;
  double share = 0;
};

Use use_of(GpuUnit unit, const PointRecord& record, const std::string& kernel, const DeviceLimits& limits) {
  constexpr double percent_of_one = 100;
  const auto number = [](double percent) { return QString::number(percent, 'f', 0).toStdString(); };
  const auto to_use = [&](double percent) -> Use {
    return {qtext(msg::explorer_page::use{.percent = number(percent)}), percent / percent_of_one};
  };
  if (const auto use = analysis::counted_utilization(unit, record, kernel)) return to_use(*use);
  if (unit == GpuUnit::tensor) {
    const auto pipe = evaluate(metric_key::tensor_pipe_pct, record, kernel);
    if (!pipe) return {};
    return {qtext(msg::explorer_page::use_while_active{.percent = number(pipe->value)}), pipe->value / percent_of_one};
  }
  const auto rate = evaluate(metric_key::dram_bandwidth, record, kernel);
  if (unit != GpuUnit::dram || !rate || limits.dram_bytes_per_second <= 0) return {};
  return to_use(100 * rate->value / limits.dram_bytes_per_second);
}

}  // namespace

std::optional<UnitBars::MeasuredValues> measured_values(const PointRecord& record, const std::string& kernel,
                                                        const DeviceLimits& limits) {
  const auto time = evaluate(metric_key::time_median_ns, record, kernel);
  if (!time) return std::nullopt;
  UnitBars::MeasuredValues measured{.ns = time->value, .provenance = to_qstring(time->provenance)};
  if (time->provenance != Provenance::measured) return measured;
  for (const GpuUnit unit : gpu_units) {
    const Use use = use_of(unit, record, kernel, limits);
    measured.uses.at(static_cast<std::size_t>(unit)) = use.words;
    measured.shares.at(static_cast<std::size_t>(unit)) = use.share;
  }
  return measured;
}

std::shared_ptr<const PointRecord> recorded_point(const Workspace& workspace, PointRecordReader& records,
                                                  const ExplorerChoices& choices) {
  if (choices.point.padding_bytes > 0 || !choices.what_if.is_identity() || workspace.is_gathering()) return nullptr;
  const PointSpec& spec = choices.point.spec;
  const PointSet& points = *workspace.visible();
  const analysis::PointTable& table = points.table();
  std::vector<bool> of_gpu;
  for (const analysis::Run& run : table.runs()) {
    of_gpu.push_back(run.provenance == Provenance::measured && same_gpu(run.device_name, choices.device));
  }
  for (auto row = static_cast<Row>(table.size()); row-- > 0;) {
    // Cheap columns first; few rows need the full comparison.
    if (!of_gpu[table.run_index(row)] || table.disposition(row) != Disposition::ok ||
        table.n_k(row) != spec.problem.n_k || table.tile_of(row).tile != spec.tile || table.spec(row) != spec) {
      continue;
    }
    return records.read(points[row]).record;
  }
  return nullptr;
}

}  // namespace attnscope::ui
