// SPDX-License-Identifier: Apache-2.0
#include "kernels/algorithm.h"

#include <algorithm>
#include <map>
#include <utility>

namespace attnscope {

std::string_view to_string(Refusal::Cause cause) {
  switch (cause) {
    case Refusal::Cause::shape:
      return "shape";
    case Refusal::Cause::shared_memory:
      return "shared memory";
    case Refusal::Cause::registers:
      return "registers";
    case Refusal::Cause::threads:
      return "threads";
    case Refusal::Cause::architecture:
      return "architecture";
  }
  return "?";
}

AttentionModel Algorithm::model(const AttentionProblem& problem, const Config& config,
                                const DeviceLimits& device) const {
  return model_or_refusal(problem, config, device, refusal(problem, config, device));
}

AttentionModel Algorithm::law_model(const AttentionProblem& problem, const Config& config,
                                    const DeviceLimits& device) const {
  AttentionProblem checked = problem;
  if (std::ranges::find(facts_.dtypes, problem.dtype) == facts_.dtypes.end()) checked.dtype = facts_.dtypes.front();
  std::optional<Refusal> refused = refusal(checked, config, device);
  if (refused && refused->cause != Refusal::Cause::shape) refused.reset();
  return model_or_refusal(problem, config, device, std::move(refused));
}

AttentionModel Algorithm::model_or_refusal(const AttentionProblem& problem, const Config& config,
                                           const DeviceLimits& device, std::optional<Refusal> refused) const {
  AttentionModel model;
  model.reports_traffic = facts_.reports_traffic;
  model.can_predict_time = !facts_.user_defined;
  model.refusal = std::move(refused);
  if (model.refusal) return model;
  add_kernels(model, problem, config, device);
  model.working_set_bytes = working_set_bytes(problem, config, device);
  return model;
}

void Algorithm::add_kernels(AttentionModel& model, const AttentionProblem& problem, const Config& config,
                            const DeviceLimits& device) const {
  AttentionPlan made = plan(problem, config, device);
  for (KernelLaunch& launch : made.launches) model.kernels.push_back(std::move(launch));
  model.schedule = std::move(made.schedule);
}

bool Facts::in_group(Group group) const {
  return std::ranges::find(groups, group) != groups.end();
}

std::vector<BufferSpec> Algorithm::buffers(const AttentionProblem& problem, const Config& config,
                                           const DeviceLimits& device) const {
  return plan(problem, config, device).buffers;
}

std::int64_t bytes_of(std::span<const BufferSpec> buffers) {
  std::map<int, std::int64_t> of_gpu;
  for (const BufferSpec& buffer : buffers) of_gpu[buffer.gpu] += buffer.bytes;
  std::int64_t most = 0;
  for (const auto& [gpu, bytes] : of_gpu) most = std::max(most, bytes);
  return most;
}

std::int64_t AttentionPlan::buffer_bytes() const {
  return bytes_of(buffers);
}

Traffic AttentionPlan::traffic() const {
  Traffic sum;
  for (const KernelLaunch& launch : launches) {
    if (!launch.setup) sum += launch.runs * launch.traffic;
  }
  return sum;
}

}  // namespace attnscope
