// SPDX-License-Identifier: Apache-2.0
// Errors of the simulator as it ships, from assets/samples/h200-errors.csv and h100-errors.csv: what `attnscope model
// --against` prints of these samples, which a test computes again. Reports, verdicts and the window show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "profiler/plan/point_spec.h"
#include "profiler/predict/prediction_error.h"

namespace attnscope::analysis {

struct PublishedErrors {
  std::string device;  ///< that ran the points: "NVIDIA H200"
  std::vector<ErrorRow> rows;

  /// Of the half that no parameter was fitted to, of the other where that one has none; null where neither has.
  [[nodiscard]] const ErrorRow* find(std::string_view algorithm, Pass pass, std::string_view quantity) const;
};

/// Lines of another shape are skipped.
[[nodiscard]] PublishedErrors parse_published_errors(std::string_view csv);
/// The two files, which the build embeds.
[[nodiscard]] std::string_view h200_errors_text();
[[nodiscard]] std::string_view h100_errors_text();

/// The table of a GPU, by any name that same_gpu() knows it by; null where it was not validated on that GPU.
[[nodiscard]] const PublishedErrors* validated_errors(std::string_view gpu);
/// The same; of a GPU without a table the H200's, which verdicts between its simulated points use.
[[nodiscard]] const PublishedErrors& published_errors(std::string_view gpu);

/// What 95 of 100 simulated times are off by, relative: of that algorithm and pass, of few points of it no less than of
/// all; of problems that nothing was fitted to.
[[nodiscard]] double published_time_error(const PublishedErrors&, std::string_view algorithm, Pass pass);
/// What 95 of 100 ratios of two tiles' simulated times are off by: of that algorithm and pass in the worse half, where
/// none was published the worst of all.
[[nodiscard]] double published_tile_error(const PublishedErrors&, std::string_view algorithm, Pass pass);
/// A simulated point, and what is published of its GPU.
struct SimulatedPoint {
  const PointSpec& spec;
  const PublishedErrors& errors;
};
/// The same of two simulated points. Tiles of one problem on one device are off by much the same, of which less is left
/// in their ratio; all else is off as far as both times are together.
[[nodiscard]] double published_ratio_error(const SimulatedPoint& base, const SimulatedPoint& other, bool one_device);

}  // namespace attnscope::analysis
