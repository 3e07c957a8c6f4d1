// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/playing.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/registry.h"
#include "profiler/lesson/front_keys.h"
#include "profiler/predict/tile_rule.h"

namespace attnscope::analysis::lesson {
namespace {

std::int64_t asked_n(const Front& front, const PlayChoice& choice) {
  return choice.n > 0 ? choice.n : whole_of(front, "play_n", 512);
}

/// The tile that was asked for, and the knobs that the algorithm states.
Config played_config(const Front& front, const Algorithm& algorithm, const AttentionProblem& p, const DeviceLimits& gpu,
                     const PlayChoice& choice) {
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

std::optional<TilePlayer> player_of(const Front& front, const Evidence& evidence, const Algorithm& algorithm,
                                    const Mask& mask, std::size_t most, const PlayChoice& choice) {
  AttentionProblem p{.mask = mask, .d = whole_of(front, "play_d", 64)};
  if (const auto pass = parse_pass(front.text("play_pass")); pass.ok()) p.pass = *pass;
  p.heads_q = p.heads_kv = choice.heads > 0 ? choice.heads : whole_of(front, "play_heads", 1);
  const std::int64_t l2_bytes = choice.l2_bytes > 0 ? choice.l2_bytes : 1024 * whole_of(front, "play_l2", 0);
  for (std::int64_t n = asked_n(front, choice); n >= 64; n /= 2) {
    p.n_k = n;
    p.n_q = algorithm.facts().decodes ? 1 : n;
    Config config = played_config(front, algorithm, p, evidence.gpu, choice);
    if (algorithm.refusal(p, config, evidence.gpu)) config = algorithm.default_config(p, evidence.gpu);
    auto player = TilePlayer::make(algorithm, p, config, evidence.gpu,
                                   {.sms = static_cast<int>(whole_of(front, "play_sms", 0)), .l2_bytes = l2_bytes});
    if (!player.ok()) return std::nullopt;
    if (player->frames() <= most) return std::move(player).value();
  }
  return std::nullopt;
}

std::vector<const Algorithm*> played_algorithms(const Front& front, const Registry& registry) {
  std::vector<const Algorithm*> all;
  for (const std::string& name : front.words("play")) {
    if (const Algorithm* algorithm = registry.find(name)) all.push_back(algorithm);
  }
  return all;
}

std::vector<Mask> played_masks(const Front& front) {
  std::vector<Mask> masks;
  for (const std::string& word : front.words("play_masks")) {
    if (const auto mask = parse_mask(word); mask.ok()) masks.push_back(*mask);
  }
  if (masks.empty()) masks.emplace_back(Mask::none);
  return masks;
}

std::vector<const Knob*> played_knobs(const Front& front, const Registry& registry) {
  std::vector<const Knob*> all;
  for (const std::string& name : front.words("play_knobs")) {
    for (const Algorithm* algorithm : played_algorithms(front, registry)) {
      const auto& knobs = algorithm->facts().knobs;
      const auto knob = std::ranges::find(knobs, name, &Knob::name);
      if (knob == knobs.end()) continue;
      all.push_back(&*knob);
      break;
    }
  }
  return all;
}

namespace {

/// Takes "bc=128" into the choice; false for what nothing is called.
bool take_choice(std::string_view word, std::span<const Knob* const> knobs, AlsoPlayed& also) {
  const std::size_t sign = word.find('=');
  if (sign == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, sign);
  const std::string text(word.substr(sign + 1));
  const bool digits = !text.empty() && text.size() < 8 && text.find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t number = digits ? std::stoll(text) : 0;
  std::string_view title = name;
  std::string_view unit;
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
  } else if (name == "l2" && number > 0) {
    also.choice.l2_bytes = number * 1024;
    title = "L2";
    unit = " KiB";
  } else {
    const auto knob = std::ranges::find(knobs, name, [](const Knob* each) -> std::string_view { return each->name; });
    if (knob == knobs.end()) return false;
    const KnobValue value = digits ? KnobValue(number) : KnobValue(text);
    if (digits ? number > (*knob)->largest : std::ranges::count((*knob)->words, text) == 0) return false;
    also.choice.knobs.set(name, value);
  }
  also.label += fmt::format("{}{} {}{}", also.label.empty() ? "" : ", ", title, text, unit);
  return true;
}

/// Of each word what it asks for, or nothing.
std::vector<std::pair<std::string, std::optional<AlsoPlayed>>> words_of_also(const Front& front,
                                                                             const Registry& registry) {
  const auto knobs = played_knobs(front, registry);
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

bool plays_what_was_chosen(const TilePlayer& player, const PlayChoice& choice) {
  const Config& config = player.config();
  return (choice.br <= 0 || config.tile.br == choice.br) && (choice.bc <= 0 || config.tile.bc == choice.bc);
}

bool plays_a_shorter_n(const Front& front, const TilePlayer& player, const PlayChoice& choice) {
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

}  // namespace attnscope::analysis::lesson
