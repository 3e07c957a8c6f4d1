// SPDX-License-Identifier: Apache-2.0
// What is asked of one sweep point.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kernels/messages/message.h"
#include "kernels/model/attention.h"
#include "kernels/model/knobs.h"
#include "kernels/model/result.h"

namespace attnscope {

/// State of the L2 when a timed or counted launch begins: overwritten with foreign lines, or as the last launch left
/// it. The time of a plan of several launches ("all") is that of the sequence, of which only the first begins so.
enum class CacheState { cold, warm };
[[nodiscard]] std::string_view to_string(CacheState);
[[nodiscard]] Result<CacheState, Message> parse_cache_state(std::string_view);

struct PointSpec {
  std::string algorithm;  ///< Algorithm::name(); of an imported point any word, also one that no registry has
  AttentionProblem problem;
  TileShape tile = {};  ///< br and bc are 0 where an imported point does not say
  Knobs knobs = {};     ///< that were given; of an imported point any names
  CacheState cache = CacheState::cold;

  [[nodiscard]] Config config() const { return {tile, knobs}; }
  void set_config(Config config) {
    tile = config.tile;
    knobs = std::move(config.knobs);
  }

  bool operator==(const PointSpec&) const = default;
};
/// "fa2 fp16 causal batch 1 heads 16 N 4096 d 128 tile 128x64": different for different points, by the table of fields.
[[nodiscard]] std::string describe(const PointSpec&);

}  // namespace attnscope
