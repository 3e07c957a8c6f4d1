// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/mask.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "kernels/model/parse.h"

namespace attnscope {
namespace {

/// Returns the first error, or an empty message.
Message read_window(Mask& mask, const std::vector<std::string_view>& parts) {
  if (mask.has_window()) return "more than one window";
  if (parts.size() != 3) return "expected window:LEFT:RIGHT";
  for (const auto& [side, text, target] :
       {std::tuple{"left", parts[1], &mask.left}, std::tuple{"right", parts[2], &mask.right}}) {
    if (text == "inf") continue;
    const auto value = parse_number<std::int64_t>(text);
    if (!value) return make_message("the {} side of the window is '{}'; expected a number of keys or inf", side, text);
    if (*value < 0) return make_message("the {} side of the window is negative: {}", side, *value);
    *target = *value;
  }
  return {};
}

Message read_lengths(Mask& mask, const std::vector<std::string_view>& parts) {
  if (mask.padded()) return "more than one 'lengths'";
  if (parts.size() != 2) return "expected lengths:ramp or lengths:300/512/...";
  if (parts[1] == "ramp") {
    mask.lengths = Mask::Lengths::ramp;
    return {};
  }
  mask.lengths = Mask::Lengths::list;
  for (const std::string_view text : split_text(parts[1], '/')) {
    const auto value = parse_number<std::int64_t>(text);
    if (!value) return make_message("invalid length '{}'", text);
    if (*value < 0) return make_message("length {} is negative", *value);
    constexpr std::size_t most = std::size_t{1} << 16;
    if (mask.length_list.size() == most) return "more than 2^16 lengths";
    mask.length_list.push_back(*value);
  }
  return {};
}

Message read_blocks(Mask& mask, const std::vector<std::string_view>& parts) {
  if (mask.has_block_mask()) return "more than one 'blocks'";
  if (parts.size() != 3) return "expected blocks:SIZE:PATTERN";
  const auto size = parse_number<std::int64_t>(parts[1]);
  if (!size || *size < 16 || *size % 16 != 0) {
    return make_message("the block size must be a positive multiple of 16, not '{}'", parts[1]);
  }
  mask.block_size = *size;
  std::string_view pattern = parts[2];
  if (pattern == "butterfly") {
    mask.blocks = Mask::Blocks::butterfly;
    return {};
  }
  constexpr std::string_view stride = "stride";
  constexpr std::string_view random = "random";
  const bool strided = pattern.starts_with(stride);
  if (!strided && !pattern.starts_with(random)) return make_message("unknown block pattern '{}'", pattern);
  pattern.remove_prefix(strided ? stride.size() : random.size());
  const auto value = parse_number<std::int64_t>(pattern);
  const std::int64_t most = strided ? std::int64_t{1} << 20 : 100;
  if (!value || *value < (strided ? 1 : 0) || *value > most) {
    if (strided) return make_message("invalid stride '{}'; it must be at least 1", pattern);
    return make_message("invalid percentage '{}'; it must be 0 to 100", pattern);
  }
  mask.blocks = strided ? Mask::Blocks::stride : Mask::Blocks::random;
  mask.block_parameter = *value;
  return {};
}

Message read_part(Mask& mask, std::string_view part) {
  const auto parts = split_text(part, ':');
  if (part == "full") return {};
  if (part == "causal") {
    if (mask.has_window()) return "more than one window";
    mask.right = 0;
    return {};
  }
  if (parts[0] == "window") return read_window(mask, parts);
  if (parts[0] == "lengths") return read_lengths(mask, parts);
  if (parts[0] == "blocks") return read_blocks(mask, parts);
  return make_message("unknown part '{}'", part);
}

std::string bound(std::int64_t side) {
  return side == Mask::unlimited ? "inf" : fmt::format("{}", side);
}

/// Finalizer of splitmix64; separates neighboring squares.
std::uint64_t hash(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace

bool Mask::block_counts(std::int64_t i, std::int64_t j) const {
  switch (blocks) {
    case Blocks::none:
      return true;
    case Blocks::butterfly:
      return i == j || std::has_single_bit(static_cast<std::uint64_t>(std::abs(i - j)));
    case Blocks::stride:
      return j == i || j == i - 1 || (j + 1) % block_parameter == 0;
    case Blocks::random:
      return i == j || hash(static_cast<std::uint64_t>(i) << 32U | static_cast<std::uint64_t>(j)) % 100 <
                           static_cast<std::uint64_t>(block_parameter);
  }
  return true;
}

bool Mask::operator<(const Mask& other) const {
  const auto key = [](const Mask& m) {
    return std::tie(m.left, m.right, m.lengths, m.length_list, m.blocks, m.block_size, m.block_parameter);
  };
  return key(*this) < key(other);
}

std::string to_string(const Mask& mask) {
  std::vector<std::string> parts;
  if (mask.right == 0 && mask.left == Mask::unlimited) {
    parts.emplace_back("causal");
  } else if (mask.has_window()) {
    parts.push_back(fmt::format("window:{}:{}", bound(mask.left), bound(mask.right)));
  }
  if (mask.lengths == Mask::Lengths::ramp) parts.emplace_back("lengths:ramp");
  if (mask.lengths == Mask::Lengths::list) {
    parts.push_back(fmt::format("lengths:{}", fmt::join(mask.length_list, "/")));
  }
  switch (mask.blocks) {
    case Mask::Blocks::none:
      break;
    case Mask::Blocks::butterfly:
      parts.push_back(fmt::format("blocks:{}:butterfly", mask.block_size));
      break;
    case Mask::Blocks::stride:
      parts.push_back(fmt::format("blocks:{}:stride{}", mask.block_size, mask.block_parameter));
      break;
    case Mask::Blocks::random:
      parts.push_back(fmt::format("blocks:{}:random{}", mask.block_size, mask.block_parameter));
      break;
  }
  return parts.empty() ? "full" : fmt::format("{}", fmt::join(parts, "+"));
}

Result<Mask, Message> parse_mask(std::string_view text) {
  Mask mask;
  for (const std::string_view part : split_text(text, '+')) {
    if (Message wrong = read_part(mask, part); !wrong.empty()) {
      return Failure{
          make_message("mask '{}': {}; accepted: full, causal, window:LEFT:RIGHT, lengths:ramp, lengths:300/512/..., "
                       "blocks:SIZE:butterfly, blocks:SIZE:strideK, blocks:SIZE:randomPERCENT, joined by '+'.",
                       text, wrong)};
    }
  }
  return mask;
}

}  // namespace attnscope
