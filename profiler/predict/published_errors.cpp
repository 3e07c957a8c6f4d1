// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/published_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/model/parse.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "kernels/tile_table.h"
#include "messages/prediction.h"
#include "profiler/stats/verdicts.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// Returns nothing for an unknown GPU, an invalid value or an infeasible problem.
std::optional<PublishedRate> parse_rate(std::string_view line) {
  std::vector<std::string_view> fields = split_text(line, ',');
  constexpr std::size_t count = 14;
  if (fields.size() < count) return std::nullopt;
  // The source may contain commas.
  fields[count - 1] = line.substr(static_cast<std::size_t>(fields[count - 1].data() - line.data()));
  PublishedRate rate;
  const Algorithm* algorithm = built_in_algorithms().find(fields[0]);
  const auto pass = parse_pass(fields[3]);
  const auto mask = parse_mask(fields[4]);
  rate.gpu = find_gpu(fields[1]);
  rate.half = fields[2] == to_string(Half::fitted) ? Half::fitted : Half::held_out;
  if (algorithm == nullptr || rate.gpu == nullptr || fields[2] != to_string(rate.half) || !pass || !mask ||
      (*mask != Mask::none && *mask != Mask::causal)) {
    return std::nullopt;
  }
  AttentionProblem& problem = rate.spec.problem;
  problem.pass = *pass;
  problem.mask = *mask;
  std::size_t next = 5;
  for (std::int64_t AttentionProblem::*size :
       {&AttentionProblem::batch, &AttentionProblem::heads_q, &AttentionProblem::heads_kv, &AttentionProblem::n_q,
        &AttentionProblem::n_k, &AttentionProblem::d}) {
    problem.*size = parse_number<std::int64_t>(fields[next++]).value_or(-1);
    if (problem.*size < 0) return std::nullopt;
  }
  const double tflops = parse_number<double>(fields[11]).value_or(0);
  const double mhz = fields[12].empty() ? 0 : parse_number<double>(fields[12]).value_or(-1);
  if (!(tflops > 0) || !(mhz >= 0)) return std::nullopt;
  rate.flops_per_second = 1e12 * tflops;
  rate.clock_hz = 1e6 * mhz;
  rate.source = fields[13];
  rate.spec.algorithm = fields[0];
  rate.spec.set_config(auto_config(*algorithm, problem, *rate.gpu));
  if (algorithm->refusal(problem, rate.spec.config(), *rate.gpu)) return std::nullopt;
  return rate;
}

AttentionModel model_of(const PublishedRate& rate) {
  return built_in_algorithms().find(rate.spec.algorithm)->model(rate.spec.problem, rate.spec.config(), *rate.gpu);
}

/// Errors of predicted times against published rates, by algorithm, pass and half; nullptr without published
/// rates of the GPU.
const PublishedErrors* errors_of_published_rates(const DeviceLimits* gpu) {
  static const std::map<const DeviceLimits*, PublishedErrors> tables = [] {
    std::map<const DeviceLimits*, PublishedErrors> by_gpu;
    std::map<std::tuple<const DeviceLimits*, std::string, Pass, Half>, std::vector<PublishedRate>> groups;
    for (const PublishedRate& rate : published_rates()) {
      groups[{rate.gpu, rate.spec.algorithm, rate.spec.problem.pass, rate.half}].push_back(rate);
    }
    for (const auto& [key, rates] : groups) {
      const auto& [of, algorithm, pass, half] = key;
      const RateErrors errors = rate_errors(rates).back();
      PublishedErrors& table = by_gpu[of];
      table.device = of->name;
      table.rows.push_back({algorithm, std::string(to_string(pass)), errors.half, "time", errors.rates, errors.rates,
                            errors.median, errors.p95});
      for (const PublishedRate& rate : rates) {
        const std::int64_t n_q = rate.spec.problem.n_q;
        table.min_rate_n_q = table.min_rate_n_q == 0 ? n_q : std::min(table.min_rate_n_q, n_q);
      }
    }
    return by_gpu;
  }();
  const auto found = tables.find(gpu);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace

double PublishedRate::ns() const {
  AttentionProblem unmasked = spec.problem;
  unmasked.mask = Mask::none;
  const double share = spec.problem.mask == Mask::none ? 1 : 0.5;
  return 1e9 * share * pass_flops(unmasked) / flops_per_second;
}

DeviceRates PublishedRate::rates() const {
  DeviceRates rates = device_rates(*gpu);
  if (clock_hz > 0) rates.clock = {.fixed_hz = clock_hz};
  return rates;
}

double PublishedRate::predicted_ns() const {
  return point_ns(predict_times(model_of(*this), *gpu, rates()));
}

PointRecord PublishedRate::record() const {
  PointRecord record;
  record.spec = spec;
  const AttentionModel model = model_of(*this);
  const std::vector<LaunchTime> times = predict_times(model, *gpu, rates());
  auto time = times.begin();
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup) continue;
    KernelRecord& timed = record.kernels.emplace_back();
    timed.kernel = times.size() > 1 ? kernel.name : "all";
    timed.samples_ns = {ns() * time++->ns / point_ns(times)};
  }
  return record;
}

