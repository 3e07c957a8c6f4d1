// SPDX-License-Identifier: Apache-2.0
#include "storage/bounds.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/user/user_kernel.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/fields.h"
#include "storage/rows.h"

namespace attnscope {
namespace {

/// Returns "sm_clock_hz inf is not within 0 .. 1e+15". NaN is outside of any range.
template <class Number>
Message outside(std::string_view what, Number value, std::type_identity_t<Number> least,
                std::type_identity_t<Number> most) {
  if (value >= least && value <= most) return {};
  return make_message("{} {} is not within {} .. {}", what, value, least, most);
}

Message no_name(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= max_name_length) return {};
  if (name.empty()) return make_message("the name of the {} is empty", what);
  return make_message("the name of the {} has {} bytes (maximum: {})", what, name.size(), max_name_length);
}

/// Returns the first non-empty finding.
Message first_of(std::initializer_list<Message> findings) {
  for (const Message& finding : findings) {
    if (!finding.empty()) return finding;
  }
  return {};
}

Message spec_error(const PointSpec& spec, bool imported) {
  if (Message wrong = no_name("algorithm", spec.algorithm); !wrong.empty()) return wrong;
  // A kernel without a tile has Br and Bc of 0; an imported point may lack either.
  const bool tile_may_be_0 = imported || spec.tile == TileShape{.br = 0, .bc = 0};
  for (const Field& field : point_fields()) {
    if (field.type != FieldType::integer || field.largest == 0) continue;
    const std::int64_t least = field.role == FieldRole::tile && tile_may_be_0 ? 0 : field.smallest;
    if (Message wrong = outside(field.name, std::get<std::int64_t>(field.get(spec)), least, field.largest);
        !wrong.empty()) {
      return wrong;
    }
  }
  if (Message wrong = invalid_reason(spec.problem); !wrong.empty()) return wrong;
  for (const auto& [name, value] : spec.knobs) {
    if (Message wrong = no_name("knob", name); !wrong.empty()) return wrong;
    const auto* number = std::get_if<std::int64_t>(&value);
    constexpr std::int64_t max_knob = std::numeric_limits<std::int32_t>::max();
    if (number == nullptr) continue;
    if (Message wrong = outside(name, *number, 0, max_knob); !wrong.empty()) return wrong;
  }
  return {};
}

Message launch_error(const LaunchRecord& launch) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  Message wrong = first_of({outside("registers", launch.registers, 0, 1 << 16),
                            outside("local_bytes", launch.local_bytes, 0, most_bytes),
                            outside("static_shared_bytes", launch.static_shared_bytes, 0, most_bytes),
                            outside("dynamic_shared_bytes", launch.dynamic_shared_bytes, 0, most_bytes),
                            outside("threads", launch.threads, 0, 1 << 16)});
  for (const std::uint32_t extent : launch.grid) {
    if (wrong.empty() && extent > 1U << 31U) wrong = make_message("grid dimension {} exceeds 2^31", extent);
  }
  return wrong;
}

Message kernel_error(const KernelRecord& kernel) {
  if (Message wrong = no_name("kernel", kernel.kernel); !wrong.empty()) return wrong;
  for (const MetricValue& metric : kernel.metrics) {
    if (Message wrong = bounds_error(metric); !wrong.empty()) return wrong;
  }
  for (const double ns : kernel.samples_ns) {
    if (ns == 0 || (ns >= min_time_ns && ns <= max_time_ns)) continue;
    return make_message("a timing sample of {} ns is not within {} .. {}", ns, min_time_ns, max_time_ns);
  }
  return kernel.launch ? launch_error(*kernel.launch) : Message();
}

/// Checks kernels of one round. Samples of several rounds together may exceed the limit.
Message sample_count_error(const std::vector<KernelRecord>& kernels) {
  for (const KernelRecord& kernel : kernels) {
    if (kernel.samples_ns.size() > max_round_samples)
      return make_message("more than {} timing samples in one round", max_round_samples);
  }
  return {};
}

Message clocks_error(const ClockReading& clocks) {
  constexpr double max_frequency_hz = 1e15;
  constexpr double max_temperature_c = 1e6;
  return first_of({outside("sm_clock_hz", clocks.sm_clock_hz, 0, max_frequency_hz),
                   outside("memory_clock_hz", clocks.memory_clock_hz, 0, max_frequency_hz),
                   outside("temperature_c", clocks.temperature_c, -max_temperature_c, max_temperature_c),
                   outside("power_w", clocks.power_w, 0, max_value)});
}

Message wrong_round(const RoundRecord& round) {
  if (Message wrong = round_index_error(round.round); !wrong.empty()) return wrong;
  for (const KernelRecord& kernel : round.kernels) {
    if (Message wrong = kernel_error(kernel); !wrong.empty()) return wrong;
  }
  if (Message wrong = sample_count_error(round.kernels); !wrong.empty()) return wrong;
  return round.clocks ? clocks_error(*round.clocks) : Message();
}

/// Counts at least what PointsReader counts for the stored record.
Message record_size_error(const PointRecord& point) {
  std::size_t values = (kernel_weight + 1) * point.kernels.size() + point.others.size();
  values += static_cast<std::size_t>(std::ranges::distance(point.spec.knobs.begin(), point.spec.knobs.end()));
  std::size_t samples = 0;
  for_each_round(point, [&](int /*round*/, std::span<const KernelRecord> kernels, const auto& /*clocks*/) {
    values += round_weight + 1;
    for (const KernelRecord& kernel : kernels) {
      values += kernel_weight + 1 + kernel.metrics.size();
      samples += kernel.samples_ns.size();
    }
  });
  return point_size_error(values, samples);
}

