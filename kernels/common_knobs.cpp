// SPDX-License-Identifier: Apache-2.0
#include "kernels/common_knobs.h"

#include <string>

#include "messages/knob.h"

namespace attnscope {

const Knob& raster_knob() {
  static const Knob stated{.name = std::string(knob::raster),
                           .label = say::knob::raster{},
                           .meaning = say::knob::raster_meaning{},
                           .words = {"q_fastest", std::string(knob::heads_fastest)}};
  return stated;
}

const Knob& splits_knob() {
  static const Knob stated{.name = std::string(knob::splits),
                           .label = say::knob::splits{},
                           .meaning = say::knob::splits_meaning{},
                           .largest = 4096};
  return stated;
}

const Knob& warps_knob() {
  static const Knob stated{.name = std::string(knob::warps),
                           .label = say::knob::warps{},
                           .meaning = say::knob::warps_meaning{},
                           .largest = 64,
                           .with_tile = true};
  return stated;
}

const Knob& stages_knob() {
  static const Knob stated{.name = std::string(knob::stages),
                           .label = say::knob::stages{},
                           .meaning = say::knob::stages_meaning{},
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
