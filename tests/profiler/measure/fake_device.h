// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/measure/device.h"

namespace attnscope {

/// A device that answers what the test tells it to, and remembers what it was asked.
class FakeDevice final : public Device {
 public:
  FakeDevice() {
    device_info.limits = *find_gpu("H200");
    device_info.uuid = "GPU-fake";
  }

  [[nodiscard]] const DeviceInfo& info() const override { return device_info; }
  [[nodiscard]] const Registry& algorithms() const override { return built_in_algorithms(); }
  [[nodiscard]] Environment environment() const override { return {}; }
  [[nodiscard]] CounterAvailability counters() const override { return {CounterState::available, {}, {}}; }
  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string>) const override { return {}; }
  void prepare(std::span<const PointSpec> points, const CancelToken&, const BuildProgress& progress) override {
    for (const PointSpec& point : points) {
      prepared.push_back(point);
      BuildReport report;
      report.kernel = describe(point);
      progress(prepared.size(), points.size(), report);
    }
  }
  [[nodiscard]] std::int64_t free_bytes() const override { return device_info.limits.dram_bytes; }
  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options, const CancelToken&) override {
    measured.push_back(spec);
    asked.push_back(options);
    PointRecord record;
    record.spec = spec;
    record.kernels.emplace_back();
    if (answer) answer(record);
    return record;
  }
  [[nodiscard]] bool usable() const override { return is_usable; }

  DeviceInfo device_info;
  bool is_usable = true;
  std::function<void(PointRecord&)> answer;
  std::vector<PointSpec> prepared;
  std::vector<PointSpec> measured;
  std::vector<MeasureOptions> asked;
};

}  // namespace attnscope
