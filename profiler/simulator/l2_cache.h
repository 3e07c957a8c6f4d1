// SPDX-License-Identifier: Apache-2.0
// An L2 cache in coarse grains: hashed sets, each least recently used, write-back, write-allocate without fetching (the
// kernels store whole sectors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnscope {

/// Holds granules: some KiB of one matrix, divided into up to 64 cells that are present or dirty each by itself. A
/// granule is evicted whole. Each has its place in one of the sets, by a hash: sets that were given more than their
/// share evict while others have room, so that the cache gives way by degrees.
class L2Cache {
 public:
  /// As many sets as `set_bytes` go into the capacity, and no fewer than one: one LRU list of all.
  explicit L2Cache(std::int64_t capacity_bytes, std::int64_t set_bytes = 0);

  /// Touches the cells `cells` (a bit mask, not 0) of granule `key`, which hold `bytes` in all. A load fetches the
  /// missing ones from DRAM.
  void load(std::uint64_t key, std::uint64_t cells, std::int64_t bytes) { touch(key, cells, bytes, false); }
  void store(std::uint64_t key, std::uint64_t cells, std::int64_t bytes) { touch(key, cells, bytes, true); }
  /// Writes every dirty cell back and keeps it, clean.
  void flush();
  /// Forgets all that it holds, without a write.
  void clear();

  [[nodiscard]] std::int64_t fetched_bytes() const { return fetched_; }                          ///< DRAM reads so far
  [[nodiscard]] std::int64_t written_bytes() const { return written_; }                          ///< DRAM writes so far
  [[nodiscard]] std::int64_t resident_bytes() const { return resident_; }                        ///< held now
  [[nodiscard]] std::size_t granules() const { return entries_.size() - free_.size() - sets_; }  ///< held now

 private:
  // The first entries are the heads of the sets' circular LRU lists: a head's `next` is its most recent granule, its
  // `previous` the oldest, and its bytes are those of the set.
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
  void link_first(std::uint32_t set, std::uint32_t entry);
  [[nodiscard]] std::uint32_t set_of(std::uint64_t key) const;
  // The hash table: open addressing with linear probing; 0 marks an empty place.
  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  void erase_key(std::uint64_t key);
  void grow();

  std::uint32_t sets_;
  std::int64_t set_capacity_;
  std::int64_t resident_ = 0;
  std::int64_t fetched_ = 0;
  std::int64_t written_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> places_;
};

}  // namespace attnscope
