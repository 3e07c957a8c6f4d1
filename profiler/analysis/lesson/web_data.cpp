// SPDX-License-Identifier: Apache-2.0
// What the browser's script shows, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "profiler/analysis/lesson/faulty_program.h"
#include "profiler/analysis/lesson/hierarchy_flow.h"
#include "profiler/analysis/lesson/pictures.h"
#include "profiler/analysis/lesson/player.h"
#include "profiler/analysis/lesson/playing.h"
#include "profiler/analysis/lesson/terms.h"
#include "profiler/analysis/lesson/web.h"

namespace attnscope::analysis::lesson {
namespace {

using nlohmann::json;

/// More frames than this make a page slow to load: a shorter N is played then.
constexpr std::size_t most_played = 1500;

/// Six digits are enough to draw; what is no number is null.
json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}
json rounded(const std::vector<double>& values) {
  json all = json::array();
  for (const double value : values) all.push_back(rounded(value));
  return all;
}

/// Matrices by the order in which they first come, with their extents.
class Matrices {
 public:
  /// Heads lie one below the other: extents have to be known before rows are.
  [[nodiscard]] std::int64_t row_of(const TileAccess& access) {
    return access.instance * extents_[place_of(access)].first + access.row;
  }
  std::size_t place_of(const TileAccess& access) {
    const auto found = std::ranges::find(tensors_, access.tensor);
    const auto place = static_cast<std::size_t>(found - tensors_.begin());
    if (found == tensors_.end()) {
      tensors_.push_back(access.tensor);
      extents_.emplace_back(0, 0);
      heads_.push_back(1);
    }
    extents_[place].first = std::max(extents_[place].first, access.row + access.rows);
    extents_[place].second = std::max(extents_[place].second, access.col + access.cols);
    heads_[place] = std::max(heads_[place], access.instance + 1);
    return place;
  }
  [[nodiscard]] json to_json() const {
    json all = json::array();
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      all.push_back(
          {{"name", to_string(tensors_[i])}, {"rows", heads_[i] * extents_[i].first}, {"cols", extents_[i].second}});
    }
    return all;
  }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::int64_t, std::int64_t>> extents_;
  std::vector<std::int64_t> heads_;
};

/// 0 found in L2, 1 from DRAM, 2 stored, 3 added.
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

json frame_json(const Frame& frame, Matrices& matrices) {
  json accesses = json::array();
  for (const FrameAccess& each : frame.accesses) {
    const TileAccess& a = each.access;
    accesses.push_back({matrices.place_of(a), matrices.row_of(a), a.rows, a.col, a.cols, kind_of(each)});
  }
  json done = json::array();
  for (const Computation& computation : frame.computations) done.push_back(to_string(computation.phase));
  json chip = json::array();
  for (const LivePart& part : frame.on_chip) {
    std::string label;
    if (part.tile) {
      label =
          fmt::format("{} {}–{}", to_string(part.tile->tensor), part.tile->row, part.tile->row + part.tile->rows - 1);
    }
    chip.push_back({part.fill.bytes, label});
  }
  return {{"k", frame.launch}, {"b", frame.block}, {"s", frame.step}, {"n", frame.steps},
          {"a", accesses},     {"c", done},        {"m", chip}};
}

json kernels_json(const TilePlayer& player) {
  json kernels = json::array();
  for (const KernelModel& kernel : player.kernels()) {
    json parts = json::array();
    for (const OnChipPart& part : kernel.on_chip) {
      parts.push_back(
          {{"name", part.name}, {"bytes", part.bytes}, {"registers", part.place == OnChipPlace::registers}});
    }
    kernels.push_back({{"name", kernel.name}, {"parts", parts}});
  }
  return kernels;
}

