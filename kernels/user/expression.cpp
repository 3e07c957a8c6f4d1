// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace attnscope::user {
namespace {

constexpr const char* undefined_value = "division by zero, overflow or not an integer";

}  // namespace

/// Recursive descent parser with one precedence level per row of `levels`.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) { result_.text_ = text; }

  Result<Expression, Message> parse() {
    (void)choice();
    if (error_.empty() && at_ < text_.size()) fail(make_message("unexpected '{}'", text_.substr(at_, 1)));
    if (error_.empty()) return std::move(result_);
    return Failure{make_message("'{}', character {}: {}", std::string(text_), error_at_ + 1, error_)};
  }

 private:
  using Op = Expression::Op;
  struct Operator {
    std::string_view sign;
    Op op;
    bool swapped = false;  ///< parses a > b as b < a
  };
  /// Manifests are untrusted: limits nesting and length.
  static constexpr int max_depth = 64;
  static constexpr std::size_t longest = 1000;

  void fail(Message why) {
    if (!error_.empty()) return;
    error_ = std::move(why);
    error_at_ = at_;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) fail(make_message("'{}' is missing", sign));
  }
  /// Appends a node and returns its index.
  std::size_t add(Op op, std::array<std::size_t, 3> operands = {}, std::int64_t value = 0, double real = 0) {
    if (result_.nodes_.size() >= longest) fail("too long or nested too deeply");
    result_.nodes_.push_back({op, operands, value, real});
    return result_.nodes_.size() - 1;
  }

  std::size_t choice() {
    if (++depth_ > max_depth) fail("too long or nested too deeply");
    std::size_t first = 0;
    if (error_.empty()) {
      first = binary(0);
      if (take("?")) {
        const std::size_t then = choice();
        expect(":");
        first = add(Op::choose, {first, then, choice()});
      }
    }
    --depth_;
    return first;
  }

  /// Takes the next operator of this level; longer signs are tried first.
  std::optional<Operator> next_operator(std::size_t level) {
    static const std::array<std::vector<Operator>, 5> levels{{
        {{"||", Op::either}},
        {{"&&", Op::both}},
        {{"==", Op::equal},
         {"!=", Op::unequal},
         {"<=", Op::at_most},
         {">=", Op::at_most, true},
         {"<", Op::less},
         {">", Op::less, true}},
        {{"+", Op::plus}, {"-", Op::minus}},
        {{"*", Op::times}, {"/", Op::over}, {"%", Op::remainder}},
    }};
    if (level >= levels.size()) return std::nullopt;
    for (const Operator& each : levels.at(level)) {
      if (take(each.sign)) return each;
    }
    return std::nullopt;
  }

  std::size_t binary(std::size_t level) {
    constexpr std::size_t operand_level = 5;
    if (level == operand_level) return operand();
    std::size_t first = binary(level + 1);
    while (error_.empty()) {
      const std::optional<Operator> op = next_operator(level);
      if (!op) break;
      std::size_t second = binary(level + 1);
      if (op->swapped) std::swap(first, second);
      first = add(op->op, {first, second});
    }
    return first;
  }

  std::size_t operand() {
    if (take("-")) return unary(Op::minus);
    if (take("!")) return unary(Op::equal);
    if (take("(")) {
      const std::size_t inner = choice();
      expect(")");
      return inner;
    }
    skip_blanks();
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') return number();
    const std::size_t begin = at_;
    const auto is_identifier_char = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (at_ < text_.size() && is_identifier_char(text_[at_])) ++at_;
    if (at_ == begin) {
      fail("expected a number, a name or '('");
      return 0;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (take("(")) return call(name);
    auto known = std::ranges::find(result_.names_, name);
    if (known == result_.names_.end()) known = result_.names_.emplace(known, name);
    return add(Op::name, {}, known - result_.names_.begin());
  }
  std::size_t number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t value = 0;
    double real = 0;
    const auto whole = std::from_chars(begin, end, value);
    const auto all = std::from_chars(begin, end, real, std::chars_format::fixed);
    if (whole.ec != std::errc() || all.ec != std::errc()) fail(undefined_value);
    at_ = static_cast<std::size_t>(all.ptr - text_.data());
    return add(all.ptr != whole.ptr ? Op::fraction : Op::number, {}, value, real);
  }
  /// Parses -a as 0 - a, and !a as 0 == a.
  std::size_t unary(Op op) {
    if (++depth_ > max_depth) {
      fail("too long or nested too deeply");
      return 0;
    }
    const std::size_t zero = add(Op::number);
    const std::size_t inner = operand();
    --depth_;
    return add(op, {zero, inner});
  }
  std::size_t call(std::string_view name) {
    static const std::array<std::pair<std::string_view, Op>, 4> functions{
        {{"min", Op::least}, {"max", Op::most}, {"ceil_div", Op::ceil_division}, {"sqrt", Op::square_root}}};
    const auto* const found = std::ranges::find(functions, name, &std::pair<std::string_view, Op>::first);
    if (found == functions.end()) {
      fail(make_message("unknown function '{}'; available: min, max, ceil_div, sqrt", name));
      return 0;
    }
    const std::size_t first = choice();
    std::size_t second = first;
    if (found->second != Op::square_root) {
      expect(",");
      second = choice();
    }
    expect(")");
    return add(found->second, {first, second});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t error_at_ = 0;
  int depth_ = 0;
  Message error_;
  Expression result_;
};

