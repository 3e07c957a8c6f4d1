// SPDX-License-Identifier: Apache-2.0
#include "storage/compared_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ctime>

#include "messages/difference.h"

namespace attnscope {
namespace {

constexpr double one_day = 86'400;

/// Returns the seconds since 1970 of "2026-11-25T19:31:28Z".
std::optional<double> parse_utc_time(const std::string& time) {
  std::tm parts{};
  if (::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
  return static_cast<double>(::timegm(&parts));
}

std::string options_text(const MeasureOptions& options) {
  return fmt::format("{} {} {} {} {} {} [{}]", options.counters, options.verify, options.min_samples,
                     options.max_samples, options.max_noise, options.seed, fmt::join(options.extra_metrics, ","));
}

bool is_of_program_comparison(const RunSummary& run) {
  return run.preset == base_program_preset || run.preset == other_program_preset;
}

}  // namespace

bool has_two_sides(const RunSummary& run) {
  return run.preset == ab_preset && run.planned_points == 2;  // files are untrusted
}

bool is_candidate_side(const RunSummary& run, std::size_t place) {
  return place >= run.planned_points / 2;
}

std::size_t interim_analysis_count(const RunSummary& run) {
  if ((!has_two_sides(run) && !is_of_program_comparison(run)) || run.rounds < 1) return 1;
  return analysis::analysis_count(static_cast<std::size_t>(run.rounds));
}

void set_rounds(const RunSummary& run, analysis::Run& row) {
  if (is_of_program_comparison(run)) row.turns = run.order_seed;
  row.planned_points = run.planned_points;
  if (run.provenance != Provenance::measured || run.order_seed == 0) return;
  row.rounds = {.count = run.rounds, .seed = run.order_seed};
  if (!is_of_program_comparison(run)) return;
  if (run.preset == other_program_preset) row.first_place = run.planned_points;
  row.planned_points *= 2;
}

analysis::Run analysis_run(const RunSummary& run) {
  analysis::Run row{
      .device_id = run.device_uuid,
      .device_name = run.device_name,
      .title = fmt::format("{} ({})", run.id, run.annotations.name.empty() ? run.preset : run.annotations.name),
      // Curves show the label of an imported run, so only the callers that want it there set it.
      .label = run.provenance == Provenance::imported ? std::string() : run.preset,
      .started_at = run.started_at,
      .provenance = run.provenance,
      .limits = run.limits,
      .l2_source = run.l2_source,
      .plan = run.plan_hash,
      .program = run.environment.app_version,
      .options = options_text(run.options),
      .nvrtc = run.environment.nvrtc_version,
      .preset = run.preset,
      .name = run.annotations.name,
      .tags = run.annotations.tags};
  set_rounds(run, row);
  return row;
}

std::shared_ptr<const analysis::NoiseModel> find_noise_model(const RunSummary& run, std::span<const StoredNoise> sets) {
  const std::optional<double> begun = parse_utc_time(run.started_at);
  if (!begun || run.provenance != Provenance::measured) return nullptr;
  const StoredNoise* nearest = nullptr;
  double least = one_day;
  for (const StoredNoise& set : sets) {
    const std::optional<double> found = parse_utc_time(set.measured_at);
    if (!found || set.device_uuid != run.device_uuid ||
        set.environment.driver_version != run.environment.driver_version || std::abs(*found - *begun) > least) {
      continue;
    }
    nearest = &set;
    least = std::abs(*found - *begun);
  }
  return nearest == nullptr ? nullptr : nearest->model;
}

analysis::RunConditions run_conditions(const RunSummary& run) {
  const Environment& environment = run.environment;
  const MeasureOptions& options = run.options;
  const bool simulated = run.provenance == Provenance::simulated;
  const Message l2_of =
      simulated && run.l2_source.empty() ? msg::difference::own_gpu{} : Message::verbatim(run.l2_source);
  return {{msg::difference::program{}, Message::verbatim(environment.app_version)},
          {msg::difference::driver{}, Message::verbatim(environment.driver_version)},
          {Message::verbatim("CUDA"), Message::verbatim(environment.cuda_driver_api)},
          {Message::verbatim("NVRTC"), Message::verbatim(environment.nvrtc_version)},
          {Message::verbatim("CUPTI"), Message::verbatim(environment.cupti_version)},
          {msg::difference::system{}, Message::verbatim(environment.operating_system)},
          {msg::difference::l2_of{}, l2_of},
          {msg::difference::rates_measured_on{}, Message::verbatim(run.rates_source)},
          {msg::difference::samples{}, msg::difference::range{.high = fmt::to_string(options.max_samples),
                                                              .low = fmt::to_string(options.min_samples)}},
          {msg::difference::noise{}, Message::verbatim(fmt::to_string(options.max_noise))},
          {msg::difference::rounds{}, Message::verbatim(fmt::to_string(run.rounds))},
          {msg::difference::seed{}, Message::verbatim(fmt::to_string(options.seed))}};
}

}  // namespace attnscope
