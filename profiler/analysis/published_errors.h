// SPDX-License-Identifier: Apache-2.0
// How far the simulator is off, as it ships: what `attnscope model --against` prints of the recorded sample
// (assets/samples/h200-errors.csv), which a test plays again. The window asks the program itself, for other samples.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/message.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::analysis {

struct PublishedError {
  std::string algorithm;
  std::string pass;
  std::string half;      ///< "fitted", "held out"
  std::string quantity;  ///< "dram_bytes", "time", "tile_ratio": ErrorRow's
  std::size_t points = 0;
  std::size_t problems = 0;
  double median = 0;  ///< relative, like what follows: ErrorFigures
  double p95 = 0;
  double worst_factor = 1;
  double ratio = 1;
  std::string devices;  ///< that ran them
};

/// A row for each algorithm, pass, half and quantity, then the sums over all of them, by the names that the table has:
/// "all", "both". Rows that are not of this shape are left out.
[[nodiscard]] std::vector<PublishedError> parse_published_errors(std::string_view csv);
/// "DRAM bytes"; of a quantity that such a row may have.
[[nodiscard]] Message title_of_quantity(std::string_view quantity);
/// Of the table that is built in.
[[nodiscard]] std::span<const PublishedError> published_errors();

/// What 95 of 100 simulated times are off by, relative: of that algorithm and pass, of few points of it no less than of
/// all; of problems that nothing was fitted to.
[[nodiscard]] double published_time_error(std::string_view algorithm, Pass pass);
/// What 95 of 100 ratios of two tiles' simulated times are off by: of that algorithm and pass in the worse half, where
/// none was published the worst of all.
[[nodiscard]] double published_tile_error(std::string_view algorithm, Pass pass);
/// The same of two simulated points. Tiles of one problem on one device are off by much the same, of which less is left
/// in their ratio; all else is off as far as both times are together.
[[nodiscard]] double published_ratio_error(const PointSpec& base, const PointSpec& other, bool one_device);

}  // namespace attnscope::analysis
