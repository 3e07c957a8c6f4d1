// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch, evaluated for a problem and configuration.
#pragma once

#include <span>
#include <string_view>

#include "kernels/algorithm.h"
#include "kernels/user/expression.h"
#include "kernels/user/manifest.h"

namespace attnscope::user {

/// A buffer that the problem does not have, such as `lse` of a kernel without it, becomes a null pointer. Throws
/// Message if an expression has no value or an invalid one.
[[nodiscard]] Argument argument_of(const ArgumentSpec&, const Variables&, std::span<const BufferSpec>);
/// Throws Message if the problem has no such buffer or its address is not aligned for this tensor map.
void check_address(const ArgumentSpec& map, std::span<const BufferSpec>);
/// Calls `visit` with the name of each buffer that the launch takes, also in a structure.
template <class Visit>
void for_each_buffer(const LaunchSpec& launch, Visit visit) {
  for (const ArgumentSpec& each : launch.arguments) {
    if (!each.buffer.empty()) visit(std::string_view(each.buffer));
    for (const ArgumentSpec& member : each.members) {
      if (!member.buffer.empty()) visit(std::string_view(member.buffer));
    }
  }
}
/// Returns true if the launch takes the buffer, also in a structure.
[[nodiscard]] bool has_argument(const LaunchSpec&, std::string_view buffer);

}  // namespace attnscope::user
