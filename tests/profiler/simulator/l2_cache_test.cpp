// SPDX-License-Identifier: Apache-2.0
#include "profiler/simulator/l2_cache.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace attnscope {
namespace {

TEST(L2Cache, ALoadFetchesOnceIfItFits) {
  L2Cache cache(1000);
  cache.load(1, 1, 400);
  cache.load(2, 1, 400);
  cache.load(1, 1, 400);
  EXPECT_EQ(cache.fetched_bytes(), 800);
  EXPECT_EQ(cache.written_bytes(), 0);
}

TEST(L2Cache, EvictsTheLeastRecentlyUsed) {
  L2Cache cache(1000);
  cache.load(1, 1, 400);
  cache.load(2, 1, 400);
  cache.load(1, 1, 400);
  cache.load(3, 1, 400);
  cache.load(1, 1, 400);
  EXPECT_EQ(cache.fetched_bytes(), 1200);
  cache.load(2, 1, 400);
  EXPECT_EQ(cache.fetched_bytes(), 1600);
}

TEST(L2Cache, AStoreFetchesNothingAndIsWrittenWhenEvicted) {
  L2Cache cache(1000);
  cache.store(1, 1, 600);
  cache.store(1, 1, 600);
  EXPECT_EQ(cache.fetched_bytes(), 0);
  EXPECT_EQ(cache.written_bytes(), 0);
  cache.load(2, 1, 600);
  EXPECT_EQ(cache.written_bytes(), 600);
  cache.load(1, 1, 600);
  EXPECT_EQ(cache.fetched_bytes(), 1200);
  cache.load(2, 1, 600);
  EXPECT_EQ(cache.written_bytes(), 600);  // the reloaded granule is clean
}

TEST(L2Cache, DirtyBytesDoNotExceedResidentBytes) {
  L2Cache cache(1000);
  cache.load(1, 0b01, 10);
  cache.store(1, 0b11, 100);  // the other cell adds half of its bytes
  cache.flush();
  EXPECT_EQ(cache.written_bytes(), 60);
}

TEST(L2Cache, FlushWritesDirtyCellsOnceAndKeepsThem) {
  L2Cache cache(1000);
  cache.store(1, 1, 300);
  cache.load(2, 1, 300);
  cache.flush();
  cache.flush();
  EXPECT_EQ(cache.written_bytes(), 300);
  cache.load(1, 1, 300);
  EXPECT_EQ(cache.fetched_bytes(), 300);
}

TEST(L2Cache, CellsAreFetchedAndDirtyIndividually) {
  L2Cache cache(10'000);
  cache.load(1, 0b0011, 200);
  cache.load(1, 0b0110, 200);  // one of the two cells is resident
  EXPECT_EQ(cache.fetched_bytes(), 300);
  cache.store(1, 0b1100, 200);
  EXPECT_EQ(cache.fetched_bytes(), 300);
  cache.load(1, 0b1111, 400);
  EXPECT_EQ(cache.fetched_bytes(), 300);
  cache.flush();
  EXPECT_EQ(cache.written_bytes(), 200);
}

TEST(L2Cache, AGranuleLargerThanTheCacheIsKept) {
  L2Cache cache(100);
  cache.load(1, 1, 400);
  cache.load(1, 1, 400);
  EXPECT_EQ(cache.fetched_bytes(), 400);
  cache.load(2, 1, 400);
  cache.load(1, 1, 400);
  EXPECT_EQ(cache.fetched_bytes(), 1200);
}

TEST(L2Cache, SetsOverflowOneByOne) {
  // 64 sets of 8 granules. The granules fit into the cache but not into every set: in cyclic access an overfull set
  // always misses, and the fraction of overfull sets grows with the working set.
  constexpr std::int64_t granule = 100;
  const auto missed_share = [](std::uint64_t granules) {
    L2Cache cache(64 * 8 * granule, 8 * granule);
    std::int64_t warm = 0;
    for (int pass = 0; pass < 8; ++pass) {
      if (pass == 4) warm = cache.fetched_bytes();
      for (std::uint64_t key = 0; key < granules; ++key) cache.load(key * 0x9E3779B97F4A7C15U, 1, granule);
    }
    return static_cast<double>(cache.fetched_bytes() - warm) / static_cast<double>(4 * granules * granule);
  };
  EXPECT_LT(missed_share(200), 0.05);
  EXPECT_GT(missed_share(400), 0.12);
  EXPECT_LT(missed_share(400), 0.6);
  EXPECT_GT(missed_share(800), 0.9);
}

TEST(L2Cache, ClearDoesNotWriteBack) {
  L2Cache cache(10'000, 1000);
  cache.store(1, 1, 300);
  cache.load(2, 1, 300);
  cache.clear();
  cache.flush();
  EXPECT_EQ(cache.written_bytes(), 0);
  cache.load(2, 1, 300);
  EXPECT_EQ(cache.fetched_bytes(), 600);
}

// Random cells of as many granules as fit exactly: each cell is fetched once and written back once per flush that finds
// it dirty.
TEST(L2Cache, MatchesCellSetsOnRandomAccesses) {
  constexpr std::int64_t cell = 8;
  constexpr std::uint64_t granules = 5;
  L2Cache cache(64 * cell * static_cast<std::int64_t>(granules));
  std::set<std::pair<std::uint64_t, int>> resident;
  std::set<std::pair<std::uint64_t, int>> dirty;
  std::int64_t fetched = 0;
  std::int64_t written = 0;
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t key = random() % granules;
    const std::uint64_t cells = (random() & random()) | 1U << (random() % 32);
    const bool store = random() % 4 == 0;
    for (int bit = 0; bit < 64; ++bit) {
      if ((cells >> bit & 1U) == 0) continue;
      if (resident.emplace(key, bit).second && !store) fetched += cell;
      if (store) dirty.emplace(key, bit);
    }
    store ? cache.store(key, cells, cell * std::popcount(cells)) : cache.load(key, cells, cell * std::popcount(cells));
    if (i % 100 != 99) continue;
    cache.flush();
    written += cell * static_cast<std::int64_t>(dirty.size());
    dirty.clear();
    ASSERT_EQ(cache.written_bytes(), written) << i;
  }
  EXPECT_EQ(cache.fetched_bytes(), fetched);
}

// Compares with a plain list over enough random accesses to wrap the hash table many times.
TEST(L2Cache, MatchesAListOnRandomAccesses) {
  constexpr std::int64_t granule = 64;
  constexpr std::size_t capacity = 5000;
  L2Cache cache(granule * static_cast<std::int64_t>(capacity));
  std::list<std::uint64_t> order;  // most recent first
  struct Held {
    std::list<std::uint64_t>::iterator place;
    bool dirty = false;
  };
  std::map<std::uint64_t, Held> held;
  std::int64_t fetched = 0;
  std::int64_t written = 0;

  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t key = (random() % 9000) * 4097 + 17;
    const bool store = random() % 3 == 0;
    auto found = held.find(key);
    if (found == held.end()) {
      order.push_front(key);
      found = held.emplace(key, Held{order.begin()}).first;
      if (!store) fetched += granule;
    } else {
      order.splice(order.begin(), order, found->second.place);
    }
    found->second.dirty = found->second.dirty || store;
    if (held.size() > capacity) {
      if (held.at(order.back()).dirty) written += granule;
      held.erase(order.back());
      order.pop_back();
    }
    if (store) {
      cache.store(key, 1, granule);
    } else {
      cache.load(key, 1, granule);
    }
  }
  EXPECT_EQ(cache.fetched_bytes(), fetched);
  EXPECT_EQ(cache.written_bytes(), written);
}

}  // namespace
}  // namespace attnscope
