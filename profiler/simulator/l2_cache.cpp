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
      set_capacity_(capacity_bytes / sets_),
      places_(1U << 12U, 0) {
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
    resident_ += added;
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
  std::ranges::fill(places_, 0);
  resident_ = 0;
}

std::uint32_t L2Cache::set_of(std::uint64_t key) const {
  // Uses other hash bits than home(), so that granules of one set spread over the table.
  const std::uint64_t mixed = (key ^ (key >> 33U)) * 0xC2B2AE3D27D4EB4FU;
  return static_cast<std::uint32_t>(((mixed >> 32U) * sets_) >> 32U);
}

std::uint32_t L2Cache::find_or_insert(std::uint64_t key) {
  const std::size_t mask = places_.size() - 1;
  std::size_t place = home(key);
  while (places_[place] != 0) {
    if (entries_[places_[place]].key == key) return places_[place];
    place = (place + 1) & mask;
  }
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    entries_[index] = Entry{};
  }
  entries_[index].key = key;
  places_[place] = index;
  link_front(set_of(key), index);
  if (2 * granules() > places_.size()) grow();
  return index;
}

void L2Cache::evict_oldest(std::uint32_t set) {
  const std::uint32_t index = entries_[set].previous;
  Entry& entry = entries_[index];
  written_ += std::exchange(entry.dirty_bytes, 0);
  resident_ -= entry.resident_bytes;
  entries_[set].resident_bytes -= entry.resident_bytes;
  erase_key(entry.key);
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

std::size_t L2Cache::home(std::uint64_t key) const {
  // Fibonacci hashing: spreads adjacent granules over the table.
  const std::uint64_t mixed = (key ^ (key >> 29U)) * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(mixed >> 32U) & (places_.size() - 1);
}

void L2Cache::erase_key(std::uint64_t key) {
  const std::size_t mask = places_.size() - 1;
  std::size_t hole = home(key);
  while (entries_[places_[hole]].key != key) hole = (hole + 1) & mask;
  // Backward-shift deletion: moves later entries back, unless that would place them before their home slot.
  for (std::size_t next = (hole + 1) & mask; places_[next] != 0; next = (next + 1) & mask) {
    const std::size_t wanted = home(entries_[places_[next]].key);
    if (((next - wanted) & mask) >= ((next - hole) & mask)) {
      places_[hole] = places_[next];
      hole = next;
    }
  }
  places_[hole] = 0;
}

void L2Cache::grow() {
  std::vector<std::uint32_t> old(places_.size() * 2, 0);
  old.swap(places_);
  const std::size_t mask = places_.size() - 1;
  for (const std::uint32_t index : old) {
    if (index == 0) continue;
    std::size_t place = home(entries_[index].key);
    while (places_[place] != 0) place = (place + 1) & mask;
    places_[place] = index;
  }
}

}  // namespace attnscope
