// SPDX-License-Identifier: Apache-2.0
// Student's t and normal distributions in double precision.
#pragma once

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace attnscope::analysis {

/// Degrees of freedom above which Student's t is treated as normal.
inline constexpr double max_student_dof = 1e6;

/// Avoids boost's promotion to long double, which is several times slower.
using DoublePolicy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentT = boost::math::students_t_distribution<double, DoublePolicy>;
inline const boost::math::normal_distribution<double, DoublePolicy> standard_normal;

}  // namespace attnscope::analysis
