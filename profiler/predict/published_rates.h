// SPDX-License-Identifier: Apache-2.0
// Published rates of FlashAttention-2 kernels (assets/samples/published.csv), which give the error of predicted times
// on GPUs without a recording. Predictions are for the kernel of this program, which on an H200 is as fast as the
// library's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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
/// header; '#' starts a comment. The mask is full or causal. Throws std::invalid_argument with the line for an unknown
/// GPU, an invalid value or an infeasible problem.
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

}  // namespace attnscope::analysis
