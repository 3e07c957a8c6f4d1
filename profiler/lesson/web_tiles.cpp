// SPDX-License-Identifier: Apache-2.0
// JSON of tile programs by round.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/player.h"
#include "profiler/lesson/player_settings.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// Maximum number of frames; larger pages load slowly.
constexpr std::int64_t max_page_frames = 4096;

/// Matrices in order of first access, with the extents of one head.
class Matrices {
 public:
  /// Row with heads stacked vertically. Call only after all accesses were passed to place_of().
  [[nodiscard]] std::int64_t row_of(const TileAccess& access) {
    return access.instance * extents_[place_of(access)].first + access.row;
  }
  std::size_t place_of(const TileAccess& access) {
    const auto found = std::ranges::find(tensors_, access.tensor);
    const auto place = static_cast<std::size_t>(found - tensors_.begin());
    if (found == tensors_.end()) {
      tensors_.push_back(access.tensor);
      extents_.emplace_back(0, 0);
    }
    extents_[place].first = std::max(extents_[place].first, access.row + access.rows);
    extents_[place].second = std::max(extents_[place].second, access.col + access.cols);
    return place;
  }
  [[nodiscard]] json to_json() const {
    json all = json::array();
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      all.push_back({{"name", to_string(tensors_[i])}, {"rows", extents_[i].first}, {"cols", extents_[i].second}});
    }
    return all;
  }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::int64_t, std::int64_t>> extents_;
};

/// Returns 0 for an L2 hit, 1 for DRAM, 2 for a store, 3 for a reduction.
int kind_of(const FrameAccess& access) {
  if (access.access.access == Access::store) return 2;
  if (access.access.access == Access::reduce) return 3;
  return access.hit() ? 0 : 1;
}

json tally_json(const Tally& tally, const std::vector<Tensor>& tensors) {
  json all = json::array();
  for (const Tensor tensor : tensors) {
    all.push_back(tally.of(tensor).l2_to_sm_bytes);
    all.push_back(tally.of(tensor).sm_to_l2_bytes);
  }
  return all;
}

/// Returns the accesses of one round. Blocks that load the same tile share one entry, which counts as DRAM if any did.
json round_json(const TilePlayer& player, const Round& round, Matrices& matrices) {
  using Place = std::tuple<std::size_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;
  std::map<Place, int> accesses;
  std::set<std::int64_t> blocks;
  for (std::size_t i = round.first; i < round.last; ++i) {
    const Frame& frame = player.frames()[i];
    blocks.insert(frame.block);
    for (const FrameAccess& each : frame.accesses) {
      const TileAccess& a = each.access;
      const int kind = kind_of(each);
      int& known = accesses[{matrices.place_of(a), matrices.row_of(a), a.rows, a.col, a.cols, kind > 1}];
      known = std::max(known, kind);
    }
  }
  json moved = json::array();
  for (const auto& [place, kind] : accesses) {
    const auto& [matrix, row, rows, col, cols, written] = place;
    moved.push_back({matrix, row, rows, col, cols, kind});
  }
  const Tally& tally = player.frames()[round.last - 1].so_far;
  return {{"k", round.launch},
          {"b", blocks.size()},
          {"a", moved},
          {"t", tally_json(tally, matrices.tensors())},
          {"d", {tally.l2_hit_bytes, tally.dram_read_bytes, tally.dram_write_bytes}}};
}

json kernels_json(const TilePlayer& player) {
  json kernels = json::array();
  for (const KernelModel& kernel : player.kernels()) {
    json parts = json::array();
    for (const OnChipPart& part : kernel.on_chip) {
      parts.push_back({{"name", part.name}, {"bytes", part.bytes}});
    }
    kernels.push_back({{"name", kernel.name}, {"parts", parts}});
  }
  return kernels;
}

json player_json(const TilePlayer& player, const LessonTexts& texts, const Algorithm& algorithm,
                 const std::string& choice) {
  Matrices matrices;
  for (const Frame& frame : player.frames()) {
    for (const FrameAccess& each : frame.accesses) matrices.place_of(each.access);
  }
  json frames = json::array();
  for (const Round& round : player.rounds()) frames.push_back(round_json(player, round, matrices));
  return {{"title", texts.title_of(algorithm)},
          {"mask", choice},
          {"problem", fmt::format("{}, {} x {}", texts.translated(describe_shape(player.problem())),
                                  player.config().tile.br, player.config().tile.bc)},
          {"heads", player.problem().instances()},
          {"matrices", matrices.to_json()},
          {"kernels", kernels_json(player)},
          {"frames", frames},
          {"closed", tally_json(player.closed_form(), matrices.tensors())}};
}

}  // namespace

PairRounds pair_rounds(const TilePlayer& player) {
  const auto touched = player.touched_pairs();
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  for (const auto& each : touched) {
    if (!each) continue;
    rows = std::max(rows, each->q_rows);
    cols = std::max(cols, each->k_rows);
  }
  PairRounds all;
  all.rounds.resize(player.rounds().size());
  if (rows == 0 || cols == 0) return all;
  const auto tiles = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
  all.rows = tiles(player.problem().n_q, rows);
  all.cols = tiles(player.problem().n_k, cols);
  for (std::size_t i = 0; i < player.rounds().size(); ++i) {
    for (std::size_t frame = player.rounds()[i].first; frame < player.rounds()[i].last; ++frame) {
      const auto& now = touched[frame];
      if (!now) continue;
      const std::int64_t top = now->q / rows;
      const std::int64_t left = now->k / cols;
      all.rounds[i].push_back({now->head * all.rows + top, left, tiles(now->q + now->q_rows, rows) - top,
                               tiles(now->k + now->k_rows, cols) - left});
    }
  }
  return all;
}

std::string player_frames_json(const LessonTexts& texts, const PlayerSettings& player_settings,
                               const Evidence& evidence) {
  json all = json::array();
  for (const Algorithm* algorithm : player_settings.algorithms) {
    const auto play = [&](const Mask& mask, const PlayerOverride& choice) {
      const auto player = make_player(player_settings, evidence, *algorithm, mask, max_page_frames, choice);
      if (!player) return;
      std::string label = mask == Mask::none ? texts.label_text("no_mask") : texts.translated(to_string(mask));
      if (!choice.label.empty()) label += ", " + texts.translated(choice.label);
      json played = player_json(*player, texts, *algorithm, label);
      const PairRounds pairs = pair_rounds(*player);
      if (pairs.rows > 0) played["pairs"] = {pairs.rows, pairs.cols};
      for (std::size_t i = 0; i < pairs.rounds.size(); ++i) {
        if (!pairs.rounds[i].empty()) played["frames"][i]["p"] = pairs.rounds[i];
      }
      if (!uses_requested_tile(*player, choice)) played["own"] = true;
      if (uses_shorter_n(player_settings, *player, choice)) played["shorter"] = true;
      all.push_back(std::move(played));
    };
    for (const Mask& mask : player_settings.masks) play(mask, {});
    for (const PlayerOverride& choice : player_settings.also) play(player_settings.masks.front(), choice);
  }
  return all.dump();
}

}  // namespace attnscope::analysis::lesson
