// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "kernels/common_knobs.h"
#include "kernels/embedded_sources.h"
#include "kernels/model/parse.h"

namespace attnscope {
namespace {

constexpr std::string_view file = "tiles.csv";
constexpr std::string_view header_prefix = "algorithm,pass,arch,mask,d,n,br,bc";
constexpr std::size_t leading_field_count = 8;
constexpr std::string_view header_suffix = "reason";

template <class Int>
bool read(std::string_view text, Int& value) {
  value = parse_number<Int>(text).value_or(-1);
  return value >= 0;
}

/// Knobs named by a header line; empty if the line is not a header.
std::optional<std::vector<std::string>> parse_header_knobs(std::string_view line) {
  if (!line.starts_with(header_prefix) || !line.ends_with(header_suffix)) return std::nullopt;
  line.remove_prefix(header_prefix.size());
  line.remove_suffix(header_suffix.size());
  std::vector<std::string> knobs;
  while (line.size() > 1) {  // ",warps,"
    line.remove_prefix(1);
    knobs.emplace_back(line.substr(0, line.find(',')));
    line.remove_prefix(knobs.back().size());
  }
  return knobs;
}

/// Returns nothing if the line is invalid.
std::optional<TileChoice> parse_choice(std::string_view line, std::span<const std::string> knobs) {
  const std::size_t count = leading_field_count + knobs.size();
  const std::vector<std::string_view> fields = split_text(line, ',');
  if (fields.size() <= count || (fields[3] != "full" && fields[3] != "causal")) return std::nullopt;
  const auto pass = parse_pass(fields[1]);
  TileChoice choice;
  bool valid = pass && read(fields[4], choice.d) && read(fields[5], choice.n) &&
               read(fields[6], choice.config.tile.br) && read(fields[7], choice.config.tile.bc);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    std::int64_t value = 0;
    valid = valid && read(fields[leading_field_count + i], value);
    choice.config.knobs.set(knobs[i], value);
  }
  if (!valid) return std::nullopt;
  choice.algorithm = fields[0];
  choice.pass = *pass;
  choice.arch = fields[2];
  choice.causal = fields[3] == "causal";
  // The reason may contain commas.
  choice.reason = line.substr(static_cast<std::size_t>(fields[count].data() - line.data()));
  return choice;
}

bool is_numeric_knob(std::string_view name) {
  const Knob* knob = built_in_algorithms().find_knob(name);
  return knob != nullptr && knob->words.empty();
}

std::string architecture_text(const DeviceLimits& device) {
  return fmt::format("{}.{}", device.compute_major, device.compute_minor);
}

}  // namespace

std::span<const TileChoice> tile_table() {
  static const std::vector<TileChoice> table = [] {
    const auto sources = embedded_sources();
    const auto found = std::ranges::find(sources, file, &EmbeddedSource::path);
    return parse_tile_table(found == sources.end() ? std::string_view{} : found->text);
  }();
  return table;
}

std::vector<TileChoice> parse_tile_table(std::string_view text) {
  std::vector<TileChoice> table;
  std::optional<std::vector<std::string>> knobs;
  int number = 0;
  for (const std::string_view line : split_text(text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (auto named = parse_header_knobs(line); named && std::ranges::all_of(*named, is_numeric_knob)) {
      knobs = std::move(named);
      continue;
    }
    std::optional<TileChoice> choice = knobs ? parse_choice(line, *knobs) : std::nullopt;
    if (!choice) throw std::invalid_argument(fmt::format("{}: line {} is invalid", file, number));
    table.push_back(*std::move(choice));
  }
  return table;
}

std::int64_t tuning_kv_heads(std::int64_t d) {
  return std::max<std::int64_t>(1, tuning_hidden_dim / (tuning_gqa_group * d));
}

const TileChoice* find_tile_choice(std::span<const TileChoice> table, std::string_view algorithm,
                                   const AttentionProblem& p, const DeviceLimits& device) {
  const bool causal = p.mask.right != Mask::unlimited;
  const auto is_better_match = [&](const TileChoice& one, const TileChoice& other) {
    if (one.d != other.d) return one.d < other.d;
    // Prefers the smallest n of at least n_k, else the largest n.
    if ((one.n >= p.n_k) != (other.n >= p.n_k)) return one.n >= p.n_k;
    return one.n >= p.n_k ? one.n < other.n : one.n > other.n;
  };
  const TileChoice* best = nullptr;
  for (const TileChoice& choice : table) {
    if (choice.algorithm != algorithm || choice.pass != p.pass || choice.arch != architecture_text(device) ||
        choice.causal != causal || choice.d < p.d) {
      continue;
    }
    if (best == nullptr || is_better_match(choice, *best)) best = &choice;
  }
  return best;
}

Config auto_config(const Algorithm& algorithm, const AttentionProblem& p, const DeviceLimits& device) {
  Config rule = algorithm.default_config(p, device);
  // the table was tuned with 16-bit operands only
  if (bytes_per_element(p.dtype) != bytes_per_element(output_dtype(p.dtype))) return rule;
  const TileChoice* choice = find_tile_choice(tile_table(), algorithm.name(), p, device);
  if (choice == nullptr) return rule;
  Config config = choice->config;
  const bool measured = p.kv_instances() == tuning_kv_heads(choice->d) && 2 * p.n_k > choice->n;
  if (config.knobs.number(knob::splits) == 0 || !measured)
    config.knobs.set(knob::splits, rule.knobs.number(knob::splits));
  return algorithm.refusal(p, config, device) ? rule : config;
}

}  // namespace attnscope
