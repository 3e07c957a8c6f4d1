// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/player_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "profiler/predict/tile_rule.h"

namespace attnscope::analysis::lesson {
namespace {

Config requested_config(const PlayerSettings& player_settings, const Algorithm& algorithm, const AttentionProblem& p,
                        const DeviceLimits& gpu, const PlayerOverride& choice) {
  Config config{{.br = static_cast<int>(player_settings.br), .bc = static_cast<int>(player_settings.bc)}, {}};
  if (choice.m > 0) {
    const std::int64_t bytes = choice.m * bytes_per_element(p.dtype);
    if (const auto rule = paper_rule_tile(algorithm, p, config, gpu, bytes); rule && rule->config)
      config = *rule->config;
  }
  if (choice.br > 0) config.tile.br = static_cast<int>(choice.br);
  if (choice.bc > 0) config.tile.bc = static_cast<int>(choice.bc);
  return config;
}

constexpr std::int64_t max_player_n = 65536;
constexpr std::int64_t max_player_heads = 64;
constexpr std::int64_t max_tile_side = 4096;
constexpr std::int64_t max_l2_kib = std::int64_t{1} << 20;

struct OverrideName {
  std::string_view name;
  std::string_view title;
  std::int64_t PlayerOverride::*number;
  std::int64_t most;
};
constexpr std::array override_names{OverrideName{"n", "N ", &PlayerOverride::n, max_player_n},
                                    OverrideName{"br", "Br ", &PlayerOverride::br, max_tile_side},
                                    OverrideName{"bc", "Bc ", &PlayerOverride::bc, max_tile_side},
                                    OverrideName{"heads", "heads ", &PlayerOverride::heads, max_player_heads},
                                    OverrideName{"m", "M ", &PlayerOverride::m, std::int64_t{1} << 24},
                                    OverrideName{"l2", "L2 ", &PlayerOverride::l2, max_l2_kib}};

std::optional<PlayerOverride> parse_override(std::string_view word) {
  const std::size_t sign = std::min(word.find('='), word.size() - 1);
  const auto* const known = std::ranges::find(override_names, word.substr(0, sign), &OverrideName::name);
  const std::string_view text = word.substr(sign + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (known == override_names.end() || error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > known->most)
    return std::nullopt;
  PlayerOverride choice{.label = fmt::format("{}{}{}", known->title, number, known->name == "l2" ? " KiB" : "")};
  choice.*known->number = number;
  return choice;
}

}  // namespace

PlayerSettings read_player_settings(FrontMatterReader& front) {
  PlayerSettings player_settings{.algorithms = front.algorithms("play"),
                                 .n = front.whole("play_n", 512, 64, max_player_n),
                                 .d = front.whole("play_d", 64, 1, 1024),
                                 .br = front.whole("play_br", 64, 1, max_tile_side),
                                 .bc = front.whole("play_bc", 64, 1, max_tile_side),
                                 .heads = front.whole("play_heads", 1, 1, max_player_heads),
                                 .l2 = front.whole("play_l2", 0, 1, max_l2_kib),
                                 .sms = front.whole("play_sms", 0, 1, 1024)};
  if (const std::string word = front.text("play_pass"); !word.empty()) {
    const auto pass = parse_pass(word);
    if (pass.ok()) player_settings.pass = *pass;
    if (!pass.ok()) front.report_invalid("play_pass", pass.error());
  }
  std::vector<Mask> masks;
  for (const std::string& word : front.word_list("play_masks")) {
    const auto mask = parse_mask(word);
    if (mask.ok()) masks.push_back(*mask);
    if (!mask.ok()) front.report_invalid("play_masks", mask.error());
  }
  if (!masks.empty()) player_settings.masks = std::move(masks);
  for (const std::string& word : front.word_list("play_also")) {
    if (auto choice = parse_override(word))
      player_settings.also.push_back(*std::move(choice));
    else
      front.report_invalid("play_also",
                           "expected n=, br=, bc=, heads=, m= or l2= (KiB) with numbers, separated by spaces");
  }
  // Each choice is replayed for every algorithm.
  if (player_settings.also.size() > 8) front.report_invalid("play_also", "expected at most 8 choices");
  player_settings.also.resize(std::min<std::size_t>(player_settings.also.size(), 8));
  return player_settings;
}

std::optional<TilePlayer> make_player(const PlayerSettings& player_settings, const Evidence& evidence,
                                      const Algorithm& algorithm, const Mask& mask, std::int64_t most,
                                      const PlayerOverride& choice) {
  AttentionProblem p{.pass = player_settings.pass, .mask = mask, .d = player_settings.d};
  p.heads_q = p.heads_kv = choice.heads > 0 ? choice.heads : player_settings.heads;
  for (std::int64_t n = choice.n > 0 ? choice.n : player_settings.n; n >= 64; n /= 2) {
    p.n_k = n;
    p.n_q = algorithm.facts().for_decoding ? 1 : n;
    Config config = requested_config(player_settings, algorithm, p, evidence.gpu, choice);
    if (algorithm.refusal(p, config, evidence.gpu)) config = algorithm.default_config(p, evidence.gpu);
    auto player = TilePlayer::make(algorithm, p, config, evidence.gpu,
                                   {.sms = static_cast<int>(player_settings.sms),
                                    .l2_bytes = 1024 * (choice.l2 > 0 ? choice.l2 : player_settings.l2),
                                    .most_frames = most});
    if (player.ok()) return std::move(player).value();
  }
  return std::nullopt;
}

bool uses_requested_tile(const TilePlayer& player, const PlayerOverride& choice) {
  const Config& config = player.config();
  return (choice.br <= 0 || config.tile.br == choice.br) && (choice.bc <= 0 || config.tile.bc == choice.bc);
}

bool uses_shorter_n(const PlayerSettings& player_settings, const TilePlayer& player, const PlayerOverride& choice) {
  return player.problem().n_k < (choice.n > 0 ? choice.n : player_settings.n);
}

}  // namespace attnscope::analysis::lesson
