// SPDX-License-Identifier: Apache-2.0
// What is known of a point as a whole beside its kernels' metrics: one line a number.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernels/messages/message.h"
#include "profiler/metrics/point.h"

namespace attnscope {

struct PointFact {
  enum class About { check, device };  ///< the outputs against the reference; the device beside the measurement

  std::string_view key;    ///< column of exports and name in files: "max_abs_error"
  Saying label = nullptr;  ///< for people: "Largest error"
  std::string_view unit;   ///< "1", "hertz", "celsius", "watt"
  About about = About::check;
  /// Nothing where it is not known.
  std::optional<double> (*get)(const PointRecord&) = nullptr;
  /// Computed from inputs and types, whatever ran; else the value comes from where the point does.
  bool modelled = false;
};

/// The check against the reference, then the device's state beside the measurement.
[[nodiscard]] std::span<const PointFact> point_facts();
/// nullptr for an unknown key.
[[nodiscard]] const PointFact* find_point_fact(std::string_view key);
/// The value with its unit and origin.
[[nodiscard]] std::optional<MetricValue> value_of(const PointFact&, const PointRecord&);

}  // namespace attnscope
