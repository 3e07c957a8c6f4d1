// SPDX-License-Identifier: Apache-2.0
// What a compiled kernel takes, so that a statement's arguments can be compared with it before anything is launched.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::gpu {

/// Bytes of each parameter of an entry in a cubin (its section .nv.info.ENTRY) or in PTX; nothing where the image does
/// not say it, or is none. Images are untrusted.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view image, std::string_view entry);

/// Why a launch's arguments are not what its kernel takes; empty when they are, or nothing is known.
[[nodiscard]] Message wrong_arguments(const KernelLaunch& launch, std::string_view image);

}  // namespace attnscope::gpu
