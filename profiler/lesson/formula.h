// SPDX-License-Identifier: Apache-2.0
// Converts the formulas of lesson texts to MathML. Subset of TeX: letters, numbers, operators, ^{} and _{}, \frac{}{},
// \sqrt{}, \text{} and the commands in `symbols` (formula.cpp).
#pragma once

#include <string>
#include <string_view>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::analysis::lesson {

/// Returns a <math> element with escaped contents. `display`: block formula. The error names the part that is invalid.
[[nodiscard]] Result<std::string, Message> mathml_of(std::string_view formula, bool display);

}  // namespace attnscope::analysis::lesson
