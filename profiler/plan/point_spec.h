// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kernels/messages/message.h"
#include "kernels/model/attention.h"
#include "kernels/model/knobs.h"
#include "kernels/model/result.h"

namespace attnscope {

/// L2 state before each timed or counted launch: overwritten with unrelated lines (cold), or as the previous launch
/// left it (warm). The time of a plan with several launches ("all") covers the sequence; only its first launch starts
/// cold. `unknown`: an imported file does not state it; never measured or simulated.
enum class CacheState { cold, warm, unknown };
[[nodiscard]] std::string_view to_string(CacheState);
/// "cold", "warm" or "L2 unknown", for titles that list values only.
[[nodiscard]] std::string_view brief_text(CacheState);
[[nodiscard]] Result<CacheState, Message> parse_cache_state(std::string_view);

struct PointSpec {
  std::string algorithm;  ///< Algorithm::name(); imported points may name unregistered algorithms
  AttentionProblem problem;
  TileShape tile = {};  ///< br and bc are 0 if an imported point does not have them
  Knobs knobs = {};     ///< explicitly set knobs; imported points may have unknown names
  CacheState cache = CacheState::cold;

  [[nodiscard]] Config config() const { return {tile, knobs}; }
  void set_config(Config config) {
    tile = config.tile;
    knobs = std::move(config.knobs);
  }

  bool operator==(const PointSpec&) const = default;
};
/// "fa2 fp16 causal batch 1 heads 16 N 4096 d 128 tile 128x64"; unique per point.
[[nodiscard]] std::string describe(const PointSpec&);

}  // namespace attnscope
