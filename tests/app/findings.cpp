// SPDX-License-Identifier: Apache-2.0
#include "findings.h"

#include <set>

#include "storage/run_store.h"

namespace attnscope::testing {

std::vector<std::string> findings(const std::filesystem::path& file, std::optional<std::int64_t> run) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  std::vector<std::string> found;
  for (const StoredPoint& point : store.points(run ? std::vector{*run} : std::vector<std::int64_t>())) {
    std::string text = std::to_string(point.index) + " " + describe(point.record.spec) + " " +
                       std::string(to_string(point.record.disposition));
    for (const KernelRecord& kernel : point.record.kernels) {
      // The order of metrics differs in merged files.
      std::set<std::string> metrics;
      for (const MetricValue& metric : kernel.metrics) {
        metrics.insert(" " + kernel.kernel + ":" + metric.name + "=" + std::to_string(metric.value));
      }
      for (const std::string& metric : metrics) text += metric;
    }
    found.push_back(text);
  }
  return found;
}

}  // namespace attnscope::testing
