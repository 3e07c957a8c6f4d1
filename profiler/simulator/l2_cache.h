// SPDX-License-Identifier: Apache-2.0
// L2 cache model with coarse granules: hashed sets, LRU per set, write-back, write-allocate without fetch (the kernels
// store whole sectors).
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/model/device_limits.h"

namespace attnscope {

/// Caches granules: a few KiB of one matrix, divided into up to 64 cells that are resident or dirty individually.
/// Granules are evicted whole. A hash assigns each to a set; overfull sets evict while others have room, so that misses
/// grow gradually with the working set.
class L2Cache {
 public:
  /// Number of sets = capacity / set_bytes; one fully associative LRU set if `set_bytes` is 0.
  explicit L2Cache(std::int64_t capacity_bytes, std::int64_t set_bytes = 0);

  /// Accesses the cells in the bit mask `cells` (not 0) of granule `key`; together they are `bytes` long. A load
  /// fetches missing cells from DRAM.
  void load(std::uint64_t key, std::uint64_t cells, std::int64_t bytes) { touch(key, cells, bytes, false); }
  void store(std::uint64_t key, std::uint64_t cells, std::int64_t bytes) { touch(key, cells, bytes, true); }
  /// Writes back all dirty cells; they stay resident, clean.
  void flush();
  /// Invalidates everything without writing back.
  void clear();

  [[nodiscard]] std::int64_t fetched_bytes() const { return fetched_; }
  [[nodiscard]] std::int64_t written_bytes() const { return written_; }

 private:
  // The first entries are the list heads of the sets' circular LRU lists: a head's `next` is the most recent granule,
  // its `previous` the oldest, and its bytes are the set's total.
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t resident_cells = 0;
    std::uint64_t dirty_cells = 0;
    std::int64_t resident_bytes = 0;
    std::int64_t dirty_bytes = 0;
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
  };

  void touch(std::uint64_t key, std::uint64_t cells, std::int64_t bytes, bool is_store);
  std::uint32_t find_or_insert(std::uint64_t key);
  void evict_oldest(std::uint32_t set);
  void unlink(std::uint32_t entry);
  void link_front(std::uint32_t set, std::uint32_t entry);
  [[nodiscard]] std::uint32_t set_of(std::uint64_t key) const;
  std::uint32_t sets_;
  std::int64_t set_capacity_;
  std::int64_t fetched_ = 0;
  std::int64_t written_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< Entry of each granule.
};

/// L2 modeled as a set-associative cache with hashed sets and LRU replacement.
struct L2Behavior {
  /// Fraction of the nominal capacity that holds distinct lines. Less than 1, because lines read by SMs of both L2
  /// partitions are stored twice.
  double effective_share = 1;
  /// Granules per set; fewer ways widen the range of working sets over which misses begin.
  int ways = 0;
  std::string_view measured_on;  ///< GPU whose counters it was fitted to
  bool inherited = false;        ///< fitted to another GPU

  [[nodiscard]] std::int64_t capacity_bytes(const DeviceLimits& limits) const {
    return static_cast<std::int64_t>(effective_share * static_cast<double>(limits.l2_bytes));
  }
};

/// Fitted to the settled DRAM bytes of the recorded sample of an H200, on the problems that data_half_of() assigns to
/// fitting: the grid of shares 0.53, 0.6, 0.65, 0.7, 0.8 and 8, 16, 24 ways was searched for the smallest maximum
/// error. Other GPUs inherit these parameters.
[[nodiscard]] inline L2Behavior l2_behavior(const DeviceLimits& limits) {
  constexpr std::string_view fitted_gpu = "NVIDIA H200";
  return {.effective_share = 0.7, .ways = 16, .measured_on = fitted_gpu, .inherited = limits.name != fitted_gpu};
}

}  // namespace attnscope
