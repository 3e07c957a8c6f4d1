// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/late_work.h"

#include <algorithm>
#include <limits>

namespace attnscope::gpu {

double late_work_ns(KernelRunner& runner, const std::function<void()>& enqueue, std::chrono::milliseconds limit) {
  const CudaApi& cuda = runner.cuda();
  const Event end = make_event(cuda);
  const Event idle = make_event(cuda);
  const auto behind_ns = [&](const auto& work) {
    work();
    cuda.check(cuda.cuEventRecord(end.get(), runner.stream()), "cuEventRecord");
    runner.wait(end.get(), limit, true);  // to sleep meanwhile would be part of the time
    cuda.check(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    cuda.check(cuda.cuEventRecord(idle.get(), runner.stream()), "cuEventRecord");
    runner.wait(idle.get(), limit);
    float milliseconds = 0;
    cuda.check(cuda.elapsed_time(&milliseconds, end.get(), idle.get()), "cuEventElapsedTime");
    return 1e6 * static_cast<double>(milliseconds);
  };
  double shortest = std::numeric_limits<double>::infinity();
  double longest_of_nothing = 0;
  for (int i = 0; i < 5; ++i) {
    shortest = std::min(shortest, behind_ns(enqueue));
    longest_of_nothing =
        std::max(longest_of_nothing, behind_ns([&] { runner.enqueue_delay(std::chrono::microseconds(100)); }));
  }
  return shortest > 2 * longest_of_nothing ? shortest - longest_of_nothing : 0;
}

bool writes_early(KernelRunner& runner, const std::function<void()>& enqueue, const std::function<bool()>& written,
                  std::chrono::milliseconds limit) {
  const CudaApi& cuda = runner.cuda();
  const Event held = make_event(cuda);
  runner.enqueue_delay(std::chrono::milliseconds(50));
  cuda.check(cuda.cuEventRecord(held.get(), runner.stream()), "cuEventRecord");
  const auto is_held = [&] { return cuda.cuEventQuery(held.get()) == CUDA_ERROR_NOT_READY; };
  enqueue();
  bool early = false;
  while (!early && is_held()) early = written() && is_held();
  runner.wait(limit);
  return early;
}

}  // namespace attnscope::gpu
