// SPDX-License-Identifier: Apache-2.0
#include "kernels/common_knobs.h"

#include <string>

namespace attnscope {

const Knob& raster_knob() {
  static const Knob stated{.name = std::string(knob::raster),
                           .label = "Raster",
                           .meaning =
                               "The order in which thread blocks are handed to the SMs: neighbours share a "
                               "head's K and V (q_fastest), or belong to different heads (heads_fastest).",
                           .words = {"q_fastest", std::string(knob::heads_fastest)}};
  return stated;
}

const Knob& splits_knob() {
  static const Knob stated{.name = std::string(knob::splits),
                           .label = "Splits",
                           .meaning = "Parts that each head's keys are cut into, so that few heads fill all SMs.",
                           .largest = 4096};
  return stated;
}

const Knob& warps_knob() {
  static const Knob stated{.name = std::string(knob::warps),
                           .label = "Warps",
                           .meaning = "Warps of a block that multiply: fewer have more rows, and registers, each.",
                           .largest = 64,
                           .with_tile = true};
  return stated;
}

const Knob& stages_knob() {
  static const Knob stated{
      .name = std::string(knob::stages),
      .label = "Stages",
      .meaning = "Buffers of K and of V: with more of them loads run further ahead of the products.",
      .largest = 64};
  return stated;
}

Tiling tiling_of(const Config& config) {
  Tiling tiling;
  tiling.br = config.tile.br;
  tiling.bc = config.tile.bc;
  if (config.knobs.word(knob::raster) == knob::heads_fastest) tiling.raster = Raster::heads_fastest;
  tiling.splits = static_cast<int>(config.knobs.number(knob::splits));
  tiling.warps = static_cast<int>(config.knobs.number(knob::warps));
  tiling.stages = static_cast<int>(config.knobs.number(knob::stages));
  return tiling;
}

Tiling::operator Config() const {
  Config config(
      TileShape{.br = br, .bc = bc},
      {{knob::splits, std::int64_t{splits}}, {knob::warps, std::int64_t{warps}}, {knob::stages, std::int64_t{stages}}});
  if (raster == Raster::heads_fastest) config.knobs.set(knob::raster, std::string(knob::heads_fastest));
  return config;
}

}  // namespace attnscope
