// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fuzz_import.h"

#include <cmath>
#include <string>

#include "profiler/metrics/metrics.h"
#include "tests/campaign/fuzz_input.h"

namespace attnscope::campaign {
namespace {

bool is_amount(double value) {
  return std::isfinite(value) && value >= 0;
}

constexpr std::string_view library_prefix = "[json.exception.";

void check(const PointRecord& point) {
  require(invalid_reason(point.spec.problem).empty(), "an imported problem is invalid");
  require(point.kernel("all") != nullptr, "a point has no kernel 'all'");
  for (const KernelRecord& kernel : point.kernels) {
    for (const MetricValue& metric : kernel.metrics)
      require(is_amount(metric.value), "a metric is negative or not finite");
    for (const double ns : kernel.samples_ns) require(is_amount(ns), "a time is negative or not finite");
  }
  for (const Metric& metric : metrics_table()) {
    const auto value = evaluate(metric.key, point);
    require(!value || !std::isnan(value->value), "a derived metric is NaN");
  }
}

}  // namespace

void import_and_check(std::string_view text, ImportFormat format, const ImportRequest& request) {
  (void)detect_import_format(text);
  const Result<Import, Message> import = import_points(text, format, request);
  if (!import) {
    require(!import.error().empty(), "an error message is empty");
    // The message may quote the input.
    require(text.find("[j") != std::string_view::npos ||
                attnscope::text(import.error()).find(library_prefix) == std::string::npos,
            "an error message comes from the JSON library");
    return;
  }
  require(!import->devices.empty(), "an empty import was not rejected");
  for (const ImportedDevice& device : import->devices) {
    require(!device.points.empty(), "a device without points was imported");
    for (const PointRecord& point : device.points) check(point);
  }
}

}  // namespace attnscope::campaign
