// SPDX-License-Identifier: Apache-2.0
#include "profiler/simulator/l2_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace attnscope {
namespace {

// Part of `bytes` that falls on the cells `part` of the cells `of`. Splits evenly, although cells at a ragged matrix
// edge are smaller.
std::int64_t share(std::int64_t bytes, std::uint64_t part, std::uint64_t of) {
  if (part == of) return bytes;
  return bytes * std::popcount(part) / std::popcount(of);
}

}  // namespace

L2Cache::L2Cache(std::int64_t capacity_bytes, std::int64_t set_bytes)
    : sets_(static_cast<std::uint32_t>(
          std::clamp<std::int64_t>(set_bytes > 0 ? capacity_bytes / set_bytes : 1, 1, std::int64_t{1} << 20U))),
      set_capacity_(capacity_bytes / sets_) {
  clear();
}

void L2Cache::touch(std::uint64_t key, std::uint64_t cells, std::int64_t bytes, bool is_store) {
  const std::uint32_t index = find_or_insert(key);
  const std::uint32_t set = set_of(key);
  Entry& entry = entries_[index];
  if (const std::uint64_t missing = cells & ~entry.resident_cells; missing != 0) {
    const std::int64_t added = share(bytes, missing, cells);
    entry.resident_cells |= missing;
    entry.resident_bytes += added;
    entries_[set].resident_bytes += added;
    if (!is_store) fetched_ += added;
  }
  if (is_store) {
    if (const std::uint64_t clean = cells & ~entry.dirty_cells; clean != 0) {
      entry.dirty_cells |= clean;
      entry.dirty_bytes = std::min(entry.dirty_bytes + share(bytes, clean, cells), entry.resident_bytes);
    }
  }
  if (entries_[set].next != index) {
    unlink(index);
    link_front(set, index);
  }
  while (entries_[set].resident_bytes > set_capacity_ && entries_[set].previous != index) evict_oldest(set);
}

void L2Cache::flush() {
  for (std::size_t i = sets_; i < entries_.size(); ++i) {
    written_ += entries_[i].dirty_bytes;
    entries_[i].dirty_bytes = 0;
    entries_[i].dirty_cells = 0;
  }
}

void L2Cache::clear() {
  entries_.assign(sets_, {});
  for (std::uint32_t set = 0; set < sets_; ++set) entries_[set].previous = entries_[set].next = set;
  free_.clear();
  places_.clear();
}

std::uint32_t L2Cache::set_of(std::uint64_t key) const {
  const std::uint64_t mixed = (key ^ (key >> 33U)) * 0xC2B2AE3D27D4EB4FU;
  return static_cast<std::uint32_t>(((mixed >> 32U) * sets_) >> 32U);
}

std::uint32_t L2Cache::find_or_insert(std::uint64_t key) {
  const auto [place, is_new] = places_.try_emplace(key);
  if (!is_new) return place->second;
  if (free_.empty()) {
    place->second = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    place->second = free_.back();
    free_.pop_back();
    entries_[place->second] = Entry{};
  }
  entries_[place->second].key = key;
  link_front(set_of(key), place->second);
  return place->second;
}

void L2Cache::evict_oldest(std::uint32_t set) {
  const std::uint32_t index = entries_[set].previous;
  Entry& entry = entries_[index];
  written_ += std::exchange(entry.dirty_bytes, 0);
  entries_[set].resident_bytes -= entry.resident_bytes;
  places_.erase(entry.key);
  unlink(index);
  free_.push_back(index);
}

void L2Cache::unlink(std::uint32_t index) {
  const Entry& entry = entries_[index];
  entries_[entry.previous].next = entry.next;
  entries_[entry.next].previous = entry.previous;
}

void L2Cache::link_front(std::uint32_t set, std::uint32_t index) {
  Entry& entry = entries_[index];
  entry.previous = set;
  entry.next = entries_[set].next;
  entries_[entry.next].previous = index;
  entries_[set].next = index;
}

}  // namespace attnscope
