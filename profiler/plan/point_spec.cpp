// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/point_spec.h"

#include <fmt/format.h>

#include "profiler/plan/fields.h"

namespace attnscope {

std::string_view to_string(CacheState value) {
  return value == CacheState::warm ? "warm" : "cold";
}

Result<CacheState, Message> parse_cache_state(std::string_view text) {
  if (text == "cold") return CacheState::cold;
  if (text == "warm") return CacheState::warm;
  return Failure{make_message("unknown cache state '{}'; expected cold or warm", text)};
}

std::string describe(const PointSpec& spec) {
  return describe(spec, point_fields());
}

}  // namespace attnscope
