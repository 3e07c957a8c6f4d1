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

bool is_unary(Expression::Op op) {
  using Op = Expression::Op;
  return op == Op::negative || op == Op::invert || op == Op::square_root;
}

}  // namespace

/// Recursive descent, one level of precedence a row of `levels`.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) { result_.text_ = text; }

  Result<Expression, Message> parse() {
    choice();
    if (error_.empty() && at_ < text_.size()) fail(make_message("'{}' does not belong there", text_.substr(at_, 1)));
    if (error_.empty()) return std::move(result_);
    return Failure{make_message("'{}', character {}: {}", std::string(text_), error_at_ + 1, error_)};
  }

 private:
  using Op = Expression::Op;
  struct Operator {
    std::string_view sign;
    Op op;
    bool swapped = false;  ///< a > b is b < a
  };
  /// A statement is somebody's file: brackets within brackets end here.
  static constexpr int deepest = 64;
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
  void need(std::string_view sign) {
    if (!take(sign)) fail(make_message("'{}' is missing", sign));
  }
  void add(Op op, std::int64_t value = 0) {
    if (result_.nodes_.size() >= longest) fail("it is too long");
    result_.nodes_.push_back({op, value});
  }

  void choice() {
    if (++depth_ > deepest) fail("it is too long");
    if (error_.empty()) {
      binary(0);
      if (take("?")) {
        choice();
        need(":");
        choice();
        add(Op::choose);
      }
    }
    --depth_;
  }

  /// The operator of this level that comes next; a longer sign goes before its beginning.
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

  void binary(std::size_t level) {
    constexpr std::size_t of_operands = 5;
    if (level == of_operands) return operand();
    binary(level + 1);
    while (error_.empty()) {
      const std::size_t before = result_.nodes_.size();
      const std::optional<Operator> op = next_operator(level);
      if (!op) return;
      binary(level + 1);
      if (op->swapped) {
        std::rotate(result_.nodes_.begin() + static_cast<std::ptrdiff_t>(first_of(before)),
                    result_.nodes_.begin() + static_cast<std::ptrdiff_t>(before), result_.nodes_.end());
      }
      add(op->op);
    }
  }

  /// Where the operand that ends before `end` begins.
  [[nodiscard]] std::size_t first_of(std::size_t end) const {
    std::size_t missing = 1;
    while (missing > 0 && end > 0) missing += operands(result_.nodes_[--end].op) - 1;
    return end;
  }
  static std::size_t operands(Op op) {
    if (op == Op::number || op == Op::fraction || op == Op::name) return 0;
    if (is_unary(op)) return 1;
    return op == Op::choose ? 3 : 2;
  }

  void operand() {
    if (take("-")) return prefixed(Op::negative);
    if (take("!")) return prefixed(Op::invert);
    if (take("(")) {
      choice();
      return need(")");
    }
    skip_blanks();
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') return number();
    const std::size_t begin = at_;
    const auto of_a_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (at_ < text_.size() && of_a_name(text_[at_])) ++at_;
    if (at_ == begin) return fail("a number, a name or '(' is missing");
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (take("(")) return call(name);
    auto known = std::ranges::find(result_.names_, name);
    if (known == result_.names_.end()) known = result_.names_.emplace(known, name);
    add(Op::name, known - result_.names_.begin());
  }

  void number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    Expression::Node node;
    const auto whole = std::from_chars(begin, end, node.value);
    const auto real = std::from_chars(begin, end, node.real, std::chars_format::fixed);
    if (whole.ec != std::errc() || real.ec != std::errc())
      return fail("it divides by zero, or a number is no whole one or too large");
    if (real.ptr != whole.ptr) node.op = Op::fraction;
    at_ = static_cast<std::size_t>(real.ptr - text_.data());
    add(node.op, node.value);
    result_.nodes_.back().real = node.real;
  }

  void prefixed(Op op) {
    if (++depth_ > deepest) return fail("it is too long");
    operand();
    --depth_;
    add(op);
  }

  void call(std::string_view name) {
    static const std::array<std::pair<std::string_view, Op>, 4> functions{
        {{"min", Op::least}, {"max", Op::most}, {"ceil_div", Op::ceil_divided}, {"sqrt", Op::square_root}}};
    const auto* const found = std::ranges::find(functions, name, &std::pair<std::string_view, Op>::first);
    if (found == functions.end())
      return fail(make_message("there is no function '{}'; known are min, max, ceil_div, sqrt", name));
    choice();
    if (operands(found->second) == 2) {
      need(",");
      choice();
    }
    need(")");
    add(found->second);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t error_at_ = 0;
  int depth_ = 0;
  Message error_;
  Expression result_;
};

