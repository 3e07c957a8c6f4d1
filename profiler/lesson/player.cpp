// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/player.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "profiler/plan/cancel_token.h"

namespace attnscope::analysis::lesson {
namespace {

/// Rows that a step loads from a matrix.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;  ///< 0 if none
  std::int64_t instance = 0;

  void take(const TileAccess& access) {
    instance = access.instance;
    begin = end == 0 ? access.row : std::min(begin, access.row);
    end = std::max(end, access.row + access.rows);
  }
};

/// Returns the number of steps of all blocks; stops counting above `most`.
std::int64_t count_steps(const AttentionPlan& plan, std::int64_t most) {
  std::int64_t sum = 0;
  for (const KernelLaunch& launch : plan.launches) {
    if (launch.setup) continue;
    for (std::int64_t block = 0; block < launch.program->blocks() && sum <= most; ++block) {
      sum += std::max<std::int64_t>(1, launch.program->steps(block));
    }
  }
  return sum;
}

}  // namespace

/// Records the simulator's accesses as frames. The simulator does not report steps without accesses; they are inserted
/// before the block's next step or at the end of the launch.
class TilePlayer::Recorder {
 public:
  Recorder(TilePlayer& player, const std::vector<const KernelLaunch*>& launches)
      : player_(player), launches_(launches) {}

  void take(const SimulatedAccess& played) {
    while (launches_[launch_] != &played.launch) end_launch();
    fresh_ = fresh_ || played.round != round_;
    round_ = played.round;
    std::int64_t& next = next_[played.block];
    while (next <= played.step) begin(played.block, next++);
    player_.frames_.back().accesses.push_back(
        {played.access, played.l2_bytes, played.dram_read_bytes, played.dram_write_bytes});
  }

  void finish() {
    while (launch_ < launches_.size()) end_launch();
    for (std::size_t i = 0; i < player_.rounds_.size(); ++i) {
      const bool last = i + 1 == player_.rounds_.size();
      player_.rounds_[i].last = last ? player_.frames_.size() : player_.rounds_[i + 1].first;
    }
  }

 private:
  void begin(std::int64_t block, std::int64_t step) {
    if (fresh_) player_.rounds_.push_back({.launch = launch_, .first = player_.frames_.size()});
    fresh_ = false;
    player_.frames_.push_back({.launch = launch_, .block = block, .step = step});
  }
  void end_launch() {
    const TileProgram& program = *launches_[launch_]->program;
    for (std::int64_t block = 0; block < program.blocks(); ++block) {
      for (std::int64_t& next = next_[block]; next < program.steps(block);) begin(block, next++);
    }
    next_.clear();
    fresh_ = true;
    ++launch_;
  }

  TilePlayer& player_;
  const std::vector<const KernelLaunch*>& launches_;
  std::size_t launch_ = 0;
  std::int64_t round_ = 0;
  bool fresh_ = true;  ///< the next step starts a round
  std::map<std::int64_t, std::int64_t> next_;
};

Traffic Tally::sm_l2() const {
  Traffic sum;
  for (const Traffic& traffic : by_tensor) sum += traffic;
  return sum;
}

Result<TilePlayer, Message> TilePlayer::make(const Algorithm& algorithm, const AttentionProblem& problem,
                                             const Config& config, const DeviceLimits& device,
                                             const PlayerOptions& options) {
  if (const std::optional<Refusal> refusal = algorithm.refusal(problem, config, device)) {
    return Failure{refusal->reason};
  }
  const AttentionPlan plan = algorithm.plan(problem, config, device);
  if (count_steps(plan, options.most_frames) > options.most_frames)
    return Failure{make_message("too many steps to replay: more than {} (use a shorter N or larger tiles)",
                                grouped(options.most_frames))};

  TilePlayer player;
  player.problem_ = problem;
  player.config_ = config;
  std::vector<const KernelLaunch*> launches;
  for (const KernelLaunch& launch : plan.launches) {
    if (launch.setup) continue;
    player.kernels_.push_back(launch);
    launches.push_back(&launch);
  }
  DeviceLimits player_device = device;
  if (options.sms > 0) player_device.sm_count = options.sms;
  if (options.l2_bytes > 0) player_device.l2_bytes = options.l2_bytes;
  Recorder recorder(player, launches);
  const CancelToken never;
  auto simulated = simulate_traffic(plan, player_device,
                                    {.max_touches = std::numeric_limits<std::int64_t>::max(),
                                     .observe = [&](const SimulatedAccess& played) { recorder.take(played); }},
                                    never);
  recorder.finish();
  player.simulated_ = std::move(simulated).value();
  player.add_tallies();
  return player;
}

void TilePlayer::add_tallies() {
  Tally tally;
  for (std::size_t index = 0; index < frames_.size(); ++index) {
    Frame& frame = frames_[index];
    for (const FrameAccess& each : frame.accesses) {
      Traffic& traffic = tally.by_tensor.at(static_cast<std::size_t>(each.access.tensor));
      const bool load = each.access.access == Access::load;
      (load ? traffic.l2_to_sm_bytes : traffic.sm_to_l2_bytes) += each.access.moved_bytes();
      if (load) tally.l2_hit_bytes += each.l2_bytes;
      tally.dram_read_bytes += each.dram_read_bytes;
      tally.dram_write_bytes += each.dram_write_bytes;
    }
    // Dirty lines are written back before the next launch, as counters include them.
    const bool last = index + 1 == frames_.size() || frames_[index + 1].launch != frame.launch;
    if (last) tally.dram_write_bytes += std::llround(simulated_[frame.launch].dram_flush_bytes);
    frame.so_far = tally;
  }
}

std::vector<std::optional<TouchedPairs>> TilePlayer::touched_pairs() const {
  struct Loaded {
    RowRange q;
    RowRange k;
    PairFinder pairs;
  };
  std::map<std::pair<std::size_t, std::int64_t>, Loaded> loaded;  // last loaded rows by block
  std::vector<std::optional<TouchedPairs>> all;
  for (const Frame& frame : frames_) {
    Loaded now;
    for (const auto& [access, l2_bytes, read, written] : frame.accesses) {
      if (access.access == Access::load && access.tensor == Tensor::q) {
        now.q.take(access);
      } else if (access.access == Access::load && access.tensor == Tensor::k) {
        now.k.take(access);
      }
    }
    Loaded& last = loaded[{frame.launch, frame.block}];
    if (now.q.end > 0) last.q = now.q;
    if (now.k.end > 0) last.k = now.k;
    const RowRange& q = last.q;
    const RowRange& k = last.k;
    all.push_back(last.pairs.step(now.q.end > 0, now.k.end > 0)
                      ? std::optional(TouchedPairs{q.begin, q.end - q.begin, k.begin, k.end - k.begin, q.instance})
                      : std::nullopt);
  }
  return all;
}

Tally TilePlayer::closed_form() const {
  Tally tally;
  for (const KernelModel& kernel : kernels_) {
    for (const OperandTraffic& operand : kernel.operands) {
      tally.by_tensor.at(static_cast<std::size_t>(operand.tensor)) += operand.traffic;
    }
  }
  return tally;
}

}  // namespace attnscope::analysis::lesson
