// SPDX-License-Identifier: Apache-2.0
// How far the simulator is off, as it ships: what `attnscope model --against` prints of the recorded samples
// (assets/samples/h200-errors.csv, h100-errors.csv), which a test plays again. Reports, verdicts and the window say it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/message.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::analysis {

struct PublishedError {
  std::string algorithm;  ///< judged_as()
  std::string pass;
  std::string half;      ///< "fitted", "held out"
  std::string quantity;  ///< "dram_bytes", "time", "tile_ratio": ErrorRow's
  std::size_t points = 0;
  std::size_t problems = 0;
  double median = 0;  ///< relative, like what follows: ErrorFigures
  double p95 = 0;
  double worst_factor = 1;
  std::optional<double> ratio;  ///< none of tile_ratio
};
/// How the simulation ranks the tiles of one problem: TileRanks.
struct PublishedRanks {
  std::string algorithm;
  std::string pass;
  std::string half;
  std::string problem;
  std::size_t tiles = 0;
  double spearman = 0;
  double chosen_over = 1;
};
struct PublishedErrors {
  std::string device;  ///< that ran the points: "NVIDIA H200"
  /// A row for each algorithm, pass, half and quantity, then the sums over all of them, by the names that the table
  /// has: "all", "both".
  std::vector<PublishedError> errors;
  std::vector<PublishedRanks> ranks;

  /// Of the half that no parameter was fitted to, of the other where that one has none; null where neither has.
  [[nodiscard]] const PublishedError* find(std::string_view algorithm, Pass pass, std::string_view quantity) const;
};

/// Rows that are of neither shape are left out.
[[nodiscard]] PublishedErrors parse_published_errors(std::string_view csv);
/// "DRAM bytes"; of a quantity that such a row may have.
[[nodiscard]] Message title_of_quantity(std::string_view quantity);
/// The built-in table of a GPU, by any name that same_gpu() knows it by; of one without a table the H200's.
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
