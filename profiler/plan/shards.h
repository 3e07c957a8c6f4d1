// SPDX-License-Identifier: Apache-2.0
// A plan cut into parts that can be measured apart: shards of it on several machines, groups of it on several GPUs.
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

/// Part `number` of `count`, from 1.
struct Shard {
  int number = 1;
  int count = 1;

  [[nodiscard]] bool whole() const { return count == 1; }
  bool operator==(const Shard&) const = default;
};
inline constexpr int most_shards = 10'000;

/// "3/8".
[[nodiscard]] Result<Shard, Message> parse_shard(std::string_view text);
[[nodiscard]] std::string to_string(const Shard&);

/// Places in a plan, ascending.
using Places = std::vector<std::size_t>;

/// Points that are read beside one another, and so are measured on one GPU: of an algorithm a tile map (one problem,
/// several tiles or knobs) or a curve (one problem but for its lengths), whichever has more places where a plan is
/// both. Each point is in one group; groups stand by their first point.
[[nodiscard]] std::vector<Places> compared_groups(std::span<const PointSpec> points);

/// Of each group which bundle it is in: groups that stand beside one another in the plan and have the same inputs,
/// which a device that takes one after the other makes once.
[[nodiscard]] std::vector<std::size_t> bundles_of(std::span<const PointSpec> points, std::span<const Places> groups);

/// What measuring each point takes, in whole milliseconds (which add up to the same everywhere), as predicted for a GPU
/// of the table, whatever the GPU at hand: a cut comes out the same on every machine. 0 for what that GPU cannot run.
[[nodiscard]] std::vector<std::int64_t> collection_ms(std::span<const PointSpec> points, const Registry&);

/// The places of each of `count` shards: each place in one, none of compared_groups() in two, and balanced by
/// `ms` (of each point). Groups that are neighbours in the plan and share their inputs stay together while that is
/// a small part of a shard. Where there are fewer groups than shards, the last ones have no place.
[[nodiscard]] std::vector<Places> cut(std::span<const PointSpec> points, std::span<const std::int64_t> ms, int count);

/// Known by all shards of one cut, and by no other: of the plan's hash, what it is cut into, and `collection`, a
/// person's name for one recording of it. 32 hexadecimal digits.
[[nodiscard]] std::string cut_uid(std::string_view plan_hash, std::span<const Places> shards,
                                  std::string_view collection);

}  // namespace attnscope
