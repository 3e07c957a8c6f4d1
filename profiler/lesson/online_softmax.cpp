// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/online_softmax.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/oracle/float16.h"

namespace attnscope::analysis::lesson {
namespace {

constexpr double nothing_seen = -std::numeric_limits<double>::infinity();

/// e^(from - to), where a row that saw nothing weighs nothing.
double shift(double from, double to) {
  return from == nothing_seen ? 0 : std::exp(from - to);
}

double to_fp16(double value) {
  return static_cast<double>(round_to(DType::fp16, static_cast<float>(value)));
}

void check(const SoftmaxRows& in, std::size_t block) {
  const bool fits = block > 0 && in.rows > 0 && in.columns > 0 && in.scores.size() == in.rows * in.columns &&
                    in.values.size() == in.columns * in.d &&
                    (in.hidden.empty() || in.hidden.size() == in.scores.size());
  if (!fits) throw std::invalid_argument("online softmax: sizes that do not fit one another");
}

/// One row through its blocks.
class RowPlayer {
 public:
  RowPlayer(const SoftmaxRows& in, std::size_t row, OnlineTrace& trace) : in_(in), row_(row), trace_(trace) {
    state_.o.assign(in.d, 0);
  }

  void play(std::size_t first, std::size_t last) {
    OnlineStep step{.row = row_, .first = first, .last = last, .before = state_};
    step.block_m = maximum(first, last);
    const double m = std::max(state_.m, step.block_m);
    step.alpha = m == nothing_seen ? 1 : shift(state_.m, m);
    step.beta = m == nothing_seen ? 0 : shift(step.block_m, m);
    const bool rises = state_.m != nothing_seen && m > state_.m;
    const bool forgets = trace_.fault == SoftmaxFault::forget_rescale;
    step.rescaled = rises && !forgets;
    double sum = 0;
    for (std::size_t j = first; j < last; ++j) {
      const double weight = weight_of(j, m);
      step.weights.push_back(weight);
      sum = rounded(sum + counted(j, m, weight));
    }
    step.block_l = step.beta > 0 ? sum / step.beta : 0;
    const double alpha = forgets && rises ? 1 : step.alpha;
    const double l = rounded(rounded(state_.l * alpha) + sum);
    add_values(step, alpha, l);
    state_.l = l;
    state_.m = m;
    step.after = state_;
    count(step, rises);
    trace_.steps.push_back(std::move(step));
  }

  [[nodiscard]] OnlineState finish() {
    if (trace_.rescaling == Rescaling::outer && in_.d > 0) ++trace_.count.divisions;
    return state_;
  }

 private:
  [[nodiscard]] bool hidden_now(std::size_t j) const { return in_.hides(row_, j); }
  [[nodiscard]] bool late_mask() const {
    return trace_.fault == SoftmaxFault::mask_after_maximum || trace_.fault == SoftmaxFault::mask_after_sum;
  }

  [[nodiscard]] double maximum(std::size_t first, std::size_t last) const {
    double m = nothing_seen;
    for (std::size_t j = first; j < last; ++j) {
      if (!hidden_now(j) || late_mask()) m = std::max(m, in_.score(row_, j));
    }
    return m;
  }

  [[nodiscard]] double weight_of(std::size_t j, double m) const {
    return hidden_now(j) || m == nothing_seen ? 0 : rounded(std::exp(in_.score(row_, j) - m));
  }
  /// What goes into l.
  [[nodiscard]] double counted(std::size_t j, double m, double weight) const {
    return trace_.fault == SoftmaxFault::mask_after_sum && hidden_now(j) ? std::exp(in_.score(row_, j) - m) : weight;
  }

  void add_values(const OnlineStep& step, double alpha, double l) {
    const bool inner = trace_.rescaling == Rescaling::inner;
    for (std::size_t c = 0; c < in_.d; ++c) {
      double added = 0;
      for (std::size_t j = step.first; j < step.last; ++j) {
        added = rounded(added + step.weights[j - step.first] * in_.values[j * in_.d + c]);
      }
      const double there = inner ? state_.o[c] * state_.l : state_.o[c];
      const double sum = rounded(rounded(there * alpha) + added);
      state_.o[c] = inner ? (l > 0 ? rounded(sum / l) : 0) : sum;
    }
  }

  void count(const OnlineStep& step, bool rises) {
    trace_.count.raised += rises ? 1 : 0;
    if (in_.d == 0) return;
    if (trace_.rescaling == Rescaling::inner) {
      ++trace_.count.divisions;
      ++trace_.count.rows_through_memory;
      trace_.count.rows_rescaled += trace_.fault == SoftmaxFault::forget_rescale ? 0 : 1;
    } else {
      trace_.count.rows_rescaled += step.rescaled ? 1 : 0;
    }
  }

