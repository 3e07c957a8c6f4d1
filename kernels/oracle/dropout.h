// SPDX-License-Identifier: Apache-2.0
// Dropout's random bytes as the judge draws them: Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1,
// 2, 3, SC11), written apart from the kernels'.
#pragma once

#include <cstdint>

namespace attnscope {

/// Of entry (row, key) of P of query head `instance`, 0 to 255: it is kept where that is below dropout_keep().
[[nodiscard]] int dropout_draw(std::int64_t instance, std::int64_t row, std::int64_t key);

}  // namespace attnscope
