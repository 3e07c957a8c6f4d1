// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/reference.h"

namespace attnscope {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Distance between adjacent values of the type in the binade of `value`; 0 at 0, which is exact.
double spacing_at(DType dtype, double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const DTypeTrait& trait = dtype_trait(dtype);
  return std::ldexp(1.0, std::max(std::ilogb(value), trait.min_exponent) - trait.fraction_bits);
}

/// Checks tensors one by one and keeps the result nearest to its bound.
class OutputChecker {
 public:
  explicit OutputChecker(const Reference& reference) : reference_(reference) {}

  /// `must_be_zero(row)`: true if the reference has no pairs for this row or key.
  template <class IsEmpty>
  void check_tensor(std::string_view name, const ReferenceTensor& exact, const std::vector<float>& values,
                    const std::vector<RowId>& places, double allowance, const IsEmpty& must_be_zero) {
    if (values.empty()) return;
    checked_ = true;
    if (values.size() != exact.exact.size()) {
      fail(make_reason("oracle.elements", "the output has {} elements of {}, the reference has {}.", values.size(),
                       name, exact.exact.size()));
      keep({.tensor = std::string(name), .max_abs_error = unbounded, .bound = 0});
      return;
    }
    const auto d = static_cast<std::size_t>(reference_.d);
    CheckResult found{.tensor = std::string(name), .bound = error_bound(reference_.dtype, exact, allowance)};
    double squares = 0;
    std::size_t worst = 0;
    const bool of_rows = &places == &reference_.rows;
    for (std::size_t e = 0; e < values.size(); ++e) {
      const auto value = static_cast<double>(values[e]);
      const double difference = std::abs(value - exact.exact[e]);
      const double error = std::isfinite(value) ? difference : unbounded;
      squares += error * error;
      if (error > found.max_abs_error) {
        found.max_abs_error = error;
        worst = e;
      }
      if (value != 0 && must_be_zero(e / d)) {
        fail(of_rows ? not_zero_row(name, value, places[e / d]) : not_zero_key(name, value, places[e / d]));
      }
    }
    found.rms_error = std::sqrt(squares / static_cast<double>(values.size()));
    if (!(found.max_abs_error <= found.bound)) {
      const std::string value = fmt::format("{:.6g}", values[worst]);
      const std::string expected = fmt::format("{:.6g}", exact.exact[worst]);
      const std::string error = fmt::format("{:.3g}", found.max_abs_error);
      const std::string bound = fmt::format("{:.3g}", found.bound);
      const auto [instance, at] = places[worst / d];
      const std::size_t column = worst % d;
      if (of_rows) {
        fail(make_reason("oracle.row", "{} is {} instead of {} at instance {} row {} column {}: error {}, bound {}.",
                         name, value, expected, instance, at, column, error, bound));
      } else {
        fail(make_reason("oracle.key", "{} is {} instead of {} at instance {} key {} column {}: error {}, bound {}.",
                         name, value, expected, instance, at, column, error, bound));
      }
    }
    keep(std::move(found));
  }

  void check_lse(const std::vector<float>& lse) {
    if (lse.empty()) return;
    checked_ = true;
    if (lse.size() != reference_.lse.size()) {
      fail(make_reason("oracle.elements", "the output has {} elements of LSE, the reference has {}.", lse.size(),
                       reference_.lse.size()));
      return;
    }
    for (std::size_t row = 0; row < lse.size(); ++row) {
      const double exact = reference_.lse[row];
      const auto value = static_cast<double>(lse[row]);
      // the difference of equal infinities is NaN
      const double difference = value == exact ? 0 : std::abs(value - exact);
      const double error = std::isfinite(difference) ? difference : unbounded;
      max_lse_error_ = std::max(max_lse_error_, error);
      const double tolerance = std::isfinite(exact)
                                   ? reference_.lse_tolerance * std::max(1.0, std::abs(exact)) + reference_.lse_rounding
                                   : 0;
      if (error > tolerance) {
        fail(make_reason("oracle.lse", "LSE is {} instead of {:.7g} at instance {} row {}.", lse[row], exact,
                         reference_.rows[row].instance, reference_.rows[row].row));
      }
    }
  }

  [[nodiscard]] CheckResult result() {
    if (!checked_) fail(make_reason("oracle.no_output", "no output to check."));
    CheckResult result = std::move(worst_);
    result.max_lse_error = max_lse_error_;
    result.reason = std::move(reason_);
    result.pass = result.reason.empty();
    return result;
  }

 private:
  static Message not_zero_row(std::string_view name, double value, const RowId& place) {
    return make_reason("oracle.row_sees_no_key", "{} is {} instead of 0 at instance {} row {}, which sees no key.",
                       name, value, place.instance, place.row);
  }
  static Message not_zero_key(std::string_view name, double value, const RowId& place) {
    return make_reason("oracle.key_is_not_seen", "{} is {} instead of 0 at instance {} key {}, which no query sees.",
                       name, value, place.instance, place.row);
  }

  void fail(Message reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }
  void keep(CheckResult found) {
    const auto share = [](const CheckResult& r) {
      return r.max_abs_error > 0 ? (r.bound > 0 ? r.max_abs_error / r.bound : unbounded) : 0;
    };
    if (worst_.tensor.empty() || share(found) > share(worst_)) worst_ = std::move(found);
  }

  const Reference& reference_;
  CheckResult worst_;
  double max_lse_error_ = 0;
  Message reason_;
  bool checked_ = false;
};

}  // namespace

double error_bound(DType dtype, const ReferenceTensor& tensor, double allowance) {
  double naive_error = 0;
  double rounding_error = 0;
  for (std::size_t e = 0; e < tensor.exact.size(); ++e) {
    const double exact = tensor.exact[e];
    naive_error = std::max(naive_error, std::abs(static_cast<double>(tensor.naive[e]) - exact));
    const float rounded = round_to(dtype, static_cast<float>(exact));
    const float there = round_to(dtype, rounded + 0.3F);
    const float back = round_to(dtype, there - 0.3F);
    rounding_error =
        std::max({rounding_error, std::abs(static_cast<double>(back) - exact), spacing_at(dtype, exact) / 2});
  }
  return allowance * naive_error + 2 * rounding_error;
}

double rms_error(const Reference& reference, const std::vector<float>& o) {
  double squares = 0;
  for (std::size_t e = 0; e < o.size(); ++e) {
    const double error = static_cast<double>(o[e]) - reference.o.exact[e];
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(o.size()));
}

CheckResult check(const Reference& reference, const KernelOutput& output) {
  OutputChecker checker(reference);
  const auto empty_row = [&](std::size_t row) { return std::isinf(reference.lse[row]); };
  const auto unseen = [&](std::size_t key) { return reference.seen[key] == 0; };
  checker.check_tensor("O", reference.o, output.o, reference.rows, output_allowance(reference.dtype), empty_row);
  checker.check_lse(output.lse);
  checker.check_tensor("dQ", reference.dq, output.dq, reference.rows, gradient_allowance(reference.dtype), empty_row);
  checker.check_tensor("dK", reference.dk, output.dk, reference.keys, gradient_allowance(reference.dtype), unseen);
  checker.check_tensor("dV", reference.dv, output.dv, reference.keys, gradient_allowance(reference.dtype), unseen);
  return checker.result();
}

}  // namespace attnscope
