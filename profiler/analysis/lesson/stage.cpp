// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/lesson/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/registry.h"
#include "profiler/analysis/exploration.h"
#include "profiler/analysis/lesson/front_keys.h"
#include "profiler/analysis/lesson/ledger.h"
#include "profiler/analysis/tile_rule.h"

namespace attnscope::analysis::lesson {
namespace {

SoftmaxRows one_row(std::vector<double> scores, std::vector<double> values) {
  const std::size_t columns = scores.size();
  const std::size_t d = values.size() / columns;
  return SoftmaxRows{.rows = 1, .columns = columns, .d = d, .scores = std::move(scores), .values = std::move(values)};
}

}  // namespace

DeviceLimits newest_gpu(const PointTable& points) {
  DeviceLimits gpu = known_gpus().front();
  std::string newest;
  for (const Run& run : points.runs()) {
    if (run.provenance == Provenance::imported || run.started_at < newest) continue;
    newest = run.started_at;
    gpu = run.limits;
  }
  return gpu;
}

namespace {

std::int64_t asked_n(const Front& front, const StageChoice& choice) {
  return choice.n > 0 ? choice.n : whole_of(front, "play_n", 512);
}

/// The tile that was asked for, and the knobs that the algorithm states.
Config staged_config(const Front& front, const Algorithm& algorithm, const AttentionProblem& p, const DeviceLimits& gpu,
                     const StageChoice& choice) {
  Config config{
      {.br = static_cast<int>(whole_of(front, "play_br", 64)), .bc = static_cast<int>(whole_of(front, "play_bc", 64))},
      {}};
  for (const auto& [name, value] : choice.knobs) {
    const auto& stated = algorithm.facts().knobs;
    const auto knob = std::ranges::find(stated, name, &Knob::name);
    // The first of the words is what it does of itself, and is not kept.
    const bool own = knob == stated.end() || (!knob->words.empty() && KnobValue(knob->words.front()) == value);
    if (!own) config.knobs.set(name, value);
  }
  if (choice.m_elements > 0) {
    const std::int64_t bytes = choice.m_elements * bytes_per_element(p.dtype);
    if (const auto rule = tile_of_m(algorithm, p, config, gpu, bytes); rule && rule->config) config = *rule->config;
  }
  if (choice.br > 0) config.tile.br = choice.br;
  if (choice.bc > 0) config.tile.bc = choice.bc;
  return config;
}

}  // namespace

std::optional<TilePlayer> staged_player(const Front& front, const Evidence& evidence, const Algorithm& algorithm,
                                        const Mask& mask, std::size_t most, const StageChoice& choice) {
  AttentionProblem p{.mask = mask, .d = whole_of(front, "play_d", 64)};
  if (const auto pass = parse_pass(front.text("play_pass")); pass.ok()) p.pass = *pass;
  p.heads_q = p.heads_kv = choice.heads > 0 ? choice.heads : whole_of(front, "play_heads", 1);
  for (std::int64_t n = asked_n(front, choice); n >= 64; n /= 2) {
    p.n_k = n;
    p.n_q = algorithm.facts().decodes ? 1 : n;
    Config config = staged_config(front, algorithm, p, evidence.gpu, choice);
    if (algorithm.refusal(p, config, evidence.gpu)) config = algorithm.default_config(p, evidence.gpu);
    auto player = TilePlayer::make(algorithm, p, config, evidence.gpu, {.sms = 2, .l2_bytes = choice.l2_bytes});
    if (!player.ok()) return std::nullopt;
    if (player->frames() <= most) return std::move(player).value();
  }
  return std::nullopt;
}

std::vector<const Algorithm*> staged_algorithms(const Front& front, const Registry& registry) {
  std::vector<const Algorithm*> all;
  for (const std::string& name : front.words("play")) {
    if (const Algorithm* algorithm = registry.find(name)) all.push_back(algorithm);
  }
  return all;
}

std::vector<Mask> staged_masks(const Front& front) {
  std::vector<Mask> masks;
  for (const std::string& word : front.words("play_masks")) {
    if (const auto mask = parse_mask(word); mask.ok()) masks.push_back(*mask);
  }
  if (masks.empty()) masks.emplace_back(Mask::none);
  return masks;
}

std::vector<StagedKnob> staged_knobs(const Front& front, const Registry& registry) {
  constexpr std::int64_t most_offered = 64;
  std::vector<StagedKnob> all;
  const auto algorithms = staged_algorithms(front, registry);
  for (const std::string& name : front.words("play_knobs")) {
    for (const Algorithm* algorithm : algorithms) {
      const auto& knobs = algorithm->facts().knobs;
      const auto knob = std::ranges::find(knobs, name, &Knob::name);
      if (knob == knobs.end()) continue;
      StagedKnob staged{.knob = &*knob};
      for (const std::string& word : knob->words) staged.values.emplace_back(word);
      for (std::int64_t value = 1; value <= std::min(knob->largest, most_offered); value *= 2) {
        staged.values.emplace_back(value);
      }
      all.push_back(std::move(staged));
      break;
    }
  }
  return all;
}

namespace {

/// Takes "bc=128" into the choice; false for what nothing is called.
bool take_choice(std::string_view word, std::span<const StagedKnob> knobs, AlsoPlayed& also) {
  const std::size_t sign = word.find('=');
  if (sign == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, sign);
  const std::string text(word.substr(sign + 1));
  const bool digits = !text.empty() && text.size() < 8 && text.find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t number = digits ? std::stoll(text) : 0;
  std::string_view title = name;
  if (name == "n" && number > 0 && number <= longest_played) {
    also.choice.n = number;
    title = "N";
  } else if (name == "br" && number > 0) {
    also.choice.br = static_cast<int>(number);
    title = "Br";
  } else if (name == "bc" && number > 0) {
    also.choice.bc = static_cast<int>(number);
    title = "Bc";
  } else if (name == "m" && number > 0) {
    also.choice.m_elements = number;
    title = "M";
  } else if (name == "heads" && number > 0 && number <= most_played_heads) {
    also.choice.heads = static_cast<int>(number);
  } else {
    const auto staged = std::ranges::find_if(knobs, [&](const StagedKnob& each) { return each.knob->name == name; });
    if (staged == knobs.end()) return false;
    const KnobValue value = digits ? KnobValue(number) : KnobValue(text);
    if (digits ? number > staged->knob->largest : std::ranges::count(staged->knob->words, text) == 0) return false;
    also.choice.knobs.set(name, value);
  }
  also.said += fmt::format("{}{} {}", also.said.empty() ? "" : ", ", title, text);
  return true;
}

/// Of each word what it asks for, or nothing.
std::vector<std::pair<std::string, std::optional<AlsoPlayed>>> words_of_also(const Front& front,
                                                                             const Registry& registry) {
  const auto knobs = staged_knobs(front, registry);
  std::vector<std::pair<std::string, std::optional<AlsoPlayed>>> all;
  std::size_t read = 0;
  for (const std::string& words : front.words("play_also")) {
    AlsoPlayed also;
    bool good = read < most_also_played;
    for (std::size_t from = 0; good && from <= words.size();) {
      const std::size_t to = std::min(words.find(',', from), words.size());
      good = take_choice(std::string_view(words).substr(from, to - from), knobs, also);
      from = to + 1;
    }
    if (good) ++read;
    all.emplace_back(words, good ? std::optional(std::move(also)) : std::nullopt);
  }
  return all;
}

}  // namespace

std::vector<AlsoPlayed> also_played(const Front& front, const Registry& registry) {
  std::vector<AlsoPlayed> all;
  for (auto& [word, also] : words_of_also(front, registry)) {
    if (also) all.push_back(std::move(*also));
  }
  return all;
}

std::vector<std::string> unread_also(const Front& front, const Registry& registry) {
  std::vector<std::string> unread;
  for (auto& [word, also] : words_of_also(front, registry)) {
    if (!also) unread.push_back(std::move(word));
  }
  return unread;
}

bool plays_what_was_chosen(const TilePlayer& player, const StageChoice& choice) {
  const Config& config = player.config();
  return (choice.br <= 0 || config.tile.br == choice.br) && (choice.bc <= 0 || config.tile.bc == choice.bc);
}

bool plays_a_shorter_n(const Front& front, const TilePlayer& player, const StageChoice& choice) {
  return player.problem().n_k < asked_n(front, choice);
}

std::optional<Residual> longest_counted(const Evidence& evidence, std::string_view algorithm, Pass pass,
                                        const Mask& mask) {
  std::optional<Residual> longest;
  for (const Residual& each : residuals(evidence.points, evidence.rows)) {
    if (evidence.points.algorithm(each.row) != algorithm) continue;
    const AttentionProblem p = evidence.points.problem(each.row);
    if (p.mask != mask || p.pass != pass) continue;
    const auto rank = [&](Row row) {
      return std::pair(evidence.points.n_q(row) == evidence.points.n_k(row), evidence.points.n_k(row));
    };
    if (!longest || rank(each.row) > rank(longest->row)) longest = each;
  }
  return longest;
}

std::vector<SoftmaxExample> softmax_examples() {
  const std::vector<double> q{1, 0, 0, 1, 2, 1, 1, 2};
  const std::vector<double> k{1, 1, 0, 2, 1, 0, 2, 1};
  SoftmaxRows masked = one_row({1, 2, 900, 3}, {1, 2, 30, 4});
  masked.hidden = {false, false, true, false};
  return {{"4 x 2", rows_of(q, k, q, 2, 1), {2, 1, 4}},
          {"[2, 1, 0]", one_row({2, 1, 0}, {10, 0, -10}), {2, 1, 3}},
          {"[3.01, 0.09, 2.48, 1.95]", one_row({3.01, 0.09, 2.48, 1.95}, {1, 0, 0, 0}), {2, 1, 4}},
          {"[-0.3, 0.2, 0.5, 0.7, 0.1, 0.8]", one_row({-0.3, 0.2, 0.5, 0.7, 0.1, 0.8}, {1, 2, 3, 4, 5, 6}), {3, 1, 6}},
          {"[0, 1, 4, 6]", one_row({0, 1, 4, 6}, {1, 2, 3, 4}), {2, 1, 4}},
          {"[1, 2, (900), 3]", std::move(masked), {2, 1, 4}}};
}

std::vector<Prediction> predictions(const Evidence& evidence) {
  const PointTable& table = evidence.points;
  std::vector<Row> rows;
  for (const Row row : evidence.rows) {
    const AttentionProblem p = table.problem(row);
    if (p.pass == Pass::fwd && p.mask == Mask::none) rows.push_back(row);
  }
  std::vector<Prediction> all;
  for (int i = 0; i < doubled_kinds; ++i) {
    const auto what = static_cast<Doubled>(i);
    std::vector<Pair> pairs = doubled_pairs(table, rows, what, metric_key::l2_sm_bytes);
    std::erase_if(pairs, [](const Pair& pair) { return !pair.model_ratio; });
    for (const Pair& pair : telling_pairs(table, pairs)) {
      const std::string& algorithm = table.algorithm(pair.from);
      all.push_back({.doubled = what,
                     .algorithm = short_title(table.algorithms(), algorithm),
                     .name = algorithm,
                     .from = pair.from,
                     .model = *pair.model_ratio,
                     .found = pair.ratio(),
                     .origin = pair.provenance == Provenance::measured ? "derived" : to_string(pair.provenance),
                     .within_theorem = within_theorem(table, pair.from) && within_theorem(table, pair.to)});
    }
  }
  return all;
}

std::vector<std::vector<Sized>> ledger_squares(const LessonTexts& texts, const Setting& setting,
                                               const DeviceLimits& gpu) {
  const Ledger one = ledger_of(setting.one_head());
  const auto levels = level_sizes(one, gpu);
  const auto size = [&](MemoryLevel level) {
    return static_cast<double>(levels[static_cast<std::size_t>(level)].bytes);
  };
  const auto scores = static_cast<double>(one.find(Tensor::s)->one());
  const auto all = static_cast<double>(ledger_of(setting.all_heads()).find(Tensor::s)->all());
  return {{{"S", scores},
           {"P", scores},
           {"Q + K + V + O", static_cast<double>(one.kept())},
           {texts.word("registers"), size(MemoryLevel::registers)},
           {texts.word("shared"), size(MemoryLevel::shared)},
           {"L2", size(MemoryLevel::l2)}},
          {{texts.word("dram"), size(MemoryLevel::dram)},
           {fmt::format("S, {} × {}, N {}", setting.heads, setting.batch, setting.n), all},
           {fmt::format("S, N {}", 2 * setting.n), 4 * all},
           {"L2", size(MemoryLevel::l2)}}};
}

std::vector<LedgerFrame> ledger_frames(const LessonTexts& texts, const Setting& setting, const DeviceLimits& gpu) {
  std::vector<LedgerFrame> frames;
  for (const std::int64_t n : {setting.n / 8, setting.n / 4, setting.n / 2, setting.n, 2 * setting.n, 4 * setting.n}) {
    if (n < 16) continue;
    Setting other = setting;
    other.n = n;
    frames.push_back({n, ledger_squares(texts, other, gpu)});
  }
  return frames;
}

std::optional<PaddedOccupancy> padded_occupancy(const Front& front, const Setting& setting, const Evidence& evidence) {
  const Algorithm* algorithm = evidence.registry.find(front.text("occupancy"));
  if (algorithm == nullptr || !invalid_reason(setting.all_heads()).empty()) return std::nullopt;
  PaddedOccupancy all{.spec = {.algorithm = algorithm->name(), .problem = setting.all_heads()}};
  Config config{{.br = static_cast<int>(whole_of(front, "occupancy_br", 64)),
                 .bc = static_cast<int>(whole_of(front, "occupancy_bc", 64))},
                {}};
  if (algorithm->refusal(all.spec.problem, config, evidence.gpu)) {
    config = algorithm->default_config(all.spec.problem, evidence.gpu);
  }
  all.spec.set_config(config);
  constexpr std::int64_t padding_step = 4096;
  for (std::int64_t padding = 0; padding <= evidence.gpu.shared_bytes_per_block; padding += padding_step) {
    const Exploration found = explore({all.spec, padding}, evidence.gpu, evidence.registry, evidence.ceilings);
    if (found.refusal || found.kernels.empty()) break;
    const ExploredKernel& kernel = found.kernels[found.longest()];
    if (kernel.occupancy.blocks_per_sm == 0) break;
    // The least padding for each number of blocks.
    if (!all.steps.empty() && all.steps.back().blocks_per_sm == kernel.occupancy.blocks_per_sm) continue;
    all.steps.push_back(
        {padding, kernel.occupancy.blocks_per_sm, kernel.occupancy.warps_pct, found.traffic.total(), found.ns});
  }
  return all;
}

std::vector<Sized> backward_squares(const Setting& setting) {
  const Ledger one = ledger_of(setting.one_head());
  const auto bytes = [&](Tensor tensor) { return static_cast<double>(one.find(tensor)->one()); };
  return {{"P", bytes(Tensor::p)},
          {"Q + K + V + O", static_cast<double>(one.kept())},
          {"m + ℓ", bytes(Tensor::m) + bytes(Tensor::l)},
          {"LSE", bytes(Tensor::lse)}};
}

}  // namespace attnscope::analysis::lesson
