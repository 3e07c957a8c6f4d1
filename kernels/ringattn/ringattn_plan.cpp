// SPDX-License-Identifier: Apache-2.0
#include "kernels/ringattn/ringattn_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/algorithm_parts.h"

namespace attnscope::ringattn {
namespace {

/// Renames buffer arguments to the buffers of GPU 0.
void rename(std::vector<Argument>& arguments, const PlanBuilder::Names& names) {
  const auto put = [&](std::string& name) {
    if (const auto found = names.find(name); found != names.end()) name = buffer_on_gpu(found->second, 0);
  };
  for (Argument& argument : arguments) {
    if (auto* const buffer = std::get_if<BufferArgument>(&argument)) put(buffer->name);
    if (auto* const map = std::get_if<TensorMapArgument>(&argument)) put(map->buffer);
  }
}

}  // namespace

std::vector<TokenRange> gpu_tokens(const AttentionProblem& p, int gpu) {
  const std::int64_t of_each = p.n_k / p.gpus;
  switch (p.gpu_order) {
    case GpuOrder::contiguous:
      break;
    case GpuOrder::zigzag:
      return {{.token = gpu * of_each / 2, .tokens = of_each / 2},
              {.token = (2 * p.gpus - 1 - gpu) * of_each / 2, .tokens = of_each / 2}};
    case GpuOrder::striped:
      return {{.token = gpu, .tokens = of_each, .every = p.gpus}};
  }
  return {{.token = gpu * of_each, .tokens = of_each}};
}

Transfer copy_rows(const Matrix& from, const Matrix& to, int to_gpu, const Rows& rows) {
  const std::int64_t row = from.row_bytes;
  Transfer copy{.from = from.buffer,
                .to = to.buffer,
                .to_gpu = to_gpu,
                .from_offset = rows.from * row,
                .to_offset = rows.to * row,
                .rows = from.heads,
                .row_bytes = rows.tokens * row,
                .from_pitch = from.tokens * row,
                .to_pitch = to.tokens * row};
  if (rows.every > 1 || rows.to_stride > 1) {  // single tokens, of evenly spaced heads
    copy.rows = from.heads * rows.tokens;
    copy.row_bytes = row;
    copy.from_pitch = rows.every * row;
    copy.to_pitch = rows.to_stride * row;
  }
  if (copy.from_pitch == copy.row_bytes && copy.to_pitch == copy.row_bytes) {
    copy.row_bytes *= copy.rows;
    copy.rows = 1;
  }
  return copy;
}

PlanBuilder::PlanBuilder(const Algorithm& inner, const AttentionProblem& problem, const Config& config,
                         const DeviceLimits& device)
    : inner_(inner), problem_(problem), config_(config), device_(device) {
  const AttentionProblem whole = single_gpu_problem(problem);
  plan_.buffers = input_buffers(whole);
  plan_.buffers.push_back(row_buffer("o", whole, whole.d, output_bytes(whole.dtype)));
  plan_.buffers.push_back(row_buffer("lse", whole, 1, fp32_bytes));
  plan_.schedule.gpus = problem.gpus;
  add_buffer("taken", sector_bytes, BufferFill::zeros);
}

Matrix PlanBuilder::matrix(std::string_view buffer, int gpu, std::int64_t heads, std::int64_t tokens,
                           std::int64_t row_bytes) const {
  return {buffer_on_gpu(buffer, gpu), heads, tokens,
          row_bytes > 0 ? row_bytes : problem_.d * bytes_per_element(problem_.dtype)};
}

void PlanBuilder::distribute_inputs() {
  for (const auto& [name, heads] :
       {std::pair{"q", problem_.instances()}, {"k", problem_.kv_instances()}, {"v", problem_.kv_instances()}}) {
    Matrix whole = matrix(name, 0, heads, problem_.n_k);
    whole.buffer = name;
    add_buffer(name, heads * tokens() * whole.row_bytes);
    for (int gpu = 0; gpu < problem_.gpus; ++gpu) {
      const Matrix own = matrix(name, gpu, heads, tokens());
      std::int64_t to = 0;
      for (const TokenRange& stretch : gpu_tokens(problem_, gpu)) {
        Operation copy{.kind = Operation::Kind::transfer};
        copy.transfer = copy_rows(whole, own, gpu,
                                  {.from = stretch.token, .to = to, .tokens = stretch.tokens, .every = stretch.every});
        plan_.schedule.distribute.push_back(std::move(copy));
        to += stretch.tokens;
      }
    }
  }
}

void PlanBuilder::gather_outputs(const std::vector<std::string>& o, const std::vector<std::string>& lse) {
  for (const auto* const buffers : {&o, &lse}) {
    const char* const name = buffers == &o ? "o" : "lse";
    const std::int64_t row_bytes = buffers == &o ? 0 : fp32_bytes;
    Matrix whole = matrix(name, 0, problem_.instances(), problem_.n_q, row_bytes);
    whole.buffer = name;
    for (int gpu = 0; gpu < problem_.gpus && !buffers->empty(); ++gpu) {
      std::int64_t from = 0;
      std::size_t which = 0;
      for (const TokenRange& stretch : gpu_tokens(problem_, gpu)) {
        const bool apart = buffers->size() > 1;
        const Matrix own = matrix(buffers->at(apart ? which++ : 0), gpu, problem_.instances(),
                                  apart ? stretch.tokens : tokens(), row_bytes);
        gather(
            gpu,
            copy_rows(
                own, whole, 0,
                {.from = apart ? 0 : from, .to = stretch.token, .tokens = stretch.tokens, .to_stride = stretch.every}));
        from += stretch.tokens;
      }
    }
  }
}

void PlanBuilder::gather(int gpu, Transfer what) {
  Operation copy{.kind = Operation::Kind::transfer, .gpu = gpu};
  copy.transfer = std::move(what);
  plan_.schedule.gather.push_back(std::move(copy));
}

void PlanBuilder::add_buffer(const std::string& name, std::int64_t bytes, BufferFill fill) {
  for (int gpu = 0; gpu < problem_.gpus; ++gpu) {
    plan_.buffers.push_back({.name = buffer_on_gpu(name, gpu), .bytes = bytes, .fill = fill, .gpu = gpu});
  }
}

void PlanBuilder::add_view(const std::string& name, const std::string& within, std::int64_t offset) {
  for (int gpu = 0; gpu < problem_.gpus; ++gpu) {
    plan_.buffers.push_back({.name = buffer_on_gpu(name, gpu),
                             .place = {.within = buffer_on_gpu(within, gpu), .offset = offset},
                             .gpu = gpu});
  }
}

std::size_t PlanBuilder::add(Operation operation) {
  // Keeps only the last dependency of each other stream; operations of the same stream run in order anyway.
  const auto& all = plan_.schedule.operations;
  const auto stream = [](const Operation& each) { return std::pair(each.gpu, each.is_transfer()); };
  std::map<std::pair<int, bool>, std::size_t> last;
  for (const std::size_t other : operation.after) {
    if (stream(all[other]) == stream(operation)) continue;
    std::size_t& latest = last[stream(all[other])];
    latest = std::max(latest, other);
  }
  operation.after.clear();
  for (const auto& [of, other] : last) operation.after.push_back(other);
  plan_.schedule.operations.push_back(std::move(operation));
  return all.size() - 1;
}

std::size_t PlanBuilder::launch(Operation where, const std::string& name, const Names& names,
                                const std::function<KernelLaunch()>& make) {
  const auto known = std::ranges::find(plan_.launches, name, [](const KernelLaunch& each) { return each.name; });
  where.launch = static_cast<std::size_t>(known - plan_.launches.begin());
  if (known == plan_.launches.end()) {
    KernelLaunch first = make();
    first.name = name;
    rename(first.arguments, names);
    plan_.launches.push_back(std::move(first));
    names_.push_back(names);
  } else {
    ++known->runs;
  }
  for (const auto& [argument, buffer] : names_[where.launch]) {
    std::string here = buffer_on_gpu(names.at(argument), where.gpu);
    if (std::string named = buffer_on_gpu(buffer, 0); named != here)
      where.buffers.emplace_back(std::move(named), std::move(here));
  }
  return add(std::move(where));
}

std::size_t PlanBuilder::attention(Operation where, const Attention& what, Names names) {
  names.insert({{"q", "q"}, {"k", "k"}, {"v", "v"}, {"taken", "taken"}});
  return launch(std::move(where), what.name, names, [&] {
    KernelLaunch launch = std::move(inner_.plan(what.problem, config_, device_).launches.front());
    for (const auto& [argument, rows] : {std::pair{0, what.q_rows}, {1, what.kv_rows}, {2, what.kv_rows}}) {
      auto& map = std::get<TensorMapArgument>(launch.arguments.at(static_cast<std::size_t>(argument)));
      map.strides.back() = rows * map.strides.front();
    }
    return launch;
  });
}

std::size_t PlanBuilder::transfer(int gpu, Transfer what, std::vector<std::size_t> after) {
  Operation operation{.kind = Operation::Kind::transfer, .gpu = gpu, .after = std::move(after)};
  operation.transfer = std::move(what);
  return add(std::move(operation));
}

}  // namespace attnscope::ringattn
