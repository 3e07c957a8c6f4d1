// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/lesson/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/registry.h"
#include "profiler/analysis/lesson/ledger.h"

namespace attnscope::analysis::lesson {
namespace {

SoftmaxRows one_row(std::vector<double> scores, std::vector<double> values) {
  const std::size_t columns = scores.size();
  const std::size_t d = values.size() / columns;
  return SoftmaxRows{.rows = 1, .columns = columns, .d = d, .scores = std::move(scores), .values = std::move(values)};
}

std::int64_t whole(const Front& front, std::string_view key, double otherwise) {
  return static_cast<std::int64_t>(std::clamp(front.number(key).value_or(otherwise), 1.0, 65536.0));
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

std::optional<TilePlayer> staged_player(const Front& front, const Evidence& evidence, const Algorithm& algorithm,
                                        const Mask& mask, std::size_t most, const StageChoice& choice) {
  AttentionProblem p{.mask = mask, .d = whole(front, "play_d", 64)};
  if (const auto pass = parse_pass(front.text("play_pass")); pass.ok()) p.pass = *pass;
  for (std::int64_t n = choice.n > 0 ? choice.n : whole(front, "play_n", 512); n >= 64; n /= 2) {
    p.n_k = n;
    p.n_q = algorithm.facts().decodes ? 1 : n;
    Config config{{.br = choice.br > 0 ? choice.br : static_cast<int>(whole(front, "play_br", 64)),
                   .bc = choice.bc > 0 ? choice.bc : static_cast<int>(whole(front, "play_bc", 64))},
                  {}};
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

std::optional<Residual> longest_counted(const Evidence& evidence, std::string_view algorithm, Pass pass,
                                        const Mask& mask) {
  std::optional<Residual> longest;
  for (const Residual& each : residuals(evidence.points, evidence.rows)) {
    if (evidence.points.algorithm(each.row) != algorithm) continue;
    const AttentionProblem p = evidence.points.problem(each.row);
    if (p.mask != mask || p.pass != pass) continue;
    if (!longest || p.n_k > evidence.points.n_k(longest->row)) longest = each;
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
  std::vector<Prediction> all;
  for (int i = 0; i < doubled_kinds; ++i) {
    const auto what = static_cast<Doubled>(i);
    std::vector<std::string> seen;
    for (const Pair& pair : doubled_pairs(evidence.points, evidence.rows, what, metric_key::l2_sm_bytes)) {
      const AttentionProblem p = evidence.points.problem(pair.from);
      const std::string& algorithm = evidence.points.algorithm(pair.from);
      if (p.pass != Pass::fwd || p.mask != Mask::none || !pair.model_ratio) continue;
      if (std::ranges::count(seen, algorithm) > 0) continue;
      seen.push_back(algorithm);
      all.push_back({.doubled = what,
                     .algorithm = short_title(evidence.points.algorithms(), algorithm),
                     .from = pair.from,
                     .model = *pair.model_ratio,
                     .found = pair.ratio(),
                     .origin = pair.provenance == Provenance::measured ? "derived" : to_string(pair.provenance)});
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

std::vector<Sized> backward_squares(const Setting& setting) {
  const Ledger one = ledger_of(setting.one_head());
  const auto bytes = [&](Tensor tensor) { return static_cast<double>(one.find(tensor)->one()); };
  return {{"P", bytes(Tensor::p)},
          {"Q + K + V + O", static_cast<double>(one.kept())},
          {"m + ℓ", bytes(Tensor::m) + bytes(Tensor::l)},
          {"LSE", bytes(Tensor::lse)}};
}

}  // namespace attnscope::analysis::lesson
