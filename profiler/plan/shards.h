// SPDX-License-Identifier: Apache-2.0
// Partition of a plan into shards (several machines) and groups (several GPUs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// Shard `number` of `count`, counting from 1.
struct Shard {
  int number = 1;
  int count = 1;

  [[nodiscard]] bool whole() const { return count == 1; }
  bool operator==(const Shard&) const = default;
};
inline constexpr int max_shards = 10'000;

[[nodiscard]] Result<Shard, Message> parse_shard(std::string_view text);
[[nodiscard]] std::string to_string(const Shard&);

/// Ascending point indices of a plan.
using PointIndices = std::vector<std::size_t>;

/// Groups of points that are compared with each other and therefore measured on one GPU: a tile map (one algorithm and
/// problem, several tiles or knobs) or a curve (one algorithm, several lengths), whichever has more points. Each point
/// is in exactly one group; groups are ordered by their first point.
[[nodiscard]] std::vector<PointIndices> comparison_groups(std::span<const PointSpec> points);

/// Returns the bundle index of each group. A bundle is a set of groups that are adjacent in the plan and have the same
/// inputs, so that one device creates the inputs once.
[[nodiscard]] std::vector<std::size_t> input_bundles(std::span<const PointSpec> points,
                                                     std::span<const PointIndices> groups);

/// Predicted milliseconds to measure each point, rounded so that sums match on every machine. Always predicted for the
/// same GPU of the table, so that every machine cuts the plan equally. 0 for points which that GPU cannot run.
[[nodiscard]] std::vector<std::int64_t> predicted_collection_ms(std::span<const PointSpec> points, const Registry&);

/// Point indices of each of `count` shards, balanced by `ms` per point. Keeps each of comparison_groups() in one shard,
/// and bundles of groups with shared inputs together while they are a small fraction of a shard. If there are fewer
/// groups than shards, the last shards are empty.
[[nodiscard]] std::vector<PointIndices> cut(std::span<const PointSpec> points, std::span<const std::int64_t> ms,
                                            int count);

/// Identifier shared by all shards of one cut: a hash of the plan hash, the shards and `collection`, a user-given name
/// of the recording. 32 hexadecimal digits.
[[nodiscard]] std::string partition_uid(std::string_view plan_hash, std::span<const PointIndices> shards,
                                        std::string_view collection);

}  // namespace attnscope
