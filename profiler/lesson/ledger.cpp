// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/ledger.h"

#include <algorithm>
#include <cmath>

namespace attnscope::analysis::lesson {

const LedgerLine* Ledger::find(Tensor tensor) const {
  const auto line = std::ranges::find(lines, tensor, &LedgerLine::tensor);
  return line == lines.end() ? nullptr : &*line;
}

std::int64_t Ledger::tensor_bytes() const {
  std::int64_t sum = 0;
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::o}) sum += find(tensor)->all();
  return sum;
}

std::int64_t Ledger::score_traffic_bytes() const {
  return 2 * (find(Tensor::s)->all() + find(Tensor::p)->all());
}

Ledger make_ledger(const AttentionProblem& p) {
  const int in = bytes_per_element(p.dtype);
  const int out = output_bytes(p.dtype);
  const int sum = accumulator_bytes(p.dtype);
  const std::int64_t q = p.instances();
  const std::int64_t kv = p.kv_instances();
  const auto line = [](Tensor tensor, std::int64_t matrices, std::int64_t rows, std::int64_t cols, int bytes) {
    return LedgerLine{.tensor = tensor, .matrices = matrices, .rows = rows, .cols = cols, .element_bytes = bytes};
  };
  return {.problem = p,
          .lines = {line(Tensor::q, q, p.n_q, p.d, in), line(Tensor::k, kv, p.n_k, p.d, in),
                    line(Tensor::v, kv, p.n_k, p.d, in), line(Tensor::o, q, p.n_q, p.d, out),
                    line(Tensor::s, q, p.n_q, p.n_k, in), line(Tensor::p, q, p.n_q, p.n_k, in),
                    line(Tensor::m, q, p.n_q, 1, sum), line(Tensor::l, q, p.n_q, 1, sum),
                    line(Tensor::lse, q, p.n_q, 1, sum)}};
}

std::int64_t max_n_for_score_bytes(std::int64_t bytes, DType dtype) {
  const double elements = static_cast<double>(bytes) / static_cast<double>(bytes_per_element(dtype));
  auto n = static_cast<std::int64_t>(std::sqrt(std::max(0.0, elements)));
  while (n > 0 && n * n * bytes_per_element(dtype) > bytes) --n;
  return n;
}

}  // namespace attnscope::analysis::lesson
