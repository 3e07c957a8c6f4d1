// SPDX-License-Identifier: Apache-2.0
#include "storage/bounds.h"

#include <algorithm>
#include <cmath>
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

/// Throws "sm_clock_hz inf is not within 0 .. 1e+15" as a Message. NaN is outside of any range.
template <class Number>
void require_within(std::string_view what, Number value, std::type_identity_t<Number> least,
                    std::type_identity_t<Number> most) {
  if (value >= least && value <= most) return;
  throw make_message("{} {} is not within {} .. {}", what, value, least, most);
}

void require_name(std::string_view what, std::string_view name) {
  if (name.empty()) throw make_message("the name of the {} is empty", what);
  if (name.size() > max_name_length)
    throw make_message("the name of the {} has {} bytes (maximum: {})", what, name.size(), max_name_length);
}

void require(const Message& wrong) {
  if (!wrong.empty()) throw wrong;
}

/// Returns what `check` throws, or an empty message.
template <class Check>
Message first_error(Check&& check) {
  try {
    check();
  } catch (const Message& wrong) {
    return wrong;
  }
  return {};
}

void require_spec(const PointSpec& spec, bool imported) {
  require_name("algorithm", spec.algorithm);
  // A kernel without a tile has Br and Bc of 0; an imported point may lack either.
  const bool tile_may_be_0 = imported || spec.tile == TileShape{.br = 0, .bc = 0};
  for (const Field& field : point_fields()) {
    if (field.type != FieldType::integer || field.largest == 0) continue;
    const std::int64_t least = field.role == FieldRole::tile && tile_may_be_0 ? 0 : field.smallest;
    require_within(field.name, std::get<std::int64_t>(field.get(spec)), least, field.largest);
  }
  require(invalid_reason(spec.problem));
  for (const auto& [name, value] : spec.knobs) {
    require_name("knob", name);
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number != nullptr) require_within(name, *number, 0, std::numeric_limits<std::int32_t>::max());
  }
}

void require_launch(const LaunchRecord& launch) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  require_within("registers", launch.registers, 0, 1 << 16);
  require_within("local_bytes", launch.local_bytes, 0, most_bytes);
  require_within("static_shared_bytes", launch.static_shared_bytes, 0, most_bytes);
  require_within("dynamic_shared_bytes", launch.dynamic_shared_bytes, 0, most_bytes);
  require_within("threads", launch.threads, 0, 1 << 16);
  for (const std::uint32_t extent : launch.grid) require_within("grid dimension", extent, 0, 1U << 31U);
}

void require_kernels(const std::vector<KernelRecord>& kernels) {
  for (const KernelRecord& kernel : kernels) {
    require_name("kernel", kernel.kernel);
    for (const MetricValue& metric : kernel.metrics) require(bounds_error(metric));
    for (const double ns : kernel.samples_ns) {
      if (ns == 0 || (ns >= min_time_ns && ns <= max_time_ns)) continue;
      throw make_message("a timing sample of {} ns is not within {} .. {}", ns, min_time_ns, max_time_ns);
    }
    if (kernel.launch) require_launch(*kernel.launch);
  }
}

/// Checks kernels of one round. Samples of several rounds together may exceed the limit.
void require_sample_counts(const std::vector<KernelRecord>& kernels) {
  for (const KernelRecord& kernel : kernels) {
    if (kernel.samples_ns.size() > max_round_samples)
      throw make_message("more than {} timing samples in one round", max_round_samples);
  }
}

void require_clocks(const std::optional<ClockReading>& clocks) {
  if (!clocks) return;
  constexpr double max_frequency_hz = 1e15;
  constexpr double max_temperature_c = 1e6;
  require_within("sm_clock_hz", clocks->sm_clock_hz, 0, max_frequency_hz);
  require_within("memory_clock_hz", clocks->memory_clock_hz, 0, max_frequency_hz);
  require_within("temperature_c", clocks->temperature_c, -max_temperature_c, max_temperature_c);
  require_within("power_w", clocks->power_w, 0, max_value);
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
  return first_error([&] {
    require_name("metric", metric.name);
    const bool is_time = metric.unit == "ns";
    const double most = is_time ? max_time_ns : max_value;
    const double size = std::abs(metric.value);
    if (is_time && size > 0 && size < min_time_ns) require_within(metric.name, metric.value, min_time_ns, most);
    if (!(size <= most)) require_within(metric.name, metric.value, -most, most);
  });
}

