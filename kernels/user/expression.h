// SPDX-License-Identifier: Apache-2.0
// Arithmetic on a problem's numbers, as a user's statement writes it: "ceil_div(n_q, br)". It is parsed and evaluated,
// never executed. From weak to strong: a ? b : c; ||; &&; == != < <= > >=; + -; * / %; - !; min(a, b), max(a, b),
// ceil_div(a, b), sqrt(a), parentheses. Integers have 64 bits, `/` leaves out what remains, and a number with a point
// has no value; as real numbers (`real()`) `/` divides, and sqrt() is exact.
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

/// What names stand for.
using Variables = std::map<std::string, std::int64_t, std::less<>>;

class Expression {
 public:
  /// The error says what is wrong and at which character. Names are looked up only when it is evaluated: names() has
  /// them.
  [[nodiscard]] static Result<Expression, Message> parse(std::string_view text);

  /// In the order of their first appearance.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The error names what has no value: a division by zero, a number beyond 64 bits, an unknown name.
  [[nodiscard]] Result<std::int64_t, Message> integer(const Variables&) const;
  [[nodiscard]] Result<double, Message> real(const Variables&) const;
  /// Throws Message, also where the integer is not within these bounds.
  [[nodiscard]] std::int64_t within(const Variables&, std::int64_t least, std::int64_t most) const;

 private:
  friend class ExpressionParser;
  enum class Op : std::uint8_t {
    number,
    fraction,  ///< with a point
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
    ceil_divided,
    choose,
  };
  struct Node {
    Op op = Op::number;
    std::array<std::size_t, 3> operands{};  ///< indices of nodes
    std::int64_t value = 0;                 ///< a whole number, or the index of a name
    double real = 0;                        ///< a number
  };
  template <class T>
  [[nodiscard]] Result<T, Message> evaluate(const Variables&) const;
  /// Returns nothing for an undefined result. Pre: all names are known.
  template <class T>
  [[nodiscard]] std::optional<T> value_of(std::size_t node, const Variables&) const;
  template <class T>
  [[nodiscard]] static std::optional<T> result_of(Op, T a, T b);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Node> nodes_;  ///< the last one is the whole
};

}  // namespace attnscope::user