/// Returns nothing if the type cannot represent the result. A square root ignores `b`.
template <class T>
std::optional<T> Expression::apply_operator(Op op, T a, T b) {
  T result{};
  const bool divides = b != T{0} && !(std::is_integral_v<T> && b == T{-1} && a == std::numeric_limits<T>::min());
  switch (op) {
    case Op::less:
      return T(a < b);
    case Op::at_most:
      return T(a <= b);
    case Op::equal:
      return T(a == b);
    case Op::unequal:
      return T(a != b);
    case Op::both:
    case Op::either:
      return T(b != T{0});  // a decisive first operand was handled by the caller
    case Op::least:
      return std::min(a, b);
    case Op::most:
      return std::max(a, b);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    const auto exact = [&](bool overflows) { return overflows ? std::nullopt : std::optional(result); };
    if (op == Op::times) return exact(__builtin_mul_overflow(a, b, &result));
    if (op == Op::plus) return exact(__builtin_add_overflow(a, b, &result));
    if (op == Op::minus) return exact(__builtin_sub_overflow(a, b, &result));
    if (op == Op::square_root) {
      if (a < 0) return std::nullopt;
      result = static_cast<T>(std::sqrt(static_cast<double>(a)));
      while (result > 0 && result > a / result) --result;
      while (result + 1 <= a / (result + 1)) ++result;
      return result;
    }
    if (!divides) return std::nullopt;
    if (op == Op::over) return a / b;
    if (op == Op::remainder) return a % b;
    return a / b + (a % b != 0 && (a % b > 0) == (b > 0) ? 1 : 0);
  } else {
    switch (op) {
      case Op::times:
        return a * b;
      case Op::plus:
        return a + b;
      case Op::minus:
        return a - b;
      case Op::square_root:
        return std::sqrt(a);
      case Op::over:
        return a / b;
      case Op::remainder:
        return std::fmod(a, b);
      default:
        return std::ceil(a / b);
    }
  }
}

template <class T>
std::optional<T> Expression::evaluate_node(std::size_t at, const Variables& variables) const {
  const Node& node = nodes_[at];
  if (node.op == Op::number) return static_cast<T>(node.value);
  if (node.op == Op::fraction) return std::is_integral_v<T> ? std::nullopt : std::optional(static_cast<T>(node.real));
  if (node.op == Op::name) {
    return static_cast<T>(variables.find(names_[static_cast<std::size_t>(node.value)])->second);
  }
  const auto operand = [&](std::size_t nth) { return evaluate_node<T>(node.operands.at(nth), variables); };
  // Operands are evaluated lazily: one branch of a choice, and the right side of && and || only if the left is
  // undecided.
  const std::optional<T> first = operand(0);
  if (!first) return std::nullopt;
  if (node.op == Op::choose) return operand(*first != T{0} ? 1 : 2);
  if (node.op == Op::both && *first == T{0}) return T{0};
  if (node.op == Op::either && *first != T{0}) return T{1};
  const std::optional<T> second = operand(1);
  const std::optional<T> result = second ? apply_operator(node.op, *first, *second) : std::nullopt;
  return result && std::isfinite(static_cast<double>(*result)) ? result : std::nullopt;
}

template <class T>
Result<T, Message> Expression::evaluate(const Variables& variables) const {
  const auto no_value = [&](Message why) { return Failure{make_message("'{}' has no value: {}", text_, why)}; };
  for (const std::string& name : names_) {
    if (!variables.contains(name)) return no_value(make_message("unknown name '{}'", name));
  }
  if (const std::optional<T> value = evaluate_node<T>(nodes_.size() - 1, variables)) return *value;
  const bool point = std::is_integral_v<T> && std::ranges::find(nodes_, Op::fraction, &Node::op) != nodes_.end();
  return no_value(point ? "a number with a decimal point requires a float argument" : undefined_value);
}

Result<Expression, Message> Expression::parse(std::string_view text) {
  return ExpressionParser(text).parse();
}

Result<std::int64_t, Message> Expression::evaluate_integer(const Variables& variables) const {
  return evaluate<std::int64_t>(variables);
}

Result<double, Message> Expression::evaluate_real(const Variables& variables) const {
  return evaluate<double>(variables);
}

std::int64_t Expression::evaluate_within(const Variables& variables, std::int64_t least, std::int64_t most) const {
  const auto value = evaluate_integer(variables);
  if (!value) throw value.error();
  if (*value < least || *value > most) {
    throw make_message("'{}' is {}; it must be {} to {}", text_, *value, least, most);
  }
  return *value;
}

}  // namespace attnscope::user
