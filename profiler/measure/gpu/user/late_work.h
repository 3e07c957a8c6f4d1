// SPDX-License-Identifier: Apache-2.0
// Whether what was enqueued leaves work behind that its stream does not wait for.
#pragma once

#include <chrono>
#include <functional>

#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

/// By how many nanoseconds the whole context's work outlasts the event behind what `enqueue` puts into the stream: 0
/// where the shortest of five waits for the context is no longer than twice the longest one after a pause on the
/// device, which leaves nothing behind (6 to 24 us on an H100). A kernel that the driver launches cannot do more than
/// its stream waits for; host code can. Pre: the context is idle. Throws DriverError and LaunchTimeout.
[[nodiscard]] double late_work_ns(KernelRunner& runner, const std::function<void()>& enqueue,
                                  std::chrono::milliseconds limit);

/// Whether what `enqueue` starts has `written` before the stream comes to it, which is held meanwhile: it runs on
/// another one. False as well where that could not be seen, for `enqueue` took longer than the stream was held. Pre and
/// errors: the same.
[[nodiscard]] bool writes_early(KernelRunner& runner, const std::function<void()>& enqueue,
                                const std::function<bool()>& written, std::chrono::milliseconds limit);

}  // namespace attnscope::gpu
