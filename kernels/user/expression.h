// SPDX-License-Identifier: Apache-2.0
// Arithmetic expressions in a user's manifest: "ceil_div(n_q, br)". Parsed and evaluated, never executed. Precedence
// from low to high: a ? b : c; ||; &&; == != < <= > >=; + -; * / %; - !; min(a, b), max(a, b), ceil_div(a, b), sqrt(a),
// parentheses. Integers have 64 bits, `/` truncates, and numbers with a decimal point are errors. Evaluated as real
// numbers, `/` is exact division and sqrt() is not truncated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

using Variables = std::map<std::string, std::int64_t, std::less<>>;

class Expression {
 public:
  /// The error gives the cause and the character position. Names are resolved at evaluation; names() returns them.
  [[nodiscard]] static Result<Expression, Message> parse(std::string_view text);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::string& text() const { return text_; }

  /// Fails on a division by zero, an overflow of 64 bits or an unknown name.
  [[nodiscard]] Result<std::int64_t, Message> evaluate_integer(const Variables&) const;
  [[nodiscard]] Result<double, Message> evaluate_real(const Variables&) const;
  /// Throws Message if there is no value or if it is out of these bounds.
  [[nodiscard]] std::int64_t evaluate_within(const Variables&, std::int64_t least, std::int64_t most) const;

 private:
  friend class ExpressionParser;
  enum class Op : std::uint8_t {
    number,
    fraction,  ///< number with a decimal point
    name,
    square_root,
    times,
    over,
    remainder,
    plus,
    minus,
    less,
    at_most,
    equal,
    unequal,
    both,
    either,
    least,
    most,
    ceil_division,
    choose,
  };
  struct Node {
    Op op = Op::number;
    std::array<std::size_t, 3> operands{};
    std::int64_t value = 0;  ///< integer, or index of a name
    double real = 0;         ///< number with a decimal point
  };
  template <class T>
  [[nodiscard]] Result<T, Message> evaluate(const Variables&) const;
  /// Returns nothing if the result is undefined. Pre: all names are known.
  template <class T>
  [[nodiscard]] std::optional<T> evaluate_node(std::size_t node, const Variables&) const;
  template <class T>
  [[nodiscard]] static std::optional<T> apply_operator(Op, T a, T b);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Node> nodes_;  ///< the last node is the root
};

}  // namespace attnscope::user
