// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_defines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kernels/algorithm_parts.h"

namespace attnscope {
namespace {

constexpr std::string_view prefix = "ATTN_";

/// Role of a macro in a short description.
enum class MacroRole {
  d,     ///< first
  tile,  ///< second, Br x Bc
  dtype,
  mask,
  flag,  ///< its name if set
};

struct Macro {
  std::string_view name;
  std::int64_t (*value)(const AttentionProblem&, const Config&);
  MacroRole role;
};

constexpr std::array known_macros{
    Macro{"ATTN_BF16",
          [](const AttentionProblem& p, const Config&) -> std::int64_t { return output_dtype(p.dtype) == DType::bf16; },
          MacroRole::dtype},
    Macro{"ATTN_D", [](const AttentionProblem& p, const Config&) { return p.d; }, MacroRole::d},
    Macro{"ATTN_BR", [](const AttentionProblem&, const Config& config) -> std::int64_t { return config.tile.br; },
          MacroRole::tile},
    Macro{"ATTN_BC", [](const AttentionProblem&, const Config& config) -> std::int64_t { return config.tile.bc; },
          MacroRole::tile},
    Macro{"ATTN_MASK", [](const AttentionProblem& p, const Config&) -> std::int64_t { return mask_bits(p.mask); },
          MacroRole::mask},
    Macro{"ATTN_DROPOUT", [](const AttentionProblem& p, const Config&) -> std::int64_t { return p.dropout > 0; },
          MacroRole::flag},
    Macro{"ATTN_DETERMINISTIC",
          [](const AttentionProblem& p, const Config&) -> std::int64_t { return p.deterministic; }, MacroRole::flag},
    Macro{"ATTN_PAGED", [](const AttentionProblem& p, const Config&) -> std::int64_t { return p.page > 0; },
          MacroRole::flag},
    Macro{"ATTN_FP8", [](const AttentionProblem& p, const Config&) -> std::int64_t { return p.dtype == DType::fp8; },
          MacroRole::flag},
    Macro{"ATTN_HEADS_FASTEST",
          [](const AttentionProblem&, const Config& config) -> std::int64_t {
            return raster_of(config) == Raster::heads_fastest;
          },
          MacroRole::flag},
};

/// Text of a macro other than d and the tile.
std::string short_text(const Macro& macro, std::string_view value) {
  switch (macro.role) {
    case MacroRole::dtype:
      return value == "1" ? " bf16" : " fp16";
    case MacroRole::mask:
      return value == "0" ? "" : value == "1" ? " causal" : fmt::format(" mask{}", value);
    case MacroRole::flag: {
      if (value != "1") return {};
      std::string word = macro_label(macro.name);
      std::ranges::replace(word, ' ', '-');
      return " " + word;
    }
    case MacroRole::d:
    case MacroRole::tile:
      break;
  }
  return {};
}

}  // namespace

std::vector<std::string> kernel_defines(std::initializer_list<std::string_view> names, const AttentionProblem& p,
                                        const Config& config) {
  std::vector<std::string> defines;
  for (const Macro& macro : known_macros) {
    if (std::ranges::find(names, macro.name) == names.end()) continue;
    defines.push_back(fmt::format("{}={}", macro.name, macro.value(p, config)));
  }
  return defines;
}

std::string_view macro_name(std::string_view define) {
  return define.substr(0, define.find('='));
}

std::string_view macro_value(std::string_view define) {
  const std::size_t equals = define.find('=');
  return equals == std::string_view::npos ? std::string_view() : define.substr(equals + 1);
}

std::string macro_label(std::string_view macro) {
  if (macro.starts_with(prefix)) macro.remove_prefix(prefix.size());
  std::string word(macro);
  for (char& c : word) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

std::string describe_defines(std::span<const std::string> defines) {
  std::string d;
  std::string tile;
  std::string rest;
  for (const std::string& define : defines) {
    const std::string_view value = macro_value(define);
    const auto* known = std::ranges::find(known_macros, macro_name(define), &Macro::name);
    if (known == known_macros.end()) {
      rest += " " + define;
    } else if (known->role == MacroRole::d) {
      d = fmt::format(" d{}", value);
    } else if (known->role == MacroRole::tile) {
      tile += fmt::format("{}{}", tile.empty() ? " " : "x", value);
    } else {
      rest += short_text(*known, value);
    }
  }
  return d + tile + rest;
}

}  // namespace attnscope
