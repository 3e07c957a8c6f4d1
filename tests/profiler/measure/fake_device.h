// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "profiler/measure/device.h"

namespace attnscope {

/// Device with scripted answers that records its calls.
class FakeDevice final : public Device {
 public:
  FakeDevice() {
    device_info.limits = *find_gpu("H200");
    device_info.uuid = "GPU-fake";
  }

  [[nodiscard]] const DeviceInfo& info() const override { return device_info; }
  [[nodiscard]] const Registry& algorithms() const override { return *registry; }
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

  /// With max_together > 1: like measure(), without counters.
  [[nodiscard]] MeasurementResult measure_deferred(const PointSpec& spec, const MeasureOptions& options,
                                                   const CancelToken& cancel) override {
    PointRecord record = measure(spec, options, cancel);
    const bool counters_pending = max_together > 1 && record.disposition == Disposition::ok;
    return {std::move(record), counters_pending};
  }
  [[nodiscard]] bool can_share_session(std::span<const PointSpec> waiting, const PointSpec&) const override {
    return waiting.size() < max_together;
  }
  /// Counts the records in order and applies `count_answer` to each. If the device is lost or the run cancelled, the
  /// remaining records are incomplete.
  [[nodiscard]] CountResult count(std::span<PointRecord* const> records, const MeasureOptions&,
                                  const CancelToken& cancel) override {
    std::vector<bool> whole(records.size(), false);
    std::vector<std::int64_t>& session = sessions.emplace_back();
    for (std::size_t i = 0; i < records.size(); ++i) {
      session.push_back(records[i]->spec.problem.n_q);
      if (cancel.cancelled()) break;
      if (count_answer) count_answer(*records[i]);
      whole[i] = true;
      if (is_usable) continue;
      // The earlier points of the session have lost their counts, too.
      std::fill(whole.begin(), whole.end(), false);
      whole[i] = true;
      return {.whole = whole, .fatal_point = i};
    }
    if (cancel.cancelled()) std::fill(whole.begin(), whole.end(), false);
    return {.whole = whole};
  }

  DeviceInfo device_info;
  const Registry* registry = &built_in_algorithms();
  bool is_usable = true;
  std::function<void(PointRecord&)> answer;
  std::vector<PointSpec> prepared;
  std::vector<PointSpec> measured;
  std::vector<MeasureOptions> asked;
  std::size_t max_together = 1;
  std::function<void(PointRecord&)> count_answer;
  std::vector<std::vector<std::int64_t>> sessions;  ///< N of the points of each session.
};

}  // namespace attnscope