Message error_measure_error(std::string_view what, const std::optional<double>& error) {
  // The error of an incorrect result may be infinite.
  return error ? outside(what, *error, 0, std::numeric_limits<double>::infinity()) : Message();
}

void drop_invalid_metrics(std::vector<KernelRecord>& kernels) {
  for (KernelRecord& kernel : kernels) {
    std::vector<MetricValue> kept;
    for (MetricValue& metric : kernel.metrics) {
      if (std::isnan(metric.value)) continue;
      const auto same = std::ranges::find_if(
          kept, [&](const MetricValue& other) { return other.name == metric.name && other.unit == metric.unit; });
      if (same != kept.end()) {
        *same = std::move(metric);
      } else {
        kept.push_back(std::move(metric));
      }
    }
    kernel.metrics = std::move(kept);
  }
}

}  // namespace

Message bounds_error(const MetricValue& metric) {
  if (Message wrong = no_name("metric", metric.name); !wrong.empty()) return wrong;
  const bool is_time = metric.unit == "ns";
  const double most = is_time ? max_time_ns : max_value;
  const double size = std::abs(metric.value);
  if (is_time && size > 0 && size < min_time_ns) return outside(metric.name, metric.value, min_time_ns, most);
  if (size <= most) return {};
  return outside(metric.name, metric.value, -most, most);
}

Message bounds_error(const PointRecord& point) {
  if (Message wrong = spec_error(point.spec, point.provenance == Provenance::imported); !wrong.empty()) return wrong;
  if (point.provenance == Provenance::derived || point.provenance == Provenance::modeled) {
    return make_message("invalid provenance of a point: {}", to_string(point.provenance));
  }
  for (const KernelRecord& kernel : point.kernels) {
    if (Message wrong = kernel_error(kernel); !wrong.empty()) return wrong;
  }
  if (Message wrong = sample_count_error(point.kernels); point.rounds.empty() && !wrong.empty()) return wrong;
  if (Message wrong = record_size_error(point); !wrong.empty()) return wrong;
  constexpr double max_seconds = max_time_ns / 1e9;
  Message wrong = first_of(
      {error_measure_error("max_abs_error", point.max_abs_error), error_measure_error("error_bound", point.error_bound),
       error_measure_error("rms_error", point.rms_error), outside("wall_seconds", point.wall_seconds, 0, max_seconds)});
  if (wrong.empty() && point.clocks) wrong = clocks_error(*point.clocks);
  for (const RoundRecord& round : point.rounds) {
    if (wrong.empty()) wrong = wrong_round(round);
  }
  return wrong;
}

Message bounds_error(const StoredManifest& manifest) {
  constexpr std::size_t max_path_bytes = 4096;
  if (manifest.text.size() > user::max_manifest_bytes) {
    return make_message("the kernel manifest has {} bytes (maximum: {})", manifest.text.size(),
                        user::max_manifest_bytes);
  }
  if (manifest.sources.size() > max_manifest_sources) {
    return make_message("the kernel manifest has {} sources (maximum: {})", manifest.sources.size(),
                        max_manifest_sources);
  }
  std::set<std::string_view> names;
  for (const auto& [name, digest, content] : manifest.sources) {
    if (name.empty()) return no_name("source", name);
    if (name.size() > max_path_bytes || digest.size() > max_name_length) {
      return make_message("the name of a source has {} bytes (maximum: {})", std::max(name.size(), digest.size()),
                          max_path_bytes);
    }
    if (!names.insert(name).second) return make_message("the kernel manifest has source {} twice", name);
  }
  return {};
}

Message point_size_error(std::size_t values, std::size_t samples, const ReadLimits& limits) {
  if (values > limits.point_values)
    return make_message("too many rounds and values (maximum: {})", limits.point_values);
  if (samples > limits.point_samples) return make_message("more than {} timing samples", limits.point_samples);
  return {};
}

Message round_index_error(std::int64_t round) {
  return outside("round", round, 0, max_rounds - 1);
}

Message round_count_error(std::int64_t rounds) {
  return outside("rounds", rounds, 1, max_rounds);
}

Message bounds_error(const DeviceLimits& limits) {
  if (Message wrong = no_name("device", limits.name); !wrong.empty()) return wrong;
  constexpr int most_units = 1 << 30;
  constexpr double most_bytes = 1e15;
  Message wrong = first_of({outside("compute_major", limits.compute_major, 0, most_units),
                            outside("compute_minor", limits.compute_minor, 0, most_units)});
  for_each_limit(limits, [&]<class T>(const char* name, T value) {
    const double most = std::is_same_v<T, int> ? most_units : std::is_same_v<T, double> ? max_value : most_bytes;
    if (wrong.empty()) wrong = outside(name, value, T{0}, static_cast<T>(most));
  });
  return wrong;
}

Message bounds_error(const MeasureOptions& options) {
  constexpr int max_round_samples = 1 << 30;
  constexpr std::int64_t max_timeout_ms = std::int64_t{1} << 50;
  return first_of({outside("min_samples", options.min_samples, 0, max_round_samples),
                   outside("max_samples", options.max_samples, 0, max_round_samples),
                   outside("max_noise", options.max_noise, 0, max_value),
                   outside("timeout_ms", static_cast<std::int64_t>(options.timeout.count()), 0, max_timeout_ms)});
}

PointRecord stored_form(PointRecord point) {
  drop_invalid_metrics(point.kernels);
  for (RoundRecord& round : point.rounds) drop_invalid_metrics(round.kernels);
  summarize_rounds(point);
  for (std::optional<double>* error : {&point.max_abs_error, &point.error_bound, &point.rms_error}) {
    if (*error && std::isnan(**error)) *error = std::numeric_limits<double>::infinity();
  }
  return point;
}

}  // namespace attnscope
