// SPDX-License-Identifier: Apache-2.0
// An L2 cache in coarse grains: least recently used, write-back, write-allocate without fetching (the kernels store
// whole sectors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnscope {

/// Holds granules: some KiB of one matrix, divided into up to 64 cells that are present or dirty each by itself. A
/// granule is evicted whole. One LRU list of the full capacity: the two halves of a real L2, its hashing and its
/// replacement policy are not modelled.
class L2Cache {
 public:
  explicit L2Cache(std::int64_t capacity_bytes);

  /// Touches the cells `cells` (a bit mask, not 0) of granule `key`, which hold `bytes` in all. A load fetches the
  /// missing ones from DRAM.
  void load(std::uint64_t key, std::uint64_t cells, std::int64_t bytes) { touch(key, cells, bytes, false); }
  void store(std::uint64_t key, std::uint64_t cells, std::int64_t bytes) { touch(key, cells, bytes, true); }
  /// Writes every dirty cell back and keeps it, clean.
  void flush();

  [[nodiscard]] std::int64_t fetched_bytes() const { return fetched_; }                      ///< DRAM reads so far
  [[nodiscard]] std::int64_t written_bytes() const { return written_; }                      ///< DRAM writes so far
  [[nodiscard]] std::int64_t resident_bytes() const { return resident_; }                    ///< held now
  [[nodiscard]] std::size_t granules() const { return entries_.size() - free_.size() - 1; }  ///< held now

 private:
  // Entry 0 is the head of the circular LRU list: its `next` is the most recent granule, its `previous` the oldest.
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
  void evict_oldest();
  void unlink(std::uint32_t entry);
  void link_first(std::uint32_t entry);
  // The hash table: open addressing with linear probing; 0 marks an empty place.
  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  void erase_key(std::uint64_t key);
  void grow();

  std::int64_t capacity_;
  std::int64_t resident_ = 0;
  std::int64_t fetched_ = 0;
  std::int64_t written_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> places_;
};

}  // namespace attnscope
