// SPDX-License-Identifier: Apache-2.0
#include "findings.h"

#include "storage/run_store.h"

namespace attnscope::testing {

std::vector<std::string> findings(const std::filesystem::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  std::vector<std::string> found;
  for (const StoredPoint& point : store.points()) {
    std::string text = std::to_string(point.index) + " " + describe(point.record.spec) + " " +
                       std::string(to_string(point.record.disposition));
    for (const KernelRecord& kernel : point.record.kernels) {
      for (const MetricValue& metric : kernel.metrics) {
        text += " " + kernel.kernel + ":" + metric.name + "=" + std::to_string(metric.value);
      }
    }
    found.push_back(text);
  }
  return found;
}

}  // namespace attnscope::testing