namespace {

/// Nothing where the result is no number of the type.
template <class T>
std::optional<T> of_two(bool (*overflows)(T, T, T*), T a, T b) {
  T result{};
  if (overflows(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> divided(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
  return a / b;
}

std::optional<std::int64_t> times(std::int64_t a, std::int64_t b) {
  return of_two<std::int64_t>([](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); }, a, b);
}
std::optional<std::int64_t> plus(std::int64_t a, std::int64_t b) {
  return of_two<std::int64_t>([](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); }, a, b);
}
std::optional<std::int64_t> minus(std::int64_t a, std::int64_t b) {
  return of_two<std::int64_t>([](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); }, a, b);
}
std::optional<std::int64_t> remainder(std::int64_t a, std::int64_t b) {
  if (!divided(a, b)) return std::nullopt;
  return a % b;
}
std::optional<std::int64_t> ceil_divided(std::int64_t a, std::int64_t b) {
  const auto whole = divided(a, b);
  if (!whole) return std::nullopt;
  return *whole + ((a % b != 0 && (a % b > 0) == (b > 0)) ? 1 : 0);
}
std::optional<std::int64_t> square_root(std::int64_t a) {
  if (a < 0) return std::nullopt;
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(a)));
  while (root > 0 && root > a / root) --root;
  while (root + 1 <= a / (root + 1)) ++root;
  return root;
}

std::optional<double> times(double a, double b) {
  return a * b;
}
std::optional<double> plus(double a, double b) {
  return a + b;
}
std::optional<double> minus(double a, double b) {
  return a - b;
}
std::optional<double> divided(double a, double b) {
  return a / b;
}
std::optional<double> remainder(double a, double b) {
  return std::fmod(a, b);
}
std::optional<double> ceil_divided(double a, double b) {
  return std::ceil(a / b);
}
std::optional<double> square_root(double a) {
  return std::sqrt(a);
}

/// `a` is 0 where there is one operand.
template <class T>
std::optional<T> result_of(Expression::Op op, T a, T b) {
  using Op = Expression::Op;
  switch (op) {
    case Op::negative:
      return minus(a, b);
    case Op::invert:
      return T(b == T{0});
    case Op::square_root:
      return square_root(b);
    case Op::times:
      return times(a, b);
    case Op::over:
      return divided(a, b);
    case Op::remainder:
      return remainder(a, b);
    case Op::plus:
      return plus(a, b);
    case Op::minus:
      return minus(a, b);
    case Op::less:
      return T(a < b);
    case Op::at_most:
      return T(a <= b);
    case Op::equal:
      return T(a == b);
    case Op::unequal:
      return T(a != b);
    case Op::both:
      return T(a != T{0} && b != T{0});
    case Op::either:
      return T(a != T{0} || b != T{0});
    case Op::least:
      return std::min(a, b);
    case Op::most:
      return std::max(a, b);
    case Op::ceil_divided:
      return ceil_divided(a, b);
    default:
      return std::nullopt;
  }
}

}  // namespace

template <class T>
Result<T, Message> Expression::evaluate(const Variables& variables) const {
  const auto no_value = [&](Message why) { return Failure{make_message("'{}' has no value: {}", text_, why)}; };
  // What has no value is an error only where it is asked for: of a choice one side is, of && and || perhaps the left.
  std::vector<std::optional<T>> stack;
  const auto pop = [&] {
    const std::optional<T> top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Node& node : nodes_) {
    std::optional<T> value;
    if (node.op == Op::number) {
      value = static_cast<T>(node.value);
    } else if (node.op == Op::fraction) {
      if constexpr (std::is_floating_point_v<T>) value = node.real;
    } else if (node.op == Op::name) {
      const std::string& name = names_[static_cast<std::size_t>(node.value)];
      const auto found = variables.find(name);
      if (found == variables.end()) return no_value(make_message("nothing is known of '{}'", name));
      value = static_cast<T>(found->second);
    } else if (node.op == Op::choose) {
      const std::optional<T> otherwise = pop();
      const std::optional<T> then = pop();
      if (const std::optional<T> chosen = pop()) value = *chosen != T{0} ? then : otherwise;
    } else {
      const std::optional<T> last = pop();
      const std::optional<T> first = is_unary(node.op) ? T{0} : pop();
      const bool decided =
          first && ((node.op == Op::both && *first == T{0}) || (node.op == Op::either && *first != T{0}));
      if (decided) {
        value = T(node.op == Op::either);
      } else if (first && last) {
        value = result_of(node.op, *first, *last);
      }
    }
    if (value && !std::isfinite(static_cast<double>(*value))) value.reset();
    stack.push_back(value);
  }
  if (!stack.back()) {
    const bool point = std::is_integral_v<T> && std::ranges::find(nodes_, Op::fraction, &Node::op) != nodes_.end();
    return no_value(point ? "a number with a point is for a float argument"
                          : "it divides by zero, or a number is no whole one or too large");
  }
  return *stack.back();
}

Result<Expression, Message> Expression::parse(std::string_view text) {
  return ExpressionParser(text).parse();
}

Result<std::int64_t, Message> Expression::integer(const Variables& variables) const {
  return evaluate<std::int64_t>(variables);
}

Result<double, Message> Expression::real(const Variables& variables) const {
  return evaluate<double>(variables);
}

std::int64_t Expression::within(const Variables& variables, std::int64_t least, std::int64_t most) const {
  const auto value = integer(variables);
  if (!value) throw value.error();
  if (*value < least || *value > most) {
    throw make_message("'{}' is {}, and must be {} to {}", text_, *value, least, most);
  }
  return *value;
}

}  // namespace attnscope::user
