// SPDX-License-Identifier: Apache-2.0
#include "kernels/common_knobs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "messages/knob.h"

namespace attnscope {
namespace {

/// The algorithm's choice, numbers beside it, and powers of two within a factor of four.
std::vector<std::int64_t> splits_around(std::int64_t own) {
  std::vector<std::int64_t> steps{0};
  const auto add = [&](std::int64_t splits) {
    if (splits > 0 && std::ranges::find(steps, splits) == steps.end()) steps.push_back(splits);
  };
  if (own == 0) return steps;
  for (const std::int64_t splits : {own / 2, own - 1, own + 1, 2 * own}) add(splits);
  for (std::int64_t power = 1; power <= 4 * own; power *= 2) {
    if (4 * power >= own) add(power);
  }
  return steps;
}

/// One or two of the matrix instruction's 16 rows a warp.
std::vector<std::int64_t> warps_of(const TileShape& tile) {
  return {0, tile.br / 16, tile.br / 32};
}

}  // namespace

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
                           .largest = 4096,
                           .beside_n = true,
                           .around = splits_around};
  return stated;
}

const Knob& warps_knob() {
  static const Knob stated{.name = std::string(knob::warps),
                           .label = say::knob::warps{},
                           .meaning = say::knob::warps_meaning{},
                           .largest = 64,
                           .with_tile = true,
                           .variants = warps_of};
  return stated;
}

const Knob& stages_knob() {
  static const Knob stated{.name = std::string(knob::stages),
                           .label = say::knob::stages{},
                           .meaning = say::knob::stages_meaning{},
                           .largest = 64,
                           .variants = [](const TileShape&) {
                             return std::vector<std::int64_t>{0, 1, 2, 3};
                           }};
  return stated;
}

const Knob& rotation_knob() {
  static const Knob stated{.name = std::string(knob::rotation),
                           .label = say::knob::rotation{},
                           .meaning = say::knob::rotation_meaning{},
                           .words = {"none", std::string(knob::hadamard)}};
  return stated;
}

const Knob& quantising_knob() {
  static const Knob stated{.name = std::string(knob::quantising),
                           .label = say::knob::quantising{},
                           .meaning = say::knob::quantising_meaning{},
                           .words = {"before", std::string(knob::measured)}};
  return stated;
}

Raster raster_of(const Config& config) {
  return config.knobs.word(knob::raster) == knob::heads_fastest ? Raster::heads_fastest : Raster::q_fastest;
}

int knob_of(const Config& config, std::string_view name) {
  return static_cast<int>(config.knobs.number(name));
}

}  // namespace attnscope
