// SPDX-License-Identifier: Apache-2.0
// Published simulator errors from assets/samples/h200-errors.csv and h100-errors.csv: the output of `attnscope model
// --against` for these samples, checked by a test. For other GPUs, errors against published rates (published_rates.h).
// Used by reports, verdicts and the window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "profiler/plan/point_spec.h"
#include "profiler/predict/prediction_error.h"

namespace attnscope::analysis {

struct PublishedErrors {
  std::string device;  ///< measured device: "NVIDIA H200"
  std::vector<ErrorRow> rows;
  /// Shortest n_q of the published rates, which all have the default tile; 0: errors of a recording.
  std::int64_t min_rate_n_q = 0;

  /// Returns the row of the held-out half, else of the fitted half; nullptr if neither exists.
  [[nodiscard]] const ErrorRow* find(std::string_view algorithm, Pass pass, std::string_view quantity) const;
};

/// Parses the CSV; skips malformed lines.
[[nodiscard]] PublishedErrors parse_published_errors(std::string_view csv);
/// The two files, embedded at build time.
[[nodiscard]] std::string_view h200_errors_text();
[[nodiscard]] std::string_view h100_errors_text();

/// Largest errors of predicted times, against a recording or published rates that no constant is fitted to, of a GPU
/// for which times are shown.
inline constexpr double max_median_error = 0.12;
inline constexpr double max_worst_error = 0.30;

/// Errors on DeviceRates::validated_on; nullptr if times are not validated for the GPU, or if it is hypothetical.
[[nodiscard]] const PublishedErrors* validated_errors(const DeviceLimits&);

/// 95th percentile of the relative time error on held-out problems, for an algorithm and pass; nullopt if not
/// published. With few points, at least that of all algorithms.
[[nodiscard]] std::optional<double> published_time_error(const PublishedErrors&, std::string_view algorithm, Pass pass);
/// 95th percentile of the relative error of tile time ratios, for an algorithm and pass, in the worse half; nullopt if
/// not published.
[[nodiscard]] std::optional<double> published_tile_error(const PublishedErrors&, std::string_view algorithm, Pass pass);
/// A simulated point and the published errors of its GPU; null if not validated.
struct SimulatedPoint {
  const PointSpec& spec;
  const PublishedErrors* errors;
};
/// Time error of a simulated point; nullopt if not published for its GPU, algorithm and pass, or for fewer queries than
/// published rates have.
[[nodiscard]] std::optional<double> published_time_error(const SimulatedPoint&);
/// The same for the ratio of two points. For tiles of one problem on one device it is the tile ratio error if
/// published, because common errors cancel; nullopt with published rates, which have one tile. Else both time errors
/// combined.
[[nodiscard]] std::optional<double> published_ratio_error(const SimulatedPoint& base, const SimulatedPoint& other,
                                                          bool one_device);

}  // namespace attnscope::analysis
