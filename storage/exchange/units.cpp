// SPDX-License-Identifier: Apache-2.0
// Units in imported files.
#include <algorithm>
#include <array>

#include "profiler/plan/text.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

struct Name {
  std::string_view text;  ///< in lower case
  std::string_view base;
  double scale = 1;
};

constexpr std::array exact_names{
    Name{"ns", "ns", 1},           Name{"nsec", "ns", 1},
    Name{"nsecond", "ns", 1},      Name{"nanosecond", "ns", 1},
    Name{"us", "ns", 1e3},         Name{"µs", "ns", 1e3},
    Name{"μs", "ns", 1e3},         Name{"usec", "ns", 1e3},
    Name{"usecond", "ns", 1e3},    Name{"microsecond", "ns", 1e3},
    Name{"ms", "ns", 1e6},         Name{"msec", "ns", 1e6},
    Name{"msecond", "ns", 1e6},    Name{"millisecond", "ns", 1e6},
    Name{"s", "ns", 1e9},          Name{"sec", "ns", 1e9},
    Name{"second", "ns", 1e9},     Name{"%", "percent", 1},
    Name{"percent", "percent", 1}, Name{"pct", "percent", 1},
    Name{"gbps", "byte/s", 1e9},   Name{"tbps", "byte/s", 1e12},
};

/// Nouns that may have a prefix, in the singular.
constexpr std::array counted_names{
    Name{"byte", "byte", 1},         Name{"b", "byte", 1},           Name{"hz", "hertz", 1},
    Name{"hertz", "hertz", 1},       Name{"flop", "Tflop/s", 1e-12}, Name{"cycle", "cycle", 1},
    Name{"inst", "inst", 1},         Name{"sector", "sector", 1},    Name{"warp", "warp", 1},
    Name{"thread", "thread", 1},     Name{"block", "block", 1},      Name{"request", "request", 1},
    Name{"register", "register", 1},
};

template <std::size_t count>
const Name* find(const std::array<Name, count>& names, std::string_view word) {
  const bool plural = word.size() > 2 && word.ends_with('s');
  for (const std::string_view text : {word, plural ? word.substr(0, word.size() - 1) : word}) {
    const auto* const found = std::ranges::find(names, text, &Name::text);
    if (found != names.end()) return found;
  }
  return nullptr;
}

std::optional<Unit> parse_simple(std::string_view word) {
  if (const Name* name = find(exact_names, word)) return Unit{std::string(name->base), name->scale};
  if (const Name* name = find(counted_names, word)) return Unit{std::string(name->base), name->scale};
  constexpr std::string_view prefixes = "kmgtp";
  const std::size_t power = word.empty() ? std::string_view::npos : prefixes.find(word.front());
  if (power == std::string_view::npos) return std::nullopt;
  word.remove_prefix(1);
  const bool binary = word.size() > 1 && word.front() == 'i' && find(counted_names, word.substr(1)) != nullptr;
  const Name* name = find(counted_names, binary ? word.substr(1) : word);
  if (name == nullptr) return std::nullopt;
  double factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
  return Unit{std::string(name->base), name->scale * factor};
}

}  // namespace

std::optional<Unit> parse_unit(std::string_view text) {
  const std::string low = lower_case(text);
  const std::size_t slash = low.find('/');
  auto unit = parse_simple(std::string_view(low).substr(0, slash));
  if (!unit || slash == std::string::npos) return unit;
  const std::string_view below = std::string_view(low).substr(slash + 1);
  if (below == "block" || below == "thread") return unit;
  const auto time = parse_simple(below);
  if (!time || time->base != "ns" || unit->base == "ns") return std::nullopt;
  if (unit->base != "Tflop/s") unit->base += "/s";
  unit->scale *= 1e9 / time->scale;
  return unit;
}

std::pair<std::string, double> base_unit(std::string_view text) {
  if (text.empty()) return {"1", 1};
  const auto unit = parse_unit(text);
  return unit ? std::pair(unit->base, unit->scale) : std::pair(std::string(text), 1.0);
}

}  // namespace attnscope::exchange
