// SPDX-License-Identifier: Apache-2.0
#include "storage/digest.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <variant>

#include "profiler/metrics/rounds.h"
#include "profiler/plan/fields.h"

namespace attnscope {
namespace {

/// SQLite stores -0 as 0.
std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
}

Digest digest_of_bytes(const void* bytes, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return {.high = hash.high64, .low = hash.low64};
}

/// Names and values as bytes that can be read in one way only.
class Canonical {
 public:
  explicit Canonical(std::string_view kind) { text(kind); }

  Canonical& add(std::string_view name, std::int64_t value) {
    return tagged(name, 'i').word(std::bit_cast<std::uint64_t>(value));
  }
  Canonical& add(std::string_view name, double value) { return tagged(name, 'r').word(bits_of(value)); }
  Canonical& add(std::string_view name, std::string_view value) { return tagged(name, 't').text(value); }
  /// Nothing where there is none.
  template <class Value>
  Canonical& add(std::string_view name, const std::optional<Value>& value) {
    return value ? add(name, *value) : *this;
  }
  Canonical& add(std::string_view name, const FieldValue& value) {
    return std::visit(
        [&](const auto& held) -> Canonical& {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(held)>, bool>) {
            return add(name, std::int64_t{held});
          } else {
            return add(name, held);
          }
        },
        value);
  }
  Canonical& add(std::string_view name, const std::string& value) { return add(name, std::string_view(value)); }

  [[nodiscard]] Digest digest() const { return digest_of_bytes(bytes_.data(), bytes_.size()); }

 private:
  Canonical& tagged(std::string_view name, char tag) {
    text(name);
    bytes_ += tag;
    return *this;
  }
  Canonical& word(std::uint64_t value) {
    const auto raw = std::bit_cast<std::array<char, sizeof value>>(value);
    bytes_.append(raw.data(), raw.size());
    return *this;
  }
  Canonical& text(std::string_view value) {
    word(value.size());
    bytes_ += value;
    return *this;
  }

  std::string bytes_;
};

std::optional<std::string_view> view_of(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

}  // namespace

Digest& Digest::operator+=(const Digest& other) {
  high += other.high;
  low += other.low;
  return *this;
}

Digest& Digest::operator-=(const Digest& other) {
  high -= other.high;
  low -= other.low;
  return *this;
}

