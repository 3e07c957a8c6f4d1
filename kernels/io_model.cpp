// SPDX-License-Identifier: Apache-2.0
#include "kernels/io_model.h"

#include <algorithm>

#include "kernels/integer.h"

namespace attnscope {

Traffic compulsory_traffic(const AttentionProblem& p) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  return {.l2_to_sm_bytes = (p.instances() * p.n_q + 2 * p.kv_instances() * p.n_k) * row,
          .sm_to_l2_bytes = p.instances() * p.n_q * row};
}

std::int64_t standard_attention_bytes(const AttentionProblem& p) {
  return p.instances() * (4 * p.n_q * p.n_k + 2 * (p.n_q + p.n_k) * p.d) * bytes_per_element(p.dtype);
}

std::int64_t flash_paper_bytes(const AttentionProblem& p, int bc) {
  return p.instances() * (3 * ceil_div(p.n_k, bc) + 1) * p.n_q * p.d * bytes_per_element(p.dtype);
}

double n2d2_over_m_bytes(const AttentionProblem& p, std::int64_t m_elements) {
  const double heads_bytes = static_cast<double>(p.instances()) * bytes_per_element(p.dtype);
  const double n2 = static_cast<double>(p.n_q) * static_cast<double>(p.n_k);
  const double d2 = static_cast<double>(p.d) * static_cast<double>(p.d);
  return heads_bytes * n2 * d2 / static_cast<double>(m_elements);
}

PaperTile paper_tile(std::int64_t m_elements, std::int64_t d) {
  const std::int64_t bc = ceil_div(m_elements, 4 * d);
  return {.br = std::min(bc, d), .bc = bc};
}

std::int64_t fa1_working_set_bytes(const AttentionProblem& p, std::int64_t heads_at_once) {
  // What every pass over the Q tiles touches again: Q (16-bit), O (fp32), l and m (fp32).
  const std::int64_t row = p.d * bytes_per_element(p.dtype) + (p.d + 2) * 4;
  return std::min(heads_at_once, p.instances()) * p.n_q * row;
}

}  // namespace attnscope
