// SPDX-License-Identifier: Apache-2.0
// A tile with the knobs of the built-in algorithms, for concise tests.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/common_knobs.h"

namespace attnscope {

struct Tiling {
  int br = 64;
  int bc = 64;
  Raster raster = Raster::q_fastest;
  int splits = 0;
  int warps = 0;
  int stages = 0;

  // NOLINTBEGIN(google-explicit-constructor): written where either is asked for.
  [[nodiscard]] operator TileShape() const { return {.br = br, .bc = bc}; }
  [[nodiscard]] operator Config() const {
    Config config(*this, {{knob::splits, std::int64_t{splits}},
                          {knob::warps, std::int64_t{warps}},
                          {knob::stages, std::int64_t{stages}}});
    if (raster == Raster::heads_fastest) config.knobs.set(knob::raster, std::string(knob::heads_fastest));
    return config;
  }
  // NOLINTEND(google-explicit-constructor)
};

[[nodiscard]] inline Tiling tiling_from(const Config& config) {
  return {.br = config.tile.br,
          .bc = config.tile.bc,
          .raster = raster_of(config),
          .splits = numeric_knob(config, knob::splits),
          .warps = numeric_knob(config, knob::warps),
          .stages = numeric_knob(config, knob::stages)};
}
[[nodiscard]] inline std::string describe(const Tiling& tiling) {
  return describe(Config(tiling));
}

}  // namespace attnscope