  [[nodiscard]] double rounded(double value) const {
    return trace_.fault == SoftmaxFault::sum_in_fp16 ? to_fp16(value) : value;
  }

  const SoftmaxRows& in_;
  std::size_t row_;
  OnlineTrace& trace_;
  OnlineState state_;
};

/// The weights of one row in two passes; zeros for a row that sees nothing.
std::vector<double> exact_weights(const SoftmaxRows& in, std::size_t row) {
  std::vector<double> seen;
  for (std::size_t j = 0; j < in.columns; ++j) {
    if (!in.hides(row, j)) seen.push_back(in.score(row, j));
  }
  const std::vector<double> soft = safe_softmax(seen);
  std::vector<double> weights;
  std::size_t next = 0;
  for (std::size_t j = 0; j < in.columns; ++j) weights.push_back(in.hides(row, j) ? 0 : soft[next++]);
  return weights;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(a[i] - b[i]);
    // NaN is the largest error of all.
    largest = error >= 0 ? std::max(largest, error) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

}  // namespace

std::string_view to_string(SoftmaxFault fault) {
  switch (fault) {
    case SoftmaxFault::none:
      return "none";
    case SoftmaxFault::forget_rescale:
      return "forget-rescale";
    case SoftmaxFault::mask_after_maximum:
      return "mask-after-maximum";
    case SoftmaxFault::mask_after_sum:
      return "mask-after-sum";
    case SoftmaxFault::sum_in_fp16:
      return "sum-in-fp16";
  }
  return "";
}

std::vector<double> output_of(const OnlineState& state) {
  std::vector<double> o = state.o;
  for (double& value : o) value = state.l > 0 ? value / state.l : 0;
  return o;
}

SoftmaxRows rows_of(std::span<const double> q, std::span<const double> k, std::span<const double> v, std::size_t d,
                    double scale) {
  if (d == 0 || q.size() % d != 0 || k.size() % d != 0 || v.size() != k.size()) {
    throw std::invalid_argument("Q, K and V of d columns are needed, K as long as V");
  }
  SoftmaxRows in{.rows = q.size() / d, .columns = k.size() / d, .d = d, .values = {v.begin(), v.end()}};
  for (std::size_t i = 0; i < in.rows; ++i) {
    for (std::size_t j = 0; j < in.columns; ++j) {
      double dot = 0;
      for (std::size_t c = 0; c < d; ++c) dot += q[i * d + c] * k[j * d + c];
      in.scores.push_back(dot * scale);
    }
  }
  return in;
}

std::vector<double> safe_softmax(std::span<const double> scores) {
  if (scores.empty()) return {};
  const double m = *std::ranges::max_element(scores);
  std::vector<double> weights;
  double l = 0;
  for (const double s : scores) {
    weights.push_back(std::exp(s - m));
    l += weights.back();
  }
  for (double& w : weights) w /= l;
  return weights;
}

OnlineTrace play_online(const SoftmaxRows& in, std::size_t block, Rescaling rescaling, SoftmaxFault fault) {
  check(in, block);
  OnlineTrace trace{.rescaling = rescaling, .fault = fault, .block = block};
  std::vector<double> exact_of_weights;
  for (std::size_t row = 0; row < in.rows; ++row) {
    RowPlayer player(in, row, trace);
    for (std::size_t first = 0; first < in.columns; first += block) {
      player.play(first, std::min(first + block, in.columns));
    }
    const OnlineState& end = trace.ends.emplace_back(player.finish());
    for (const double value : rescaling == Rescaling::inner ? end.o : output_of(end)) trace.output.push_back(value);
    const std::vector<double> exact = exact_weights(in, row);
    for (std::size_t j = 0; j < in.columns; ++j) {
      // 0 / 0 where a fault left nothing in l: that is the answer that such a kernel gives.
      const double weight = in.hides(row, j) || end.m == nothing_seen ? 0 : std::exp(in.score(row, j) - end.m) / end.l;
      trace.weights.push_back(weight);
      exact_of_weights.push_back(exact[j]);
    }
    for (std::size_t c = 0; c < in.d; ++c) {
      double o = 0;
      for (std::size_t j = 0; j < in.columns; ++j) o += exact[j] * in.values[j * in.d + c];
      trace.exact.push_back(o);
    }
  }
  trace.largest_error = in.d > 0 ? distance(trace.output, trace.exact) : distance(trace.weights, exact_of_weights);
  return trace;
}

}  // namespace attnscope::analysis::lesson