/// The counters of the longest point of the algorithm and mask, beside its closed form.
json counter_json(const LessonTexts& texts, const Evidence& evidence, const TilePlayer& player,
                  std::string_view algorithm) {
  const auto longest = longest_counted(evidence, algorithm, player.problem().pass, player.problem().mask);
  if (!longest) return nullptr;
  return {{"point", translated(texts, describe(evidence.points.spec(longest->row)))},
          {"counted", longest->counted},
          {"closed", longest->closed_form},
          {"origin", to_string(evidence.points.values(metric_key::l2_sm_bytes).provenance(longest->row))}};
}

json player_json(const TilePlayer& player, const LessonTexts& texts, const Evidence& evidence,
                 const Algorithm& algorithm, const std::string& choice) {
  Matrices matrices;
  for (std::size_t i = 0; i < player.frames(); ++i) {
    for (const TileAccess& access : player.accesses(i)) matrices.place_of(access);
  }
  json frames = json::array();
  for (std::size_t i = 0; i < player.frames(); ++i) frames.push_back(frame_json(player.frame(i), matrices));
  for (std::size_t i = 0; i < player.frames(); ++i) {
    const Tally tally = player.frame(i).so_far;
    frames[i]["t"] = tally_json(tally, matrices.tensors());
    frames[i]["d"] = {tally.l2_hit_bytes, tally.dram_read_bytes, tally.dram_write_bytes};
  }
  return {{"title", title_of(texts, algorithm)},
          {"mask", choice},
          {"problem", fmt::format("{}, {} x {}", translated(texts, describe_shape(player.problem())),
                                  player.config().tile.br, player.config().tile.bc)},
          {"orders", load_orders(texts, player)},
          {"matrices", matrices.to_json()},
          {"kernels", kernels_json(player)},
          {"frames", frames},
          {"closed", tally_json(player.closed_form(), matrices.tensors())},
          {"counter", counter_json(texts, evidence, player, algorithm.name())}};
}

/// Tiles of S, and of every frame which of them it works on: rows and columns of tiles, heads one below the other.
void add_pairs(json& played, const TilePlayer& player) {
  const auto touched = player.touched_pairs();
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t heads = 0;
  for (const auto& each : touched) {
    if (!each) continue;
    rows = std::max(rows, each->q_rows);
    cols = std::max(cols, each->k_rows);
    heads = std::max(heads, each->head + 1);
  }
  if (heads == 0) return;
  const auto tiles = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
  const std::int64_t of_head = tiles(player.problem().n_q, rows);
  played["pairs"] = {heads * of_head, tiles(player.problem().n_k, cols)};
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (const auto& now = touched[i]) {
      const std::int64_t top = now->q / rows;
      const std::int64_t left = now->k / cols;
      played["frames"][i]["p"] = {now->head * of_head + top, left, tiles(now->q + now->q_rows, rows) - top,
                                  tiles(now->k + now->k_rows, cols) - left};
    }
  }
}

}  // namespace

std::string played_json(const LessonTexts& texts, const Front& front, const Evidence& evidence) {
  json all = json::array();
  const std::vector<AlsoPlayed> others = also_played(front, evidence.registry);
  for (const Algorithm* algorithm : played_algorithms(front, evidence.registry)) {
    const auto play = [&](const Mask& mask, const AlsoPlayed& also) {
      const auto player = player_of(front, evidence, *algorithm, mask, most_played, also.choice);
      if (!player) return;
      std::string label = mask == Mask::none ? texts.word("no_mask") : translated(texts, mask_title(mask));
      if (!also.label.empty()) label += ", " + translated(texts, also.label);
      json played = player_json(*player, texts, evidence, *algorithm, label);
      add_pairs(played, *player);
      if (!plays_what_was_chosen(*player, also.choice)) played["own"] = true;
      if (plays_a_shorter_n(front, *player, also.choice)) played["shorter"] = true;
      all.push_back(std::move(played));
    };
    for (const Mask& mask : played_masks(front)) play(mask, {});
    for (const AlsoPlayed& also : others) play(played_masks(front).front(), also);
  }
  return all.dump();
}

