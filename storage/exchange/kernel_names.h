// SPDX-License-Identifier: Apache-2.0
// Names of kernels as profilers print them. Internal to storage/exchange.
#pragma once

#include <string>
#include <string_view>

namespace attnscope::exchange {

/// Returns "softmax_warp_forward" for "void at::<unnamed>::softmax_warp_forward<float, 4>(T1 *)".
[[nodiscard]] std::string short_kernel_name(std::string_view text);

}  // namespace attnscope::exchange
