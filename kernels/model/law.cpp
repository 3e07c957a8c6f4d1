// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/law.h"

#include <cstdlib>

namespace attnscope {

std::optional<std::int64_t> fixed_query_count(const AttentionProblem& problem) {
  return problem.n_q == problem.n_k ? std::nullopt : std::optional(problem.n_q);
}

AttentionProblem at_length(AttentionProblem problem, std::int64_t n) {
  if (!fixed_query_count(problem)) problem.n_q = n;
  problem.n_k = n;
  return problem;
}

std::string_view to_string(LawVariable variable) {
  constexpr std::array<std::string_view, law_variable_count> names{"N", "d", "M"};
  return names.at(static_cast<std::size_t>(variable));
}

double PowerLaw::bytes(const AttentionProblem& p, std::int64_t m_elements) const {
  const double heads_bytes = static_cast<double>(p.instances()) * bytes_per_element(p.dtype);
  // Divides once at the end: the products before it are integers.
  double above = heads_bytes;
  double below = 1;
  const auto take = [&](double value, int exponent) {
    for (int i = 0; i < std::abs(exponent); ++i) (exponent < 0 ? below : above) *= value;
  };
  take(static_cast<double>(p.n_k), exponent(LawVariable::n));
  take(static_cast<double>(p.d), exponent(LawVariable::d));
  take(static_cast<double>(m_elements), exponent(LawVariable::m));
  return above / below;
}

const PowerLaw& theorem_2() {
  static const PowerLaw stated{.title = "Theorem 2", .text = "N²d²/M", .exponents = {2, 2, -1}};
  return stated;
}

}  // namespace attnscope
