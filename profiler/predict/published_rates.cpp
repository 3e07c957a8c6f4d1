// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/published_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "kernels/tile_table.h"
#include "messages/prediction.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// Returns the fields of a line. The last one may contain commas.
std::vector<std::string_view> fields_of(std::string_view line, std::size_t count) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < count) {
    const std::size_t end = line.find(',');
    if (end == std::string_view::npos) break;
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.push_back(line);
  return fields;
}

template <class Number>
Number number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw std::invalid_argument(fmt::format("'{}' is not a non-negative number", text));
  }
  return number;
}

PublishedRate parse_line(std::string_view line) {
  const std::vector<std::string_view> fields = fields_of(line, 14);
  if (fields.size() != 14) throw std::invalid_argument("expected 14 fields");
  PublishedRate rate;
  rate.gpu = find_gpu(fields[1]);
  if (rate.gpu == nullptr) throw std::invalid_argument(fmt::format("unknown GPU '{}'", fields[1]));
  rate.half = fields[2] == to_string(Half::fitted) ? Half::fitted : Half::held_out;
  if (fields[2] != to_string(rate.half)) throw std::invalid_argument(fmt::format("unknown half '{}'", fields[2]));
  const auto pass = parse_pass(fields[3]);
  const auto mask = parse_mask(fields[4]);
  if (!pass || !mask) throw std::invalid_argument(fmt::format("unknown pass or mask '{} {}'", fields[3], fields[4]));
  if (*mask != Mask::none && *mask != Mask::causal) {
    throw std::invalid_argument(fmt::format("the mask must be full or causal, not '{}'", fields[4]));
  }
  AttentionProblem& problem = rate.spec.problem;
  problem.pass = *pass;
  problem.mask = *mask;
  problem.batch = number_of<std::int64_t>(fields[5]);
  problem.heads_q = number_of<std::int64_t>(fields[6]);
  problem.heads_kv = number_of<std::int64_t>(fields[7]);
  problem.n_q = number_of<std::int64_t>(fields[8]);
  problem.n_k = number_of<std::int64_t>(fields[9]);
  problem.d = number_of<std::int64_t>(fields[10]);
  rate.flops_per_second = 1e12 * number_of<double>(fields[11]);
  if (!fields[12].empty()) rate.clock_hz = 1e6 * number_of<double>(fields[12]);
  rate.source = fields[13];
  const Algorithm* algorithm = built_in_algorithms().find(fields[0]);
  if (algorithm == nullptr) throw std::invalid_argument(fmt::format("unknown algorithm '{}'", fields[0]));
  rate.spec.algorithm = fields[0];
  rate.spec.set_config(auto_config(*algorithm, problem, *rate.gpu));
  if (const auto refusal = algorithm->refusal(problem, rate.spec.config(), *rate.gpu)) {
    throw std::invalid_argument(text(refusal->reason));
  }
  if (rate.flops_per_second <= 0) throw std::invalid_argument("the rate must be positive");
  return rate;
}

AttentionModel model_of(const PublishedRate& rate) {
  return built_in_algorithms().find(rate.spec.algorithm)->model(rate.spec.problem, rate.spec.config(), *rate.gpu);
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
  for (int number = 1; !csv.empty(); ++number) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.empty() || line.starts_with('#') || std::exchange(header, false)) continue;
    try {
      rates.push_back(parse_line(line));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("published rates, line {}: {}", number, error.what()));
    }
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

}  // namespace attnscope::analysis
