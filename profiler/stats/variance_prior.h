// SPDX-License-Identifier: Apache-2.0
// Variances of many rows, each known badly, that lend one another strength: Smyth, Stat. Appl. Genet. Mol. Biol. 3
// (2004) 3, section 6.2. The rows' own variances are drawn from an inverse chi-squared distribution, whose scale and
// degrees of freedom follow from mean and variance of the logarithms of what was found.
#pragma once

#include <span>
#include <vector>

namespace attnscope::analysis {

/// A sample variance and its degrees of freedom, which after moderation need not be whole.
struct FoundVariance {
  double variance = 0;
  double freedom = 0;
};

struct VariancePrior {
  double variance = 0;
  double freedom = 0;  ///< infinite: all rows scatter alike; 0: there is nothing to go by
};
/// Rows without a degree of freedom are left out. `least` stands for variances below it.
[[nodiscard]] VariancePrior fit_variance_prior(std::span<const FoundVariance> found, double least);

/// Each row's variance between its own and the prior's, by their degrees of freedom, of which together it has no more
/// than all rows found. A row that scatters more than the prior allows for (less than once in 20 such tables) keeps
/// what it found.
[[nodiscard]] std::vector<FoundVariance> moderated(std::span<const FoundVariance> found, double least);

}  // namespace attnscope::analysis
