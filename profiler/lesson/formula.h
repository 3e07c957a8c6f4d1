// SPDX-License-Identifier: Apache-2.0
// Formulas of the lesson's texts, in a small subset of TeX: letters, numbers, operators, ^{} and _{}, \frac{}{},
// \sqrt{}, \text{} and the words of `symbols` (formula.cpp).
#pragma once

#include <string>
#include <string_view>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::analysis::lesson {

/// A whole <math> element; `display` is a formula by itself on its line. Everything in it is escaped. The error says
/// what is wrong, and with which part.
[[nodiscard]] Result<std::string, Message> mathml_of(std::string_view formula, bool display);

}  // namespace attnscope::analysis::lesson
