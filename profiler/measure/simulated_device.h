// SPDX-License-Identifier: Apache-2.0
// A GPU that is not there: the Device interface, answered by playing tile programs through an L2 model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "profiler/measure/device.h"

namespace attnscope {

/// What such a device is known by, which tells GPUs of one's own of one name and other values apart: "SIM-NVIDIA-H200".
[[nodiscard]] std::string simulated_uuid(const DeviceLimits&);

/// What `attnscope ceilings` measured of a GPU.
struct MeasuredCeilings {
  std::vector<Ceiling> ceilings{};
  std::string from{};  ///< which GPU's, and when: DeviceInfo::rates_from
};

/// Stands for the GPU with these limits. SM<->L2 bytes are exact; DRAM bytes, occupancy and time are estimates (see
/// traffic_simulation.h for the model). Every value is simulated, extrapolated where a launch is
/// too long to be played whole, or, where it is a closed form, modelled. Times are predicted with the rates that were
/// measured, as far as there are any, else by table. `unit`: which of several in one machine, from 1, each with a UUID
/// of its own; 0: the only one.
[[nodiscard]] std::unique_ptr<Device> make_simulated_device(const DeviceLimits&, const Registry&,
                                                            const MeasuredCeilings& = {}, int unit = 0);

}  // namespace attnscope
