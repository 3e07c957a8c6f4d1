// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/oracle.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace attnscope::gpu {
namespace {

/// Multiply-adds of one reference: rows x n_k x d of them, a tenth of a second on a desktop's cores.
constexpr std::int64_t work_budget = std::int64_t{1} << 26;
constexpr std::int64_t sampled_instances = 8;

/// Evenly spread, first and last among them.
std::vector<std::int64_t> pick_instances(std::int64_t instances) {
  const std::int64_t count = std::min(instances, sampled_instances);
  std::set<std::int64_t> picked;
  for (std::int64_t i = 0; i < count; ++i) picked.insert(count == 1 ? 0 : i * (instances - 1) / (count - 1));
  return {picked.begin(), picked.end()};
}

void append(Reference& to, Reference&& part, std::int64_t instance) {
  to.dtype = part.dtype;
  to.d = part.d;
  for (const RowId& row : part.rows) to.rows.push_back({instance, row.row});
  std::ranges::copy(part.o, std::back_inserter(to.o));
  std::ranges::copy(part.lse, std::back_inserter(to.lse));
  std::ranges::copy(part.naive16, std::back_inserter(to.naive16));
}

bool has_buffer(const AttentionPlan& plan, const char* name) {
  return std::ranges::any_of(plan.buffers, [&](const BufferSpec& buffer) { return buffer.name == name; });
}

}  // namespace

Reference make_reference(const AttentionProblem& problem, InputKind kind, std::uint64_t seed) {
  const std::int64_t rows = problem.instances() * problem.n_q;
  const std::int64_t affordable = std::max<std::int64_t>(16, work_budget / (problem.n_k * problem.d));
  if (rows <= affordable) return reference_attention(problem, make_inputs(problem, kind, seed));

  // Each picked head is a problem of its own: the others' inputs need not exist on the host.
  AttentionProblem head = problem;
  head.batch = head.heads_q = head.heads_kv = 1;
  const InputGenerator generator(problem, kind, seed);
  const std::int64_t group = problem.heads_q / problem.heads_kv;
  const auto instances = pick_instances(problem.instances());
  const auto rows_each =
      static_cast<std::size_t>(std::max<std::int64_t>(2, affordable / static_cast<std::int64_t>(instances.size())));
  AttentionInputs inputs;
  inputs.q.resize(static_cast<std::size_t>(problem.n_q * problem.d));
  inputs.k.resize(static_cast<std::size_t>(problem.n_k * problem.d));
  inputs.v.resize(inputs.k.size());
  Reference reference;
  for (const std::int64_t instance : instances) {
    generator.fill(Tensor::q, instance, inputs.q);
    generator.fill(Tensor::k, instance / group, inputs.k);
    generator.fill(Tensor::v, instance / group, inputs.v);
    const std::uint64_t row_seed = seed + static_cast<std::uint64_t>(instance);
    append(reference, reference_attention(head, inputs, sample_rows(head, rows_each, row_seed)), instance);
  }
  return reference;
}

std::int64_t Oracle::count_nonfinite(CUdeviceptr data, std::int64_t count, DType dtype,
                                     std::chrono::milliseconds limit) {
  if (!counter_) counter_ = allocate(cuda_, sizeof(std::uint64_t));
  cuda_.check(cuda_.cuMemsetD8Async(counter_.get(), 0, sizeof(std::uint64_t), runner_.stream()), "cuMemsetD8Async");
  runner_.enqueue_count_nonfinite(data, count, dtype, counter_.get());
  runner_.wait(limit);
  std::uint64_t found = 0;
  cuda_.check(cuda_.cuMemcpyDtoH(&found, counter_.get(), sizeof found), "cuMemcpyDtoH");
  return static_cast<std::int64_t>(found);
}

CheckResult Oracle::judge(const AttentionPlan& plan, const AttentionProblem& problem, InputKind kind,
                          std::uint64_t seed, const Workspace& workspace, std::chrono::milliseconds limit) {
  if (const Key key{problem, kind, seed}; key_ != key) {
    key_.reset();
    reference_ = make_reference(problem, kind, seed);
    key_ = key;
  }
  const std::int64_t elements = problem.instances() * problem.n_q * problem.d;
  const std::int64_t nonfinite = count_nonfinite(workspace.address("o"), elements, problem.dtype, limit);

  const auto row_elements = static_cast<std::size_t>(problem.d);
  std::vector<std::uint16_t> o(reference_.rows.size() * row_elements);
  std::vector<float> lse(has_buffer(plan, "lse") ? reference_.rows.size() : 0);
  const auto read = [&](const char* buffer, std::int64_t first_row, std::size_t rows, std::size_t row_bytes,
                        void* target) {
    cuda_.check(cuda_.cuMemcpyDtoH(target,
                                   workspace.address(buffer) +
                                       static_cast<CUdeviceptr>(first_row) * static_cast<CUdeviceptr>(row_bytes),
                                   rows * row_bytes),
                "cuMemcpyDtoH");
  };
  // Rows that follow one another come in one copy.
  for (std::size_t begin = 0; begin < reference_.rows.size();) {
    const auto place = [&](std::size_t i) {
      return reference_.rows[i].instance * problem.n_q + reference_.rows[i].row;
    };
    std::size_t end = begin + 1;
    while (end < reference_.rows.size() && place(end) == place(end - 1) + 1) ++end;
    read("o", place(begin), end - begin, row_elements * sizeof(std::uint16_t), &o[begin * row_elements]);
    if (!lse.empty()) read("lse", place(begin), end - begin, sizeof(float), &lse[begin]);
    begin = end;
  }

  CheckResult result = check(reference_, o, lse);
  if (nonfinite > 0) {
    result.pass = false;
    result.max_abs_error = std::numeric_limits<double>::infinity();
    result.reason =
        fmt::format("{} of {} output elements are NaN or infinite, or were never written.", nonfinite, elements);
  } else if (const std::string buffer = workspace.overrun(plan); !buffer.empty()) {
    result.pass = false;
    result.reason = fmt::format("A kernel wrote beyond the end of {}.", buffer);
  }
  return result;
}

}  // namespace attnscope::gpu
