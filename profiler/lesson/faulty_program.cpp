// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/faulty_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace attnscope::analysis::lesson {
namespace {

constexpr std::array program{
    ProgramLine{"maximum", "m' = max(m, max(s))", "m' = max(s)", "m'"},
    ProgramLine{"carry", "c = l * exp(m - m')", "c = l", "c"},
    ProgramLine{"weights", "p = exp(s - m')", "p = exp(s - m)", "p"},
    ProgramLine{"sum", "l' = c + sum(p)", "l' = sum(p)", "l'"},
    ProgramLine{"normalise", "w = p / l'", "w = p / sum(p)", "w"},
    ProgramLine{"output", "o = o + w @ v", "o = o * c / l' + w @ v", "o"},
};

/// What the program's variables hold.
struct Variables {
  double m = -std::numeric_limits<double>::infinity();
  double l = 0;
  double m_new = 0;
  double c = 0;
  double l_new = 0;
  std::vector<double> s;
  std::vector<double> p;
  std::vector<double> w;
  std::vector<double> o;
};

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Runs one line and gives what it set.
std::vector<double> run_line(std::size_t line, bool other, Variables& x, const SoftmaxRows& in, std::size_t first) {
  const double highest = *std::ranges::max_element(x.s);
  const bool begun = std::isfinite(x.m);
  switch (line) {
    case 0:
      x.m_new = other ? highest : std::max(x.m, highest);
      return {x.m_new};
    case 1:
      x.c = other ? x.l : (begun ? x.l * std::exp(x.m - x.m_new) : 0);
      return {x.c};
    case 2:
      x.p.clear();
      for (const double s : x.s) x.p.push_back(std::exp(s - (other && begun ? x.m : x.m_new)));
      return x.p;
    case 3:
      x.l_new = (other ? 0 : x.c) + total(x.p);
      return {x.l_new};
    case 4:
      x.w = x.p;
      for (double& w : x.w) w /= other ? total(x.p) : x.l_new;
      return x.w;
    default:
      for (std::size_t col = 0; col < in.d; ++col) {
        if (other) x.o[col] *= x.c / x.l_new;
        for (std::size_t j = 0; j < x.w.size(); ++j) x.o[col] += x.w[j] * in.values[(first + j) * in.d + col];
      }
      return x.o;
  }
}

}  // namespace

std::span<const ProgramLine> faulty_program() {
  return program;
}

ProgramRun run_program(const SoftmaxRows& in, std::size_t block, const std::set<std::string_view>& rewritten) {
  for (const std::string_view id : rewritten) {
    if (std::ranges::count(program, id, &ProgramLine::id) == 0) {
      throw std::invalid_argument("the program has no line " + std::string(id));
    }
  }
  ProgramRun run;
  for (std::size_t row = 0; row < in.rows; ++row) {
    Variables x;
    x.o.assign(in.d, 0);
    for (std::size_t first = 0; first < in.columns; first += block) {
      x.s.clear();
      for (std::size_t j = first; j < std::min(first + block, in.columns); ++j) x.s.push_back(in.score(row, j));
      for (std::size_t line = 0; line < program.size(); ++line) {
        const bool other = rewritten.contains(program.at(line).id);
        run.moments.push_back({row, first / block, line, run_line(line, other, x, in, first)});
      }
      x.l = x.l_new;
      x.m = x.m_new;
    }
    run.output.insert(run.output.end(), x.o.begin(), x.o.end());
  }
  const OnlineTrace right = play_online(in, in.columns, Rescaling::outer);
  for (std::size_t i = 0; i < run.output.size(); ++i) {
    const double error = std::abs(run.output[i] - right.exact[i]);
    run.largest_error = error >= 0 ? std::max(run.largest_error, error) : std::numeric_limits<double>::infinity();
  }
  return run;
}

}  // namespace attnscope::analysis::lesson
