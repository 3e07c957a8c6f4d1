// SPDX-License-Identifier: Apache-2.0
// Student's t and the normal distribution, as verdicts ask for them.
#pragma once

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace attnscope::analysis {

/// From so many degrees of freedom on Student's t is the normal distribution.
inline constexpr double as_good_as_normal = 1e6;

/// Doubles are precise enough: boost would otherwise compute in long double, several times as long.
using InDoubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using Students = boost::math::students_t_distribution<double, InDoubles>;
inline const boost::math::normal_distribution<double, InDoubles> standard_normal;

}  // namespace attnscope::analysis
