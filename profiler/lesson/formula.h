// SPDX-License-Identifier: Apache-2.0
// Formulas of the lesson's texts, in a small subset of TeX: letters, numbers, operators, ^{} and _{}, \frac{}{},
// \sqrt{}, \sum, \text{}, \tilde{}, and the words of known_symbols(). Drawn as MathML in a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::analysis::lesson {

struct FormulaNode {
  enum class Kind {
    row,       ///< children one after the other
    word,      ///< a letter or name: `text`
    number,    ///< `text`
    symbol,    ///< an operator or parenthesis: `text`
    plain,     ///< upright words: `text`
    script,    ///< children: base, below, above (either may be an empty row)
    fraction,  ///< children: above, below
    root,      ///< one child
    accent     ///< one child, with `text` over it
  };
  Kind kind = Kind::row;
  std::string text{};
  std::vector<FormulaNode> children{};
};

/// The error says what is wrong, and with which part.
[[nodiscard]] Result<FormulaNode, Message> parse_formula(std::string_view);
/// A whole <math> element; `display` is a formula by itself on its line. Everything in it is escaped.
[[nodiscard]] std::string to_mathml(const FormulaNode&, bool display);

}  // namespace attnscope::analysis::lesson
