// SPDX-License-Identifier: Apache-2.0
// Published simulator errors from assets/samples/h200-errors.csv and h100-errors.csv: the output of `attnscope model
// --against` for these samples, checked by a test. For other GPUs, errors against published rates of FlashAttention-2
// kernels (assets/samples/published.csv). Predictions are for the kernel of this program, which on an H200 is as fast
// as the library's. Used by reports, verdicts and the window.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/device_rates.h"
#include "profiler/plan/point_spec.h"
#include "profiler/points/table.h"
#include "profiler/predict/prediction_error.h"

namespace attnscope::analysis {

struct PublishedRate {
  const DeviceLimits* gpu = nullptr;
  std::string source;
  Half half = Half::held_out;
  PointSpec spec;               ///< with the tile that this program chooses for the GPU
  double flops_per_second = 0;  ///< nominal; a causal mask counts as half, as the sources do
  double clock_hz = 0;          ///< SM clock that the source states; 0: none

  [[nodiscard]] double ns() const;
  [[nodiscard]] DeviceRates rates() const;  ///< at the stated clock
  [[nodiscard]] double predicted_ns() const;
  /// Returns the published time as a record. Several launches share it in proportion to their predicted times.
  [[nodiscard]] PointRecord record() const;
};

/// Parses rows of "algorithm,gpu,half,pass,mask,batch,heads_q,heads_kv,n_q,n_k,d,tflops,clock_mhz,source" after a
/// header; '#' starts a comment. The mask is full or causal. Throws std::invalid_argument with the number of an invalid
/// line.
[[nodiscard]] std::vector<PublishedRate> parse_published_rates(std::string_view csv);
/// assets/samples/published.csv, embedded at build time.
[[nodiscard]] std::string_view published_rates_text();
[[nodiscard]] const std::vector<PublishedRate>& published_rates();

/// Errors |predicted / published - 1| of times.
struct RateErrors {
  std::string gpu;
  std::string source;  ///< empty: all sources
  std::string half;    ///< "fitted" or "held out"
  std::size_t rates = 0;
  double median = 0;
  double p95 = 0;
  double worst = 0;
};
/// Per GPU and half: one row per source, then one for all.
[[nodiscard]] std::vector<RateErrors> rate_errors(std::span<const PublishedRate>);
[[nodiscard]] Table rate_error_table(std::vector<RateErrors>, bool people);

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