std::vector<PublishedRate> parse_published_rates(std::string_view csv) {
  std::vector<PublishedRate> rates;
  bool header = true;
  int number = 0;
  for (const std::string_view line : split_text(csv, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#') || std::exchange(header, false)) continue;
    std::optional<PublishedRate> rate = parse_rate(line);
    if (!rate) throw std::invalid_argument(fmt::format("published rates: line {} is invalid", number));
    rates.push_back(*std::move(rate));
  }
  return rates;
}

const std::vector<PublishedRate>& published_rates() {
  static const std::vector<PublishedRate> rates = parse_published_rates(published_rates_text());
  return rates;
}

std::vector<RateErrors> rate_errors(std::span<const PublishedRate> rates) {
  // Sources sort before the sum of all, which has no name.
  std::map<std::tuple<std::string, std::string, bool, std::string>, std::vector<double>> groups;
  for (const PublishedRate& rate : rates) {
    const double error = std::abs(rate.predicted_ns() / rate.ns() - 1);
    const std::string half(to_string(rate.half));
    groups[{rate.gpu->name, half, false, rate.source}].push_back(error);
    groups[{rate.gpu->name, half, true, ""}].push_back(error);
  }
  std::vector<RateErrors> rows;
  for (const auto& [key, errors] : groups) {
    const auto& [gpu, half, all, source] = key;
    rows.push_back({.gpu = gpu,
                    .source = source,
                    .half = half,
                    .rates = errors.size(),
                    .median = quantile(errors, 0.5),
                    .p95 = quantile(errors, 0.95),
                    .worst = std::ranges::max(errors)});
  }
  return rows;
}

Table rate_error_table(std::vector<RateErrors> rows, bool people) {
  TableBuilder<RateErrors> table(std::move(rows));
  const auto error = [people](double value) {
    return Cell{.text = people ? text(Share(value)) : fmt::format("{:.6g}", value), .number = value};
  };
  table.add({.key = "gpu", .title = "GPU"}, [](const RateErrors& row) { return row.gpu; });
  table.add({.key = "half", .title = text(msg::prediction::split{})}, [](const RateErrors& row) { return row.half; });
  table.add({.key = "source", .title = text(msg::prediction::source{})}, [](const RateErrors& row) {
    return row.source.empty() ? text(msg::prediction::all_sources{}) : row.source;
  });
  table.add({.key = "rates", .title = text(msg::prediction::rates{})},
            [](const RateErrors& row) { return static_cast<double>(row.rates); });
  table.add({.key = "median_error", .title = text(msg::prediction::median{}), .kind = ColumnKind::number},
            [error](const RateErrors& row) { return error(row.median); });
  table.add({.key = "worst_error", .title = text(msg::prediction::worst{}), .kind = ColumnKind::number},
            [error](const RateErrors& row) { return error(row.worst); });
  return std::move(table).take();
}

const ErrorRow* PublishedErrors::find(std::string_view algorithm, Pass pass, std::string_view quantity) const {
  for (const Half half : {Half::held_out, Half::fitted}) {
    const auto row = std::ranges::find_if(rows, [&](const ErrorRow& each) {
      return each.algorithm == algorithm && each.pass == to_string(pass) && each.quantity == quantity &&
             each.half == to_string(half);
    });
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}

PublishedErrors parse_published_errors(std::string_view csv) {
  PublishedErrors table;
  for (std::string_view line : split_text(csv, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string_view> fields = split_text(line, ',');
    if (fields.size() != 9) continue;
    const auto points = parse_number<std::size_t>(fields[4]);
    const auto problems = parse_number<std::size_t>(fields[5]);
    const auto median = parse_number<double>(fields[6]);
    const auto p95 = parse_number<double>(fields[7]);
    if (!points || !problems || !median || !p95) continue;
    table.rows.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]),
                          std::string(fields[3]), *points, *problems, *median, *p95});
    table.device = fields[8];
  }
  return table;
}

