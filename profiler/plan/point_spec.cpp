// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/point_spec.h"

#include <fmt/format.h>

#include "messages/word.h"

namespace attnscope {

std::string_view to_string(CacheState value) {
  return value == CacheState::warm ? "warm" : "cold";
}

Result<CacheState, Message> parse_cache_state(std::string_view text) {
  if (text == "cold") return CacheState::cold;
  if (text == "warm") return CacheState::warm;
  return Failure<Message>{say::word::unknown_cache_state{.word = text}};
}

std::string describe(const PointSpec& spec) {
  const std::string tile = spec.tile.br > 0 ? fmt::format(" tile {}", describe(spec.tile)) : "";
  return fmt::format("{} {}{}", spec.algorithm, describe(spec.problem), tile) + describe(spec.knobs) +
         (spec.cache == CacheState::warm ? " warm" : "");
}

}  // namespace attnscope
