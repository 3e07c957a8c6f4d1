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
                           .largest = 4096,
                           .beside_n = true};
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
