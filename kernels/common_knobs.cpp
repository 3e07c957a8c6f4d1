// SPDX-License-Identifier: Apache-2.0
#include "kernels/common_knobs.h"

#include <string>

#include "messages/knob.h"

namespace attnscope {
const Knob& raster_knob() {
  static const Knob stated{.name = std::string(knob::raster),
                           .label = msg::knob::raster{},
                           .meaning = msg::knob::raster_meaning{},
                           .words = {"q_fastest", std::string(knob::heads_fastest)}};
  return stated;
}

const Knob& splits_knob() {
  static const Knob stated{.name = std::string(knob::splits),
                           .label = msg::knob::splits{},
                           .meaning = msg::knob::splits_meaning{},
                           .largest = 4096,
                           .separate_curves = true};
  return stated;
}

const Knob& warps_knob() {
  static const Knob stated{.name = std::string(knob::warps),
                           .label = msg::knob::warps{},
                           .meaning = msg::knob::warps_meaning{},
                           .largest = 64,
                           .depends_on_tile = true};
  return stated;
}

const Knob& stages_knob() {
  static const Knob stated{.name = std::string(knob::stages),
                           .label = msg::knob::stages{},
                           .meaning = msg::knob::stages_meaning{},
                           .largest = 64};
  return stated;
}

const Knob& rotation_knob() {
  static const Knob stated{.name = std::string(knob::rotation),
                           .label = msg::knob::rotation{},
                           .meaning = msg::knob::rotation_meaning{},
                           .words = {"none", std::string(knob::hadamard)}};
  return stated;
}

const Knob& quantising_knob() {
  static const Knob stated{.name = std::string(knob::quantising),
                           .label = msg::knob::quantising{},
                           .meaning = msg::knob::quantization_meaning{},
                           .words = {"before", std::string(knob::measured)}};
  return stated;
}

Raster raster_of(const Config& config) {
  return config.knobs.named_value(knob::raster) == knob::heads_fastest ? Raster::heads_fastest : Raster::q_fastest;
}

int numeric_knob(const Config& config, std::string_view name) {
  return static_cast<int>(config.knobs.number(name));
}

}  // namespace attnscope