std::string to_string(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

std::optional<Digest> parse_digest(std::string_view text) {
  constexpr std::size_t half = 16;
  if (text.size() != 2 * half) return std::nullopt;
  const auto read = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto high = read(text.substr(0, half));
  const auto low = read(text.substr(half));
  if (!high || !low) return std::nullopt;
  return Digest{.high = *high, .low = *low};
}

Digest digest_of_row(std::string_view kind, SQLite::Statement& row, int first_column,
                     std::span<const ColumnDefault> defaults) {
  Canonical all(kind);
  for (int i = first_column; i < row.getColumnCount(); ++i) {
    const SQLite::Column column = row.getColumn(i);
    const std::string_view name = column.getName();
    const bool is_default = std::ranges::any_of(defaults, [&](const ColumnDefault& known) {
      return known.column == name && column.isInteger() && column.getInt64() == known.value;
    });
    if (column.isNull() || is_default) continue;
    if (column.isInteger()) {
      all.add(name, column.getInt64());
    } else if (column.isFloat()) {
      all.add(name, column.getDouble());
    } else {
      all.add(name, column.getString());
    }
  }
  return all.digest();
}

NameDigest::NameDigest(std::string_view name) : bits(XXH3_64bits(name.data(), name.size())) {}

NameDigest::NameDigest(std::string_view first, std::string_view second)
    : bits(Canonical(first).add({}, second).digest().low) {}

Digest digest_of_point(const PointIdentity& identity, const PointRecord& record) {
  Canonical all("point");
  all.add("run", identity.run_uid)
      .add("device", identity.device_uuid)
      .add("plan_index", static_cast<std::int64_t>(identity.index))
      .add("recorded_at", identity.recorded_at)
      .add("statement", view_of(identity.statement))
      .add("reason_id", view_of(identity.reason.id))
      .add("reason_arguments", view_of(identity.reason.arguments));
  for (const Field& field : point_fields()) {
    if (field.fallback.empty() || !is_fallback(field, record.spec)) all.add(field.name, field.get(record.spec));
  }
  return all.add("disposition", to_string(record.disposition))
      .add("reason", identity.reason.words)
      .add("provenance", to_string(record.provenance))
      .add("max_abs_error", record.max_abs_error)
      .add("error_bound", record.error_bound)
      .add("rms_error", record.rms_error)
      .add("wall_seconds", record.wall_seconds)
      .digest();
}

Digest digest_of_knob(std::string_view name, const KnobValue& value) {
  Canonical all("knob");
  std::visit([&](const auto& held) { all.add(name, held); }, value);
  return all.digest();
}

Digest digest_of_other_gpu(std::int64_t place, std::string_view uuid) {
  return Canonical("other gpu").add("place", place).add("uuid", uuid).digest();
}

Digest digest_of_kernel(const KernelRecord& kernel) {
  Canonical all("kernel");
  all.add("name", kernel.kernel).add("occupancy_limiter", kernel.occupancy_limiter);
  if (kernel.complete) all.add("complete", std::int64_t{*kernel.complete});
  return all.digest();
}

Digest digest_of_metric(NameDigest kernel, NameDigest metric, std::int64_t round, double value, Provenance provenance) {
  // The most frequent part by far: no text.
  const std::array<std::uint64_t, 5> words{kernel.bits, metric.bits, std::bit_cast<std::uint64_t>(round),
                                           bits_of(value), NameDigest(to_string(provenance)).bits};
  return digest_of_bytes(words.data(), sizeof words);
}

Digest digest_of_samples(NameDigest kernel, std::int64_t round, std::span<const double> samples_ns) {
  Canonical all("samples");
  all.add("kernel", std::bit_cast<std::int64_t>(kernel.bits)).add("round", round);
  for (const double ns : samples_ns) all.add({}, ns);
  return all.digest();
}

Digest digest_of_launch(NameDigest kernel, const LaunchRecord& launch) {
  Canonical all("launch");
  all.add("kernel", std::bit_cast<std::int64_t>(kernel.bits))
      .add("launch", launch.kernel)
      .add("source_file", launch.source_file)
      .add("entry", launch.entry)
      .add("digest", launch.digest)
      .add("registers", std::int64_t{launch.registers})
      .add("local_bytes", launch.local_bytes)
      .add("static_shared_bytes", launch.static_shared_bytes)
      .add("dynamic_shared_bytes", launch.dynamic_shared_bytes)
      .add("threads", std::int64_t{launch.threads});
  for (const std::string& define : launch.defines) all.add("define", define);
  for (const std::uint32_t extent : launch.grid) all.add("grid", std::int64_t{extent});
  return all.digest();
}

Digest digest_of_clocks(std::int64_t round, const ClockReading& clocks) {
  return Canonical("clocks")
      .add("round", round)
      .add("sm_clock_hz", clocks.sm_clock_hz)
      .add("memory_clock_hz", clocks.memory_clock_hz)
      .add("temperature_c", clocks.temperature_c)
      .add("power_w", clocks.power_w)
      .add("throttle_reasons", std::bit_cast<std::int64_t>(clocks.throttle_reasons))
      .add("throttled", std::int64_t{clocks.throttled})
      .digest();
}

Digest digest_of_whole(const PointIdentity& identity, const PointRecord& record) {
  Digest sum = digest_of_point(identity, record);
  for (const auto& [name, value] : record.spec.knobs) sum += digest_of_knob(name, value);
  for (std::size_t i = 0; i < record.others.size(); ++i) {
    sum += digest_of_other_gpu(static_cast<std::int64_t>(i) + 1, record.others[i]);
  }
  for (const KernelRecord& kernel : record.kernels) {
    const NameDigest name(kernel.kernel);
    sum += digest_of_kernel(kernel);
    if (kernel.launch) sum += digest_of_launch(name, *kernel.launch);
  }
  each_round(record, [&sum](int round, std::span<const KernelRecord> kernels, const auto& clocks) {
    for (const KernelRecord& kernel : kernels) {
      const NameDigest name(kernel.kernel);
      for (const MetricValue& metric : kernel.metrics) {
        sum += digest_of_metric(name, NameDigest(metric.name, metric.unit), round, metric.value, metric.provenance);
      }
      if (!kernel.samples_ns.empty()) sum += digest_of_samples(name, round, kernel.samples_ns);
    }
    if (clocks) sum += digest_of_clocks(round, *clocks);
  });
  return sum;
}

}  // namespace attnscope