Message bounds_error(const PointRecord& point) {
  return first_error([&] {
    require_spec(point.spec, point.provenance == Provenance::imported);
    if (point.provenance == Provenance::derived || point.provenance == Provenance::modeled)
      throw make_message("invalid provenance of a point: {}", to_string(point.provenance));
    require_kernels(point.kernels);
    if (point.rounds.empty()) require_sample_counts(point.kernels);
    require(record_size_error(point));
    // The error of an incorrect result may be infinite.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    require_within("max_abs_error", point.max_abs_error.value_or(0), 0, infinity);
    require_within("error_bound", point.error_bound.value_or(0), 0, infinity);
    require_within("rms_error", point.rms_error.value_or(0), 0, infinity);
    require_within("wall_seconds", point.wall_seconds, 0, max_time_ns / 1e9);
    require_clocks(point.clocks);
    for (const RoundRecord& round : point.rounds) {
      require(round_index_error(round.round));
      require_kernels(round.kernels);
      require_sample_counts(round.kernels);
      require_clocks(round.clocks);
    }
  });
}

Message bounds_error(const StoredManifest& manifest) {
  return first_error([&] {
    constexpr std::size_t max_path_bytes = 4096;
    require_within("bytes of the kernel manifest:", manifest.text.size(), 0, user::max_manifest_bytes);
    require_within("sources of the kernel manifest:", manifest.sources.size(), 0, max_manifest_sources);
    std::set<std::string_view> names;
    for (const auto& [name, digest, content] : manifest.sources) {
      require_within("bytes of the name of a source:", name.size(), 1, max_path_bytes);
      require_within("bytes of the digest of a source:", digest.size(), 0, max_name_length);
      if (!names.insert(name).second) throw make_message("the kernel manifest has source {} twice", name);
    }
  });
}

Message point_size_error(std::size_t values, std::size_t samples, const ReadLimits& limits) {
  if (values > limits.point_values)
    return make_message("too many rounds and values (maximum: {})", limits.point_values);
  if (samples > limits.point_samples) return make_message("more than {} timing samples", limits.point_samples);
  return {};
}

Message round_index_error(std::int64_t round) {
  return first_error([&] { require_within("round", round, 0, max_rounds - 1); });
}

Message round_count_error(std::int64_t rounds) {
  return first_error([&] { require_within("rounds", rounds, 1, max_rounds); });
}

Message bounds_error(const DeviceLimits& limits) {
  return first_error([&] {
    constexpr int most_units = 1 << 30;
    constexpr double most_bytes = 1e15;
    require_name("device", limits.name);
    require_within("compute_major", limits.compute_major, 0, most_units);
    require_within("compute_minor", limits.compute_minor, 0, most_units);
    for_each_limit(limits, [&]<class T>(const char* name, T value) {
      const double most = std::is_same_v<T, int> ? most_units : std::is_same_v<T, double> ? max_value : most_bytes;
      require_within(name, value, T{0}, static_cast<T>(most));
    });
  });
}

Message bounds_error(const MeasureOptions& options) {
  return first_error([&] {
    constexpr int most_samples = 1 << 30;
    constexpr std::int64_t max_timeout_ms = std::int64_t{1} << 50;
    require_within("min_samples", options.min_samples, 0, most_samples);
    require_within("max_samples", options.max_samples, 0, most_samples);
    require_within("max_noise", options.max_noise, 0, max_value);
    require_within("timeout_ms", static_cast<std::int64_t>(options.timeout.count()), 0, max_timeout_ms);
  });
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
