// SPDX-License-Identifier: Apache-2.0
// Empirical Bayes moderation of the variances of many rows: Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004) 3, section
// 6.2. Row variances follow a scaled inverse chi-squared distribution whose scale and degrees of freedom are estimated
// from mean and variance of the log sample variances.
#pragma once

#include <span>
#include <vector>

namespace attnscope::analysis {

/// A sample variance with its degrees of freedom, which may be fractional after moderation.
struct VarianceEstimate {
  double variance = 0;
  double dof = 0;
};

struct VariancePrior {
  double variance = 0;
  double dof = 0;  ///< infinite: all rows have the same variance; 0: unknown
};
/// Ignores rows without degrees of freedom. Variances below `least` are raised to it.
[[nodiscard]] VariancePrior fit_variance_prior(std::span<const VarianceEstimate> found, double least);

/// Returns each row's variance, averaged with the prior's by degrees of freedom (at most the sum over all rows). A row
/// whose variance is an outlier under the prior (5% level over all rows) keeps its sample variance.
[[nodiscard]] std::vector<VarianceEstimate> moderate(std::span<const VarianceEstimate> found, double least);

}  // namespace attnscope::analysis
