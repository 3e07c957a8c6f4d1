// SPDX-License-Identifier: Apache-2.0
// Digests of what is stored: whether a row still is what was written. Damage is noticed, not an adversary, who can
// compute digests as well.
//
// A digest is made of names and values, not of ids or of the order of rows: it survives copies. What is the default of
// its field is left out, so that fields that come later leave it as it is. The parts of a point are summed, so that
// they may come in any order; so are the points of a run. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "profiler/metrics/point.h"

namespace attnscope {

/// 128 bits; a sum of digests is the digest of all of them.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  Digest& operator+=(const Digest& other);
  Digest& operator-=(const Digest& other);
  bool operator==(const Digest&) const = default;
};
/// 32 hexadecimal digits.
[[nodiscard]] std::string to_string(const Digest&);
/// Nothing for any other text.
[[nodiscard]] std::optional<Digest> parse_digest(std::string_view text);

/// A row by the names of its columns; NULLs are left out, and a column of `defaults` that has the value beside it.
struct ColumnDefault {
  std::string_view column;
  std::int64_t value = 0;
};
[[nodiscard]] Digest digest_of_row(std::string_view kind, SQLite::Statement& row, int first_column,
                                   std::span<const ColumnDefault> defaults = {});

/// How a point ended, as its row says it: in words, and as a message.
struct StoredReason {
  std::string words = {};
  std::optional<std::string> id = std::nullopt;
  std::optional<std::string> arguments = std::nullopt;
};

/// What a point's row has beside its record, and of the record what a later program might put in other words.
struct PointIdentity {
  std::string_view run_uid;
  std::string_view device_uuid;
  std::size_t index = 0;
  std::string_view recorded_at;
  StoredReason reason = {};
  std::optional<std::string> statement = std::nullopt;  ///< digest_of() its statement
};

/// A name whose digest is needed again and again.
struct NameDigest {
  NameDigest() = default;
  explicit NameDigest(std::string_view name);
  /// Of two names.
  NameDigest(std::string_view first, std::string_view second);
  std::uint64_t bits = 0;
};

/// The parts of a point. Kernels are known by their names, which are each other's in no point.
[[nodiscard]] Digest digest_of_point(const PointIdentity&, const PointRecord&);  ///< the row alone
/// Of the GPU at a place behind the point's own.
[[nodiscard]] Digest digest_of_other_gpu(std::int64_t place, std::string_view uuid);
[[nodiscard]] Digest digest_of_knob(std::string_view name, const KnobValue&);
[[nodiscard]] Digest digest_of_kernel(const KernelRecord&);  ///< the row alone
/// `metric` is of its name and unit.
[[nodiscard]] Digest digest_of_metric(NameDigest kernel, NameDigest metric, std::int64_t round, double value,
                                      Provenance);
[[nodiscard]] Digest digest_of_samples(NameDigest kernel, std::int64_t round, std::span<const double> samples_ns);
[[nodiscard]] Digest digest_of_launch(NameDigest kernel, const LaunchRecord&);
[[nodiscard]] Digest digest_of_clocks(std::int64_t round, const ClockReading&);

/// All of it, of every round.
[[nodiscard]] Digest digest_of_whole(const PointIdentity&, const PointRecord&);

}  // namespace attnscope
