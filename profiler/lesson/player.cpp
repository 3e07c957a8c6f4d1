// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/player.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiler/plan/cancel_token.h"

namespace attnscope::analysis::lesson {
namespace {

/// Rows of a matrix that a step loads.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;  ///< 0: none
  std::int64_t instance = 0;

  void take(const TileAccess& access) {
    instance = access.instance;
    begin = end == 0 ? access.row : std::min(begin, access.row);
    end = std::max(end, access.row + access.rows);
  }
};

/// Frames between two key frames, and steps of a block between two states of its memory.
constexpr std::size_t key_distance = 64;

/// Steps of all blocks; no more than one above `most`, whatever there are.
std::int64_t steps_up_to(const AttentionPlan& plan, std::int64_t most) {
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

/// Takes down what the simulator plays. A step without any access is not seen there: it stands before the block's next
/// one, or at the launch's end.
class TilePlayer::Recorder {
 public:
  Recorder(TilePlayer& player, const AttentionPlan& plan) : player_(player) {
    for (const KernelLaunch& launch : plan.launches) {
      if (!launch.setup) launches_.push_back(&launch);
    }
  }

  void take(const PlayedAccess& played) {
    while (launches_[launch_] != &played.launch) end_launch();
    fresh_ = fresh_ || played.round != round_;
    round_ = played.round;
    std::int64_t& next = next_[played.block];
    while (next <= played.step) begin(played.block, next++);
    player_.results_.push_back({played.l2_bytes, played.dram_read_bytes, played.dram_write_bytes});
  }

  void finish() {
    while (launch_ < launches_.size()) end_launch();
    for (std::size_t i = 0; i < player_.rounds_.size(); ++i) {
      const bool last = i + 1 == player_.rounds_.size();
      player_.rounds_[i].last = last ? player_.moments_.size() : player_.rounds_[i + 1].first;
    }
  }

 private:
  void begin(std::int64_t block, std::int64_t step) {
    if (fresh_) player_.rounds_.push_back({.launch = launch_, .first = player_.moments_.size()});
    fresh_ = false;
    player_.moments_.push_back({.launch = static_cast<std::uint32_t>(launch_),
                                .first_result = static_cast<std::uint32_t>(player_.results_.size()),
                                .block = block,
                                .step = step});
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
  std::vector<const KernelLaunch*> launches_;
  std::size_t launch_ = 0;
  std::int64_t round_ = 0;
  bool fresh_ = true;  ///< the next step opens a round
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
  if (steps_up_to(plan, most_frames) > most_frames)
    return Failure{make_message("more than {} steps: too long to step through; take a shorter N or larger tiles",
                                grouped(most_frames))};

  TilePlayer player;
  player.problem_ = problem;
  player.config_ = config;
  for (const KernelLaunch& launch : plan.launches) {
    if (launch.setup) continue;
    player.kernels_.push_back(launch);
    player.programs_.push_back(launch.program);
  }
  DeviceLimits played_on = device;
  if (options.sms > 0) played_on.sm_count = options.sms;
  if (options.l2_bytes > 0) played_on.l2_bytes = options.l2_bytes;
  Recorder recorder(player, plan);
  const CancelToken never;
  auto simulated = simulate_traffic(plan, played_on,
                                    {.cache = options.cache,
                                     .max_touches = std::numeric_limits<std::int64_t>::max(),
                                     .observe = [&](const PlayedAccess& played) { recorder.take(played); }},
                                    never);
  recorder.finish();
  player.simulated_ = std::move(simulated).value();
  player.index_tallies();
  return player;
}

void TilePlayer::index_tallies() {
  std::vector<TileAccess> scratch;
  for (std::size_t index = 0; index < moments_.size(); ++index) {
    if (index % key_distance == 0) keys_.push_back(total_);
    add(total_, index, scratch);
  }
}

void TilePlayer::add(Tally& tally, std::size_t index, std::vector<TileAccess>& scratch) const {
  const Moment& moment = moments_[index];
  scratch.clear();
  programs_[moment.launch]->visit(moment.block, moment.step, scratch);
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    const TileAccess& access = scratch[i];
    const AccessResult& result = results_[moment.first_result + i];
    Traffic& traffic = tally.by_tensor.at(static_cast<std::size_t>(access.tensor));
    const bool load = access.access == Access::load;
    (load ? traffic.l2_to_sm_bytes : traffic.sm_to_l2_bytes) += access.moved_bytes();
    if (load) tally.l2_hit_bytes += result.l2;
    tally.dram_read_bytes += result.read;
    tally.dram_write_bytes += result.write;
  }
  // As counters have a launch: what it left dirty in L2 is written back before the next one.
  const bool last = index + 1 == moments_.size() || moments_[index + 1].launch != moment.launch;
  if (last) tally.dram_write_bytes += std::llround(simulated_[moment.launch].dram_flush_bytes);
}

Frame TilePlayer::frame(std::size_t index) const {
  const Moment& moment = moments_[index];
  const TileProgram& program = *programs_[moment.launch];
  Frame frame{.index = index,
              .launch = moment.launch,
              .block = moment.block,
              .step = moment.step,
              .steps = program.steps(moment.block),
              .so_far = keys_[index / key_distance]};
  std::vector<TileAccess> accesses;
  for (std::size_t each = index / key_distance * key_distance; each <= index; ++each) add(frame.so_far, each, accesses);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const AccessResult& result = results_[moment.first_result + i];
    frame.accesses.push_back({accesses[i], result.l2, result.read, result.write});
  }
  program.compute(moment.block, moment.step, frame.computations);
  frame.on_chip = chip_in(moment.launch, moment.block, moment.step);
  return frame;
}

std::vector<TileAccess> TilePlayer::accesses(std::size_t index) const {
  std::vector<TileAccess> all;
  programs_[moments_[index].launch]->visit(moments_[index].block, moments_[index].step, all);
  return all;
}

std::vector<std::optional<TouchedPairs>> TilePlayer::touched_pairs() const {
  struct Loaded {
    RowRange q;
    RowRange k;
  };
  std::map<std::pair<std::size_t, std::int64_t>, Loaded> loaded;  // what came last, of every block
  std::vector<std::optional<TouchedPairs>> all(moments_.size());
  std::vector<TileAccess> accesses;
  std::vector<Computation> computations;
  for (std::size_t index = 0; index < moments_.size(); ++index) {
    const Moment& moment = moments_[index];
    accesses.clear();
    computations.clear();
    programs_[moment.launch]->visit(moment.block, moment.step, accesses);
    programs_[moment.launch]->compute(moment.block, moment.step, computations);
    Loaded now;
    for (const TileAccess& access : accesses) {
      if (access.access == Access::load && access.tensor == Tensor::q) {
        now.q.take(access);
      } else if (access.access == Access::load && access.tensor == Tensor::k) {
        now.k.take(access);
      }
    }
    Loaded& last = loaded[{moment.launch, moment.block}];
    if (now.q.end > 0) last.q = now.q;
    if (now.k.end > 0) last.k = now.k;
    if (std::ranges::none_of(computations, makes_pairs, &Computation::phase) || last.q.end == 0 || last.k.end == 0)
      continue;
    all[index] =
        TouchedPairs{last.q.begin, last.q.end - last.q.begin, last.k.begin, last.k.end - last.k.begin, last.q.instance};
  }
  return all;
}

void TilePlayer::play(Chip& chip, const TileProgram& program, std::int64_t block, std::int64_t step,
                      std::vector<LivePart>* fullest) {
  for (const StepEvent& event : events(program, block, step)) {
    chip.state.play(event);
    const auto note = [&](std::uint8_t part, const std::optional<TileAccess>& tile, Phase phase) {
      if (part >= chip.parts.size()) return;
      chip.parts[part].tile = tile;
      chip.parts[part].phase = phase;
    };
    if (const auto* access = std::get_if<TileAccess>(&event)) {
      if (access->access == Access::load) note(access->on_chip, *access, access->phase);
    } else if (const auto* computation = std::get_if<Computation>(&event)) {
      note(computation->on_chip, std::nullopt, computation->phase);
    }
    for (std::size_t i = 0; i < chip.parts.size(); ++i) {
      LivePart& part = chip.parts[i];
      part.fill = chip.state.fills()[i];
      if (part.fill.bytes == 0) part = {};
      if (fullest != nullptr && part.fill.bytes > 0 && part.fill.bytes >= (*fullest)[i].fill.bytes)
        (*fullest)[i] = part;
    }
  }
}

std::vector<LivePart> TilePlayer::chip_in(std::size_t launch, std::int64_t block, std::int64_t step) const {
  const TileProgram& program = *programs_[launch];
  std::vector<Chip>& keys = chips_[{launch, block}];
  if (keys.empty()) {
    const std::vector<OnChipPart>& parts = kernels_[launch].on_chip;
    keys.push_back({OnChipState(parts), std::vector<LivePart>(parts.size())});
  }
  const auto wanted = static_cast<std::size_t>(step) / key_distance;
  while (keys.size() <= wanted) {
    Chip next = keys.back();
    const auto from = static_cast<std::int64_t>((keys.size() - 1) * key_distance);
    for (std::int64_t each = from; each < from + static_cast<std::int64_t>(key_distance); ++each) {
      play(next, program, block, each);
    }
    keys.push_back(std::move(next));
  }
  Chip chip = keys[wanted];
  for (auto each = static_cast<std::int64_t>(wanted * key_distance); each < step; ++each) {
    play(chip, program, block, each);
  }
  std::vector<LivePart> fullest = chip.parts;
  play(chip, program, block, step, &fullest);
  return fullest;
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

std::pair<std::size_t, std::size_t> TilePlayer::frames_of(std::size_t launch) const {
  const auto first = std::ranges::lower_bound(moments_, launch, {}, &Moment::launch);
  const auto last = std::ranges::upper_bound(moments_, launch, {}, &Moment::launch);
  return {static_cast<std::size_t>(first - moments_.begin()), static_cast<std::size_t>(last - moments_.begin())};
}

}  // namespace attnscope::analysis::lesson
