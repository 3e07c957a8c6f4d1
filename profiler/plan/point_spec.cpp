// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/point_spec.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "profiler/plan/fields.h"

namespace attnscope {

std::string_view to_string(CacheState value) {
  constexpr std::array<std::string_view, 3> words{"cold", "warm", "unknown"};
  return words.at(static_cast<std::size_t>(value));
}

std::string_view brief_text(CacheState value) {
  return value == CacheState::unknown ? "L2 unknown" : to_string(value);
}

Result<CacheState, Message> parse_cache_state(std::string_view text) {
  for (const CacheState value : {CacheState::cold, CacheState::warm, CacheState::unknown}) {
    if (text == to_string(value)) return value;
  }
  return Failure{make_message("invalid cache state '{}'; expected cold or warm", text)};
}

std::string describe(const PointSpec& spec) {
  return describe(spec, point_fields());
}

}  // namespace attnscope
