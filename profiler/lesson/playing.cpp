// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/playing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "profiler/predict/tile_rule.h"

namespace attnscope::analysis::lesson {
namespace {

Config played_config(const Playing& playing, const Algorithm& algorithm, const AttentionProblem& p,
                     const DeviceLimits& gpu, const PlayChoice& choice) {
  Config config{{.br = static_cast<int>(playing.br), .bc = static_cast<int>(playing.bc)}, {}};
  if (choice.m > 0) {
    const std::int64_t bytes = choice.m * bytes_per_element(p.dtype);
    if (const auto rule = paper_rule_tile(algorithm, p, config, gpu, bytes); rule && rule->config)
      config = *rule->config;
  }
  if (choice.br > 0) config.tile.br = static_cast<int>(choice.br);
  if (choice.bc > 0) config.tile.bc = static_cast<int>(choice.bc);
  return config;
}

constexpr std::int64_t longest_played = 65536;
constexpr std::int64_t most_played_heads = 64;
constexpr std::int64_t largest_side = 4096;
constexpr std::int64_t largest_l2 = std::int64_t{1} << 20;

struct ChoiceName {
  std::string_view name;
  std::string_view title;
  std::int64_t PlayChoice::*number;
  std::int64_t most;
};
constexpr std::array choice_names{ChoiceName{"n", "N ", &PlayChoice::n, longest_played},
                                  ChoiceName{"br", "Br ", &PlayChoice::br, largest_side},
                                  ChoiceName{"bc", "Bc ", &PlayChoice::bc, largest_side},
                                  ChoiceName{"heads", "heads ", &PlayChoice::heads, most_played_heads},
                                  ChoiceName{"m", "M ", &PlayChoice::m, std::int64_t{1} << 24},
                                  ChoiceName{"l2", "L2 ", &PlayChoice::l2, largest_l2}};

std::optional<PlayChoice> choice_of(std::string_view word) {
  const std::size_t sign = std::min(word.find('='), word.size() - 1);
  const auto* const known = std::ranges::find(choice_names, word.substr(0, sign), &ChoiceName::name);
  const std::string_view text = word.substr(sign + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (known == choice_names.end() || error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > known->most)
    return std::nullopt;
  PlayChoice choice{.label = fmt::format("{}{}{}", known->title, number, known->name == "l2" ? " KiB" : "")};
  choice.*known->number = number;
  return choice;
}

}  // namespace

Playing read_playing(FrontReader& front) {
  Playing playing{.algorithms = front.algorithms("play"),
                  .n = front.whole("play_n", 512, 64, longest_played),
                  .d = front.whole("play_d", 64, 1, 1024),
                  .br = front.whole("play_br", 64, 1, largest_side),
                  .bc = front.whole("play_bc", 64, 1, largest_side),
                  .heads = front.whole("play_heads", 1, 1, most_played_heads),
                  .l2 = front.whole("play_l2", 0, 1, largest_l2),
                  .sms = front.whole("play_sms", 0, 1, 1024)};
  if (const std::string word = front.text("play_pass"); !word.empty()) {
    const auto pass = parse_pass(word);
    if (pass.ok()) playing.pass = *pass;
    if (!pass.ok()) front.refuse("play_pass", pass.error());
  }
  std::vector<Mask> masks;
  for (const std::string& word : front.words("play_masks")) {
    const auto mask = parse_mask(word);
    if (mask.ok()) masks.push_back(*mask);
    if (!mask.ok()) front.refuse("play_masks", mask.error());
  }
  if (!masks.empty()) playing.masks = std::move(masks);
  for (const std::string& word : front.words("play_also")) {
    if (auto choice = choice_of(word))
      playing.also.push_back(*std::move(choice));
    else
      front.refuse("play_also", "expected n=, br=, bc=, heads=, m= or l2= (KiB) with numbers, separated by spaces");
  }
  // Each choice is replayed for every algorithm.
  if (playing.also.size() > 8) front.refuse("play_also", "expected at most 8 choices");
  playing.also.resize(std::min<std::size_t>(playing.also.size(), 8));
  return playing;
}

std::optional<TilePlayer> player_of(const Playing& playing, const Evidence& evidence, const Algorithm& algorithm,
                                    const Mask& mask, std::int64_t most, const PlayChoice& choice) {
  AttentionProblem p{.pass = playing.pass, .mask = mask, .d = playing.d};
  p.heads_q = p.heads_kv = choice.heads > 0 ? choice.heads : playing.heads;
  for (std::int64_t n = choice.n > 0 ? choice.n : playing.n; n >= 64; n /= 2) {
    p.n_k = n;
    p.n_q = algorithm.facts().for_decoding ? 1 : n;
    Config config = played_config(playing, algorithm, p, evidence.gpu, choice);
    if (algorithm.refusal(p, config, evidence.gpu)) config = algorithm.default_config(p, evidence.gpu);
    auto player = TilePlayer::make(algorithm, p, config, evidence.gpu,
                                   {.sms = static_cast<int>(playing.sms),
                                    .l2_bytes = 1024 * (choice.l2 > 0 ? choice.l2 : playing.l2),
                                    .most_frames = most});
    if (player.ok()) return std::move(player).value();
  }
  return std::nullopt;
}

bool plays_what_was_chosen(const TilePlayer& player, const PlayChoice& choice) {
  const Config& config = player.config();
  return (choice.br <= 0 || config.tile.br == choice.br) && (choice.bc <= 0 || config.tile.bc == choice.bc);
}

bool plays_a_shorter_n(const Playing& playing, const TilePlayer& player, const PlayChoice& choice) {
  return player.problem().n_k < (choice.n > 0 ? choice.n : playing.n);
}

}  // namespace attnscope::analysis::lesson
