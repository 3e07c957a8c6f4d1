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

constexpr std::string_view library_words = "[json.exception.";

void check(const PointRecord& point) {
  require(invalid_reason(point.spec.problem).empty(), "a problem that cannot be posed was imported");
  require(point.kernel("all") != nullptr, "a point has no sum of its kernels");
  for (const KernelRecord& kernel : point.kernels) {
    for (const MetricValue& metric : kernel.metrics) require(is_amount(metric.value), "a metric is no amount");
    for (const double ns : kernel.samples_ns) require(is_amount(ns), "a time is no amount");
  }
  for (const Metric& metric : metrics_table()) {
    const auto value = evaluate(metric.key, point);
    require(!value || !std::isnan(value->value), "what follows from the numbers is none");
  }
}

}  // namespace

void import_and_check(std::string_view text, ImportFormat format, const ImportRequest& request) {
  (void)detect_import_format(text);
  const Result<Import, Message> import = import_points(text, format, request);
  if (!import) {
    require(!import.error().empty(), "an error says nothing");
    // The message may quote the input.
    require(text.find("[j") != std::string_view::npos ||
                attnscope::text(import.error()).find(library_words) == std::string::npos,
            "an error is a library's own text");
    return;
  }
  require(!import->devices.empty(), "an import of nothing was no error");
  for (const ImportedDevice& device : import->devices) {
    require(!device.points.empty(), "a device without points was imported");
    for (const PointRecord& point : device.points) check(point);
  }
}

}  // namespace attnscope::campaign
