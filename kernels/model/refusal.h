// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kernels/messages/message.h"

namespace attnscope {

/// Why a tile cannot run on a device, before anything is compiled or allocated.
struct Refusal {
  enum class Cause { shape, shared_memory, registers, threads, architecture };
  Cause cause = Cause::shape;
  Message reason;  ///< with the figures: needed, available
};
[[nodiscard]] std::string_view to_string(Refusal::Cause);

}  // namespace attnscope
