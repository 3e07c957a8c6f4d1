// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/block_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace attnscope {

void append(std::vector<BlockRun>& runs, BlockRun run) {
  if (run.blocks == 0) return;
  if (!runs.empty() && runs.back().has_equal_cost(run)) {
    runs.back().blocks += run.blocks;
  } else {
    runs.push_back(run);
  }
}

namespace {

/// A slot with the block that it runs.
struct BusySlot {
  double end = 0;
  int place = 0;
  double cycles = 0;  ///< duration of the block with all slots of the SM occupied
  const BlockRun* block = nullptr;
};

/// Heap order: the slot that becomes free first is on top.
bool ends_later(const BusySlot& a, const BusySlot& b) {
  return std::pair(a.end, a.place) > std::pair(b.end, b.place);
}

std::int64_t blocks_of(const RepeatedRuns& turn) {
  std::int64_t blocks = 0;
  for (const BlockRun& run : turn.runs) blocks += run.blocks;
  return blocks;
}

/// Visits the blocks from `skipped` on, run by run.
template <class Visit>
void visit_runs(const BlockOrder& order, std::int64_t skipped, const Visit& visit) {
  for (const RepeatedRuns& turn : order) {
    const std::int64_t repeat_blocks = blocks_of(turn);
    const std::int64_t turns = std::min(turn.times, repeat_blocks > 0 ? skipped / repeat_blocks : 0);
    skipped -= turns * repeat_blocks;
    for (std::int64_t time = turns; time < turn.times; ++time) {
      for (const BlockRun& run : turn.runs) {
        const std::int64_t omitted = std::min(run.blocks, skipped);
        skipped -= omitted;
        if (omitted < run.blocks) visit(run, run.blocks - omitted);
      }
    }
  }
}

struct Sums {
  double blocks = 0;
  double steps = 0;
  double rounds = 0;
  double mask_reads = 0;

  void add(const BlockRun& run, double times) {
    blocks += times;
    steps += times * run.steps;
    rounds += times * run.rounds;
    mask_reads += times * run.mask_reads;
  }
};

/// Total cycles of the first `skipped` blocks, computed from their mean.
double skipped_block_cycles(const BlockOrder& order, std::int64_t skipped, const BlockCycles& cycles, double places) {
  if (skipped == 0) return 0;
  Sums all;
  for (const RepeatedRuns& turn : order) {
    for (const BlockRun& run : turn.runs) all.add(run, static_cast<double>(run.blocks * turn.times));
  }
  Sums last;
  visit_runs(order, skipped,
             [&](const BlockRun& run, std::int64_t blocks) { last.add(run, static_cast<double>(blocks)); });
  const auto first = static_cast<double>(skipped);
  return first * cycles({.blocks = skipped,
                         .steps = (all.steps - last.steps) / first,
                         .rounds = (all.rounds - last.rounds) / first,
                         .mask_reads = (all.mask_reads - last.mask_reads) / first},
                        places);
}

/// Cycles to finish the blocks of one SM after the last block of the launch has started.
double remaining_sm_cycles(std::span<const BusySlot* const> taken, double last_start, const BlockCycles& cycles) {
  struct Left {
    const BlockRun* block;
    double share;  ///< remaining share of the block
  };
  std::vector<Left> left;
  for (const BusySlot* each : taken) {
    if (each->end > last_start && each->cycles > 0)
      left.push_back({each->block, (each->end - last_start) / each->cycles});
  }
  double rest = 0;
  while (!left.empty()) {
    const auto at_once = static_cast<double>(left.size());
    double next = std::numeric_limits<double>::infinity();
    std::size_t ends = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double until = left[i].share * cycles(*left[i].block, at_once);
      if (until < next) {
        next = until;
        ends = i;
      }
    }
    rest += next;
    for (Left& each : left) each.share -= next / cycles(*each.block, at_once);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(ends));
    std::erase_if(left, [](const Left& each) { return each.share <= 1e-12; });
  }
  return rest;
}

/// Greedy assignment of blocks to slots: a heap ordered by end time once all slots are occupied.
class SlotQueue {
 public:
  SlotQueue(int sms, int of_sm, double begin)
      : sms_(sms), all_(static_cast<std::size_t>(sms) * static_cast<std::size_t>(of_sm)), last_start_(begin) {}

  void assign(const BlockRun& block, double cycles) {
    if (busy_.size() < all_) {
      busy_.push_back({last_start_ + cycles, static_cast<int>(busy_.size()), cycles, &block});
      if (busy_.size() == all_) std::ranges::make_heap(busy_, ends_later);
      return;
    }
    std::ranges::pop_heap(busy_, ends_later);
    BusySlot& place = busy_.back();
    last_start_ = place.end;
    place.end += cycles;
    place.cycles = cycles;
    place.block = &block;
    std::ranges::push_heap(busy_, ends_later);
  }

  [[nodiscard]] double end(const BlockCycles& cycles) const {
    std::vector<std::vector<const BusySlot*>> by_sm(static_cast<std::size_t>(sms_));
    for (const BusySlot& each : busy_) by_sm[static_cast<std::size_t>(each.place % sms_)].push_back(&each);
    double longest = 0;
    for (const auto& of_sm : by_sm) longest = std::max(longest, remaining_sm_cycles(of_sm, last_start_, cycles));
    return last_start_ + longest;
  }

 private:
  int sms_;
  std::size_t all_;
  double last_start_;  ///< start time of the latest block
  std::vector<BusySlot> busy_;
};

}  // namespace

ScheduledCycles scheduled_cycles(const BlockOrder& order, int sms, int places, const BlockCycles& cycles) {
  std::int64_t blocks = 0;
  for (const RepeatedRuns& turn : order) blocks += turn.times * blocks_of(turn);
  const std::int64_t skipped = std::max<std::int64_t>(0, blocks - min_listed_blocks);
  const double all_places = static_cast<double>(sms) * places;
  double sum = skipped_block_cycles(order, skipped, cycles, places);

  SlotQueue at_work(sms, places, std::round(sum / all_places));
  visit_runs(order, skipped, [&](const BlockRun& run, std::int64_t times) {
    // Rounded: which slot is free first must not depend on the last bit of a sum.
    const double each = std::round(cycles(run, places));
    sum += static_cast<double>(times) * each;
    for (std::int64_t i = 0; i < times; ++i) at_work.assign(run, each);
  });
  return {.all = at_work.end(cycles), .balanced = sum / all_places};
}

}  // namespace attnscope
