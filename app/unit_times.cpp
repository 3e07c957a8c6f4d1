// SPDX-License-Identifier: Apache-2.0
#include "app/unit_times.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope {

std::map<std::string, std::vector<analysis::UnitSpread>> units_in(const RunStore& store) {
  // A plan on a kind of GPU: the runs of it, and on which units.
  std::map<std::pair<std::string, std::string>, std::pair<std::vector<std::int64_t>, std::set<std::string>>> plans;
  for (const RunSummary& run : store.runs()) {
    if (run.provenance != Provenance::measured) continue;
    auto& [runs, units] = plans[{run.device_name, run.plan_hash}];
    runs.push_back(run.id);
    units.insert(run.device_uuid);
  }
  std::map<std::string, std::vector<analysis::UnitTime>> times;
  for (const auto& [plan, found] : plans) {
    if (found.second.size() < 2) continue;
    std::vector<analysis::UnitTime>& of_gpu = times[plan.first];
    for (const StoredPoint& point : store.points(found.first)) {
      const auto time = evaluate(metric_key::time_median_ns, point.record);
      if (!time || point.record.disposition != Disposition::ok) continue;
      of_gpu.push_back({point.device_uuid, plan.second + identity_text(point.record.spec), time->value});
    }
  }
  std::map<std::string, std::vector<analysis::UnitSpread>> spread;
  for (const auto& [gpu, of_gpu] : times) {
    if (auto units = analysis::unit_spread(of_gpu); units.size() > 1) spread.emplace(gpu, std::move(units));
  }
  return spread;
}

}  // namespace attnscope