std::string flow_json(const LessonTexts& texts, const Evidence& evidence) {
  const Hierarchy hierarchy = hierarchy_of(evidence.gpu, evidence.ceilings);
  const HierarchyFlow flow = hierarchy_flow(hierarchy, evidence.gpu.sm_count);
  json lanes = json::array();
  for (const FlowLane& lane : flow.lanes) {
    const HierarchyRung& rung = hierarchy.at(lane.rung);
    lanes.push_back({{"name", rung_title(texts, lane.rung)},
                     {"size", rung.bytes ? format_figure(rung.bytes->value, Unit::bytes) : std::string()},
                     {"bandwidth", reached_text(texts, rung, std::nullopt)},
                     {"pipe", rounded(lane.pipe)},
                     {"square", rounded(lane.square)}});
  }
  json frames = json::array();
  for (const FlowFrame& frame : flow.frames) {
    json trips = json::array();
    json labels = json::array();
    for (const std::optional<double>& each : frame.trips) {
      trips.push_back(each ? rounded(*each) : json());
      labels.push_back(each ? trips_text(texts, each) : texts.word("latency") + ": " + texts.word("no_data"));
    }
    frames.push_back({{"clock", clock_text(texts, flow, frame)}, {"trips", trips}, {"labels", labels}});
  }
  json loads = json::array();
  for (const FlowLoad& load : flow.loads) {
    json rungs = json::array();
    for (std::size_t i = 0; i < load.rungs.size(); ++i) {
      rungs.push_back({{"share", load.rungs[i] ? rounded(load.rungs[i]->share) : json()},
                       {"label", reached_text(texts, hierarchy.rungs[i], load.rungs[i])}});
    }
    loads.push_back({{"label", load_text(texts, load)}, {"rungs", rungs}});
  }
  return json{
      {"lanes", lanes}, {"frames", frames}, {"loads", loads}, {"first", flow.first_load}, {"stretch", flow.stretch(1)}}
      .dump();
}

std::string softmax_json() {
  json all = json::array();
  for (const SoftmaxExample& example : softmax_examples()) {
    all.push_back({{"name", example.name},
                   {"columns", example.rows.columns},
                   {"d", example.rows.d},
                   {"scores", example.rows.scores},
                   {"values", example.rows.values},
                   {"hidden", example.rows.hidden},
                   {"blocks", example.blocks}});
  }
  return all.dump();
}

std::string program_json() {
  const SoftmaxRows rows = softmax_examples().front().rows;
  json lines = json::array();
  json runs = json::array();
  const auto add = [&](const std::set<std::string_view>& rewritten) {
    const ProgramRun run = run_program(rows, 2, rewritten);
    json moments = json::array();
    for (const ProgramMoment& moment : run.moments) {
      moments.push_back({moment.row, moment.block, moment.line, rounded(moment.value)});
    }
    runs.push_back({{"error", rounded(run.largest_error)}, {"right", run.largest_error < 1e-9}, {"moments", moments}});
  };
  add({});
  for (const ProgramLine& line : faulty_program()) {
    lines.push_back({{"code", line.code}, {"other", line.other}, {"result", line.result}});
    add({line.id});
  }
  return json{{"lines", lines}, {"runs", runs}}.dump();
}

std::string doubled_json(const LessonTexts& texts, const Evidence& evidence) {
  json all = json::array();
  for (const Prediction& each : predictions(evidence)) {
    all.push_back({{"doubled", to_string(each.doubled)},
                   {"name", each.name},
                   {"algorithm", prediction_title(texts, evidence, each)},
                   {"from", translated(texts, describe(evidence.points.spec(each.from)))},
                   {"outside", !each.within_theorem},
                   {"model", rounded(each.model)},
                   {"found", rounded(each.found)},
                   {"origin", each.origin}});
  }
  return all.dump();
}

}  // namespace attnscope::analysis::lesson