const PublishedErrors* validated_errors(const DeviceLimits& limits) {
  if (find_gpu(limits.name) == nullptr) return nullptr;  // hypothetical
  const std::string_view gpu = device_rates(limits).validated_on;
  static const std::array tables{parse_published_errors(h200_errors_text()),
                                 parse_published_errors(h100_errors_text())};
  const auto* found =
      std::ranges::find_if(tables, [&](const PublishedErrors& table) { return same_gpu(table.device, gpu); });
  return found == tables.end() ? errors_of_published_rates(find_gpu(gpu)) : found;
}

std::optional<double> published_time_error(const PublishedErrors& table, std::string_view algorithm, Pass pass) {
  constexpr std::size_t enough_points = 20;  // fewer points do not determine the 95th percentile
  std::optional<double> p95_of_few;
  double of_all = 0;
  for (const ErrorRow& error : table.rows) {
    if (error.quantity != "time" || error.half != "held out") continue;
    if (error.algorithm == "all") of_all = std::max(of_all, error.p95);
    if (error.algorithm != algorithm || error.pass != to_string(pass)) continue;
    if (error.points >= enough_points) return error.p95;
    p95_of_few = error.p95;
  }
  if (!p95_of_few) return std::nullopt;
  return std::max({*p95_of_few, of_all, assumed_spread});
}

std::optional<double> published_tile_error(const PublishedErrors& table, std::string_view algorithm, Pass pass) {
  std::optional<double> found;
  for (const ErrorRow& error : table.rows) {
    if (error.quantity != "tile_ratio" || error.algorithm != algorithm || error.pass != to_string(pass)) continue;
    found = std::max(found.value_or(0), error.p95);
  }
  return found;
}

std::optional<double> published_time_error(const SimulatedPoint& point) {
  const AttentionProblem& problem = point.spec.problem;
  if (point.errors == nullptr || problem.n_q < point.errors->min_rate_n_q) return std::nullopt;
  return published_time_error(*point.errors, error_group(point.spec.algorithm, problem.dtype), problem.pass);
}

std::optional<double> published_ratio_error(const SimulatedPoint& base, const SimulatedPoint& other, bool one_device) {
  const AttentionProblem& problem = base.spec.problem;
  const bool tiles = one_device && base.spec.algorithm == other.spec.algorithm && problem == other.spec.problem &&
                     base.spec.cache == other.spec.cache;
  if (tiles && base.errors != nullptr) {
    const auto error =
        published_tile_error(*base.errors, error_group(base.spec.algorithm, problem.dtype), problem.pass);
    if (error || base.errors->min_rate_n_q > 0) return error;
  }
  const std::optional<double> of_base = published_time_error(base);
  const std::optional<double> of_other = published_time_error(other);
  if (!of_base || !of_other) return std::nullopt;
  const double base_log = std::log1p(*of_base);
  const double other_log = std::log1p(*of_other);
  return std::expm1(std::sqrt(base_log * base_log + other_log * other_log));  // std::hypot would require glibc 2.35
}

}  // namespace attnscope::analysis
