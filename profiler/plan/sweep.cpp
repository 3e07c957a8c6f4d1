// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <system_error>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/descriptor.h"
#include "kernels/tile_table.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using Error = Failure<std::string>;

constexpr std::size_t max_axis_values = 4096;
constexpr std::size_t max_points = 100'000;

// A point on its way: what of the tile no axis sets is chosen for the problem.
struct Draft {
  std::string algorithm;
  AttentionProblem problem;
  std::optional<int> br;
  std::optional<int> bc;
  std::optional<Raster> raster;
  std::optional<int> splits;
  std::optional<int> warps;
  std::optional<int> stages;
  bool auto_tile = false;  // asked for: each N has its own
};

// The error of a parser, empty for a word that it accepts.
template <auto parse>
std::string check(std::string_view word) {
  const auto parsed = parse(word);
  return parsed ? std::string() : parsed.error();
}

std::string check_algorithm(std::string_view word) {
  if (find_algorithm(word) != nullptr) return {};
  std::vector<std::string> known;
  for (const Algorithm* algorithm : algorithms()) known.emplace_back(algorithm->name());
  return fmt::format("unknown algorithm '{}'; accepted: {}", word, fmt::join(known, ", "));
}

Result<double, std::string> parse_dropout(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    return Error{fmt::format("'{}' is not a probability from 0 to below 1", word)};
  }
  if (std::string wrong = invalid_reason({.dropout = value}); !wrong.empty()) return Error{std::move(wrong)};
  return value;
}

std::string check_page(std::string_view word) {
  return invalid_reason({.page = std::stoll(std::string(word))});
}

Result<bool, std::string> parse_yes_no(std::string_view word) {
  if (word == "yes") return true;
  if (word == "no") return false;
  return Error{fmt::format("'{}' is neither yes nor no", word)};
}

// "auto", or both extents: "128x64".
Result<std::optional<std::pair<int, int>>, std::string> parse_tile(std::string_view word) {
  if (word == "auto") return std::optional<std::pair<int, int>>{};
  constexpr int largest = 4096;
  int br = 0;
  int bc = 0;
  const char* const last = word.data() + word.size();
  const auto rows = std::from_chars(word.data(), last, br);
  if (rows.ec == std::errc() && rows.ptr != last && *rows.ptr == 'x') {
    const auto columns = std::from_chars(rows.ptr + 1, last, bc);
    const bool whole = columns.ec == std::errc() && columns.ptr == last;
    if (whole && br > 0 && bc > 0 && br <= largest && bc <= largest) return std::optional(std::pair(br, bc));
  }
  return Error{fmt::format("tile '{}' is neither auto nor BrxBc, as in 128x64", word)};
}

struct AxisKind {
  std::string_view name;
  std::int64_t smallest;
  std::int64_t largest;                         // 0: the axis holds words
  std::string_view fallback;                    // value when nobody sets the axis; empty: none is needed
  std::string (*wrong)(std::string_view word);  // what is wrong with a value; none: nothing but its range can be
  void (*set)(Draft&, std::string_view word, std::int64_t number);
};

constexpr std::int64_t most_heads = 1 << 20;
constexpr std::int64_t most_keys = 1 << 24;

// In nesting order, outermost first: what changes the inputs comes before what only changes the kernel, so that
// neighbouring points share their buffers. N, heads and tile stand before the axes that refine them.
// One line an axis; clang-format would make five of each.
// clang-format off
constexpr std::array axis_kinds{
    AxisKind{"dtype", 0, 0, "fp16", check<parse_dtype>, [](Draft& p, std::string_view w, std::int64_t) { p.problem.dtype = *parse_dtype(w); }},
    AxisKind{"pass", 0, 0, "fwd", check<parse_pass>, [](Draft& p, std::string_view w, std::int64_t) { p.problem.pass = *parse_pass(w); }},
    AxisKind{"mask", 0, 0, "none", check<parse_mask>, [](Draft& p, std::string_view w, std::int64_t) { p.problem.mask = *parse_mask(w); }},
    AxisKind{"dropout", 0, 0, "0", check<parse_dropout>, [](Draft& p, std::string_view w, std::int64_t) { p.problem.dropout = *parse_dropout(w); }},
    AxisKind{"page", 0, most_keys, "0", check_page, [](Draft& p, std::string_view, std::int64_t n) { p.problem.page = n; }},
    AxisKind{"deterministic", 0, 0, "no", check<parse_yes_no>, [](Draft& p, std::string_view w, std::int64_t) { p.problem.deterministic = *parse_yes_no(w); }},
    AxisKind{"d", 1, 4096, "64", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.d = n; }},
    AxisKind{"batch", 1, most_heads, "1", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.batch = n; }},
    AxisKind{"heads", 1, most_heads, "16", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.heads_q = p.problem.heads_kv = n; }},
    AxisKind{"heads_q", 1, most_heads, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.heads_q = n; }},
    AxisKind{"heads_kv", 1, most_heads, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.heads_kv = n; }},
    AxisKind{"N", 1, most_keys, "1024", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.n_q = p.problem.n_k = n; }},
    AxisKind{"n_q", 1, most_keys, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.n_q = n; }},
    AxisKind{"n_k", 1, most_keys, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.problem.n_k = n; }},
    AxisKind{"algorithm", 0, 0, "", check_algorithm, [](Draft& p, std::string_view w, std::int64_t) { p.algorithm = w; }},
    AxisKind{"raster", 0, 0, "", check<parse_raster>, [](Draft& p, std::string_view w, std::int64_t) { p.raster = *parse_raster(w); }},
    AxisKind{"splits", 0, 4096, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.splits = static_cast<int>(n); }},
    AxisKind{"warps", 0, 64, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.warps = static_cast<int>(n); }},
    AxisKind{"stages", 0, 64, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.stages = static_cast<int>(n); }},
    AxisKind{"tile", 0, 0, "", check<parse_tile>, [](Draft& p, std::string_view w, std::int64_t) {
               const auto tile = *parse_tile(w);
               p.auto_tile = !tile;
               if (tile) std::tie(p.br, p.bc) = *tile;
             }},
    AxisKind{"bc", 1, 4096, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.bc = static_cast<int>(n); }},
    AxisKind{"br", 1, 4096, "", nullptr, [](Draft& p, std::string_view, std::int64_t n) { p.br = static_cast<int>(n); }},
};
// clang-format on

// Axes that stand for two others, which refine them.
struct WideAxis {
  std::string_view name;
  std::string_view first;
  std::string_view second;
};
constexpr std::array wide_axes{WideAxis{"N", "n_q", "n_k"}, WideAxis{"heads", "heads_q", "heads_kv"},
                               WideAxis{"tile", "br", "bc"}};

// Axes of which a kernel may lack a value altogether.
constexpr std::array<std::string_view, 12> refusable_axes{"d",  "pass", "mask", "dropout", "page",  "deterministic",
                                                          "br", "bc",   "tile", "splits",  "warps", "stages"};

std::vector<std::string> axis_names() {
  std::vector<std::string> names;
  names.reserve(axis_kinds.size());
  for (const AxisKind& kind : axis_kinds) names.emplace_back(kind.name);
  return names;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const AxisKind* find_kind(std::string_view name) {
  const auto* found =
      std::ranges::find_if(axis_kinds, [&](const AxisKind& kind) { return equal_ignoring_case(kind.name, name); });
  return found == axis_kinds.end() ? nullptr : found;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator, start)) {
    parts.push_back(trim(text.substr(start, end - start)));
    start = end + 1;
  }
  parts.push_back(trim(text.substr(start)));
  return parts;
}

// What is wrong with an axis. How axes are written helps only where that is the mistake.
struct Wrong {
  std::string why;
  bool syntax = false;
};
Failure<Wrong> miswritten(std::string why) {
  return {Wrong{.why = std::move(why), .syntax = true}};
}
Failure<Wrong> unusable(std::string why) {
  return {Wrong{.why = std::move(why), .syntax = false}};
}

Result<std::int64_t, Wrong> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return unusable(fmt::format("{} is far too large for any axis; at most {} is taken", text, most_keys));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return miswritten(fmt::format("'{}' is not a whole number", text));
  }
  return value;
}

// Why `value` cannot stand on the axis; empty when it can.
std::string range_error(const AxisKind& kind, std::int64_t value) {
  if (value < kind.smallest) return fmt::format("{} must be at least {}, not {}", kind.name, kind.smallest, value);
  if (value > kind.largest) return fmt::format("{} {} is absurd: at most {}", kind.name, value, kind.largest);
  return kind.wrong != nullptr ? kind.wrong(std::to_string(value)) : std::string();
}

using Numbers = Result<std::vector<std::int64_t>, Wrong>;

Numbers parse_range(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) return miswritten("a range is [first:last] or [first:last:step]");
  std::array<std::int64_t, 3> numbers{0, 0, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_integer(parts[i]);
    if (!number) return Failure<Wrong>{number.error()};
    numbers.at(i) = *number;
  }
  const auto [first, last, step] = numbers;
  if (step < 1) return unusable(fmt::format("the step must be at least 1, not {}", step));
  if (first > last) {
    return unusable(fmt::format("the range is reversed: {} is above {}; give the smaller one first", first, last));
  }
  // Unsigned: the distance between two 63-bit numbers may not fit in one.
  const std::uint64_t count =
      (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) / static_cast<std::uint64_t>(step) + 1;
  if (count > max_axis_values) {
    return unusable(
        fmt::format("the range has {} values, at most {} are taken; give it a larger step", count, max_axis_values));
  }
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(first + (static_cast<std::int64_t>(i) * step));
  return values;
}

Numbers parse_list(std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) return miswritten("a value is missing");
    const auto number = parse_integer(part);
    if (!number) return Failure<Wrong>{number.error()};
    values.push_back(*number);
  }
  return values;
}

Numbers parse_exponents(std::string_view text) {
  // Two exponents mean everything between them, as in "[8,14]"; three or more are a list.
  const bool pair = std::ranges::count(text, ',') == 1 && text.find(':') == std::string_view::npos;
  std::string range(text);
  if (pair) std::ranges::replace(range, ',', ':');
  Numbers numbers = range.find(':') != std::string::npos ? parse_range(range) : parse_list(text);
  if (!numbers) return numbers;
  for (std::int64_t& value : *numbers) {
    if (value < 0 || value > 62) {
      return unusable(fmt::format("2^{} is absurd; under [pow2] the values are exponents", value));
    }
    value = std::int64_t{1} << value;
  }
  return numbers;
}

Result<Axis, Wrong> parse_values(const AxisKind& kind, std::string_view modifier, std::string_view text) {
  Axis axis{.name = std::string(kind.name), .values = {}};
  if (kind.largest == 0) {
    if (!modifier.empty()) {
      return unusable(fmt::format("[{}] does not apply to {}, which takes words; leave it out", modifier, kind.name));
    }
    for (const std::string_view word : split(text, ',')) {
      if (word.empty()) return miswritten("a value is missing");
      if (std::string wrong = kind.wrong(word); !wrong.empty()) return unusable(std::move(wrong));
      axis.values.emplace_back(word);
    }
    return axis;
  }
  const Numbers numbers = modifier == "pow2"                         ? parse_exponents(text)
                          : text.find(':') != std::string_view::npos ? parse_range(text)
                                                                     : parse_list(text);
  if (!numbers) return Failure<Wrong>{numbers.error()};
  for (const std::int64_t value : *numbers) {
    if (std::string wrong = range_error(kind, value); !wrong.empty()) return unusable(std::move(wrong));
    axis.values.push_back(std::to_string(value));
  }
  return axis;
}

enum class Takes { all, tiled, named };  // tiled: those whose traffic Br or Bc decides

struct Grid {
  std::vector<std::string_view> axes;  // in parse_axis's notation
  Takes takes = Takes::all;
  std::vector<std::string_view> algorithms{};  // when named; those that the registry lacks are left out
};

struct Preset {
  PresetInfo info;
  std::vector<Grid> grids;
};

const std::vector<Preset>& preset_table() {
  static const std::vector<Preset> table{
      {{"quick", "A first look in seconds: traffic against N for every algorithm, and a small tile grid"},
       {{{"d=[64,128]", "heads=64", "N[pow2]=[8:12]"}},
        {{"d=64", "heads=64", "N=4096", "br=[32,64,128,256]", "bc=[32,64,128,256]"}, Takes::tiled}}},
      // 264 blocks are two full waves of an H200's 132 SMs; naive's S and P at N 16384 are 132 GiB each.
      {{"memory-wall", "Traffic against N from 256 to 16384 with 264 heads in flight: where N^2 meets DRAM"},
       {{{"d=[64,128]", "batch=2", "heads=132", "N[pow2]=[8:14]"}}}},
      {{"tiles",
        "Br x Bc, 12 x 15, for every algorithm that tiles decide, at a shape that L2 cannot hold, up to tiles that no "
        "SM can"},
       {{{"d=128", "heads=132", "N=1024", "br=[16,32,48,64,80,96,112,128,160,192,224,256]",
          "bc=[16,32,48,64,80,96,112,128,160,192,224,256,320,384,448]"},
         Takes::tiled}}},
      {{"paper",
        "Fig. 2 of the FlashAttention paper, batch 64, 16 heads, N 1024, d 64: forward and backward of each, and fa1's "
        "forward pass against Bc"},
       {{{"pass=fwd+bwd", "d=64", "batch=64", "heads=16", "N=1024"}, Takes::named, {"naive", "fa1", "fa2", "fa3"}},
        {{"pass=fwd", "d=64", "batch=64", "heads=16", "N=1024", "bc=[64,128,256,512]"}, Takes::named, {"fa1"}}}},
      // naive's S, P, dP and dS at N 16384 are 16 GiB each.
      {{"backward", "The backward pass of every algorithm against N from 1024 to 16384, 32 heads"},
       {{{"pass=bwd", "d=[64,128]", "heads=32", "N[pow2]=[10:14]"}}}},
      {{"masks", "Forward under every kind of mask, N 4096 to 16384: what skipped tiles save"},
       {{{"d=128", "batch=4", "heads=16", "N[pow2]=[12:14]",
          "mask=[none,causal,window:1024:0,blocks:128:butterfly,lengths:ramp]"}}}},
      {{"decode", "One query against a K/V cache of 4096 to 131072 keys, 16 heads on 2 K/V heads"},
       {{{"d=128", "heads_q=16", "heads_kv=2", "n_q=1", "n_k[pow2]=[12:17]"},
         Takes::named,
         {"naive", "fa2", "splitkv"}}}},
  };
  return table;
}

// The axes that `name` takes the place of.
bool replaces(std::string_view name, std::string_view other) {
  const auto* wide = std::ranges::find(wide_axes, name, &WideAxis::name);
  return name == other || (wide != wide_axes.end() && (other == wide->first || other == wide->second));
}

// Why the axes that one request names cannot stand together: one of them would be dropped without a word.
std::string overlap_error(std::span<const Axis> axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const Axis& other : axes.subspan(i + 1)) {
      if (axes[i].name == other.name) {
        return fmt::format("axis {} is given twice; write its values in one list, as in {}=[{},{}]", other.name,
                           other.name, axes[i].values.front(), other.values.back());
      }
      const bool wider = replaces(axes[i].name, other.name);
      if (!wider && !replaces(other.name, axes[i].name)) continue;
      const auto* wide = std::ranges::find(wide_axes, wider ? axes[i].name : other.name, &WideAxis::name);
      return fmt::format("axes {} and {} overlap: {} stands for {} and {}; give either it or those two", axes[i].name,
                         other.name, wide->name, wide->first, wide->second);
    }
  }
  return {};
}

void overlay(std::vector<Axis>& axes, Axis axis) {
  std::erase_if(axes, [&](const Axis& old) { return replaces(axis.name, old.name); });
  axes.push_back(std::move(axis));
}

// Axes in nesting order, with fallbacks where nobody said anything.
std::vector<Axis> complete(const std::vector<Axis>& given) {
  std::vector<Axis> ordered;
  for (const AxisKind& kind : axis_kinds) {
    const auto found = std::ranges::find(given, kind.name, &Axis::name);
    if (found != given.end()) {
      ordered.push_back(*found);
    } else if (!kind.fallback.empty()) {
      ordered.push_back({.name = std::string(kind.name), .values = {std::string(kind.fallback)}});
    }
  }
  return ordered;
}

struct LongestN {
  std::int64_t n_k = 0;
  bool of_queries_too = false;  // the axis is N, not n_k alone
};

// Where nobody asks for a tile, a curve over N is one tile's, the best for its longest N: a change of tile would look
// like a law of N. Unless that tile does not run at every N, or K and V are read once whatever the tile.
TileShape tile_of_curve(const Algorithm& algorithm, const Draft& draft, const LongestN& longest,
                        const DeviceLimits& limits) {
  if (!draft.auto_tile && algorithm.growth() != Growth::nd) {
    AttentionProblem last = draft.problem;
    last.n_k = longest.n_k;
    if (longest.of_queries_too) last.n_q = longest.n_k;
    const TileShape tile = auto_tile(algorithm, last, limits);
    if (!algorithm.refusal(draft.problem, tile, limits)) return tile;
  }
  return auto_tile(algorithm, draft.problem, limits);
}

// What the axes set, the rest as the algorithm would have it. An extent that nobody set shrinks until the tile fits,
// down to 16, the smallest there is.
TileShape choose_tile(const Algorithm& algorithm, const Draft& draft, const LongestN& longest,
                      const DeviceLimits& limits) {
  TileShape tile = tile_of_curve(algorithm, draft, longest, limits);
  if (draft.br || draft.bc) tile.warps = tile.stages = 0;  // chosen for another tile
  if (draft.raster) tile.raster = *draft.raster;
  if (draft.splits) tile.splits = *draft.splits;
  if (draft.warps) tile.warps = *draft.warps;
  if (draft.stages) tile.stages = *draft.stages;
  if (draft.br) tile.br = *draft.br;
  if (draft.bc) tile.bc = *draft.bc;
  if (draft.br && draft.bc) return tile;
  const auto fits = [&](const TileShape& some) { return !algorithm.refusal(draft.problem, some, limits); };
  if (!draft.br && !draft.bc) {
    if (!draft.splits && !draft.warps && !draft.stages) return tile;
    const TileShape smaller = shrink_to_fit(tile, fits);
    return fits(smaller) ? smaller : tile;
  }
  int& free_extent = draft.br ? tile.bc : tile.br;
  while (free_extent > 16 && !fits(tile)) free_extent -= 16;
  return tile;
}

/// Expands grids into points, each once.
class Expansion {
 public:
  explicit Expansion(const DeviceLimits& limits) : limits_(limits) {}

  // The first error, or empty.
  std::string add(const std::vector<Axis>& axes) {
    double count = 1;
    longest_ = {};
    for (const Axis& axis : axes) {
      count *= static_cast<double>(axis.values.size());
      // n_q and n_k come later and refine N.
      if (axis.name == "n_q") longest_.of_queries_too = false;
      if (axis.name != "N" && axis.name != "n_k") continue;
      longest_ = {.of_queries_too = axis.name == "N"};
      for (const std::string& value : axis.values) {
        longest_.n_k = std::max<std::int64_t>(longest_.n_k, std::stoll(value));
      }
    }
    if (count > static_cast<double>(max_points)) {
      return fmt::format("the axes make {:.0f} points; at most {} are accepted", count, max_points);
    }
    return expand(axes, Draft{});
  }

  std::vector<PointSpec> take() { return std::move(points_); }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): one level an axis
  std::string expand(std::span<const Axis> axes, const Draft& draft) {
    if (axes.empty()) return finish(draft);
    const AxisKind& kind = *find_kind(axes.front().name);
    for (const std::string& value : axes.front().values) {
      Draft next = draft;
      kind.set(next, value, kind.largest == 0 ? 0 : std::stoll(value));
      if (std::string wrong = expand(axes.subspan(1), next); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::string finish(const Draft& draft) {
    if (std::string wrong = invalid_reason(draft.problem); !wrong.empty()) return wrong;
    const Algorithm& algorithm = *find_algorithm(draft.algorithm);
    PointSpec spec{.algorithm = draft.algorithm,
                   .problem = draft.problem,
                   .tile = choose_tile(algorithm, draft, longest_, limits_),
                   .cache = CacheState::cold};
    if (seen_.insert(describe(spec)).second) points_.push_back(std::move(spec));
    return {};
  }

  const DeviceLimits& limits_;
  LongestN longest_;  // of the grid at hand
  std::unordered_set<std::string> seen_;
  std::vector<PointSpec> points_;
};

// A single value that the user wrote himself and that no chosen algorithm can run at all, on any device, is a mistake,
// not a cell of a map.
std::string single_value_error(const SweepRequest& request, const std::vector<PointSpec>& points,
                               const DeviceLimits& limits) {
  const auto single = [&](std::string_view name) -> const Axis* {
    const auto found = std::ranges::find(request.axes, name, &Axis::name);
    return found != request.axes.end() && found->values.size() == 1 ? &*found : nullptr;
  };
  const Axis* d = single("d");
  if (std::ranges::none_of(refusable_axes, [&](std::string_view name) { return single(name) != nullptr; })) return {};

  std::string first_reason;
  std::vector<std::string> supported;
  for (const PointSpec& point : points) {
    const Algorithm& algorithm = *find_algorithm(point.algorithm);
    const auto refusal = algorithm.refusal(point.problem, point.tile, limits);
    if (!refusal || refusal->cause != Refusal::Cause::shape) return {};
    if (first_reason.empty()) first_reason = fmt::format("{}: {}", describe(point), refusal->reason);
    for (const int dim : algorithm.head_dims()) {
      if (std::ranges::find(supported, std::to_string(dim)) == supported.end())
        supported.push_back(std::to_string(dim));
    }
  }
  if (d != nullptr && std::ranges::find(supported, d->values.front()) == supported.end()) {
    return fmt::format("d {} is not supported by any algorithm of this sweep; supported: {}", d->values.front(),
                       fmt::join(supported, ", "));
  }
  return first_reason;
}

// Drops the algorithms that nobody named and whose kernels are not made for any of the points (decoding, for prefill
// shapes) or not for the GPU, unless none would be left.
void leave_out_strangers(std::vector<PointSpec>& points, const DeviceLimits& limits) {
  std::unordered_set<std::string> at_home;
  for (const PointSpec& point : points) {
    if (at_home.contains(point.algorithm)) continue;
    const auto refusal = find_algorithm(point.algorithm)->refusal(point.problem, point.tile, limits);
    const bool stranger =
        refusal && (refusal->cause == Refusal::Cause::shape || refusal->cause == Refusal::Cause::architecture);
    if (!stranger) at_home.insert(point.algorithm);
  }
  if (at_home.empty()) return;
  std::erase_if(points, [&](const PointSpec& point) { return !at_home.contains(point.algorithm); });
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(preset_table(), name, [](const Preset& preset) { return preset.info.name; });
  return found == preset_table().end() ? nullptr : &*found;
}

// What of `wanted` runs in a grid: an algorithm that no grid of the preset lists runs in all of them.
std::vector<std::string> algorithms_of(const Grid& grid, std::span<const Grid> grids,
                                       const std::vector<std::string>& wanted) {
  const auto lists = [](const Grid& some, std::string_view name) {
    if (some.takes == Takes::tiled) return find_algorithm(name)->tile_decides_traffic();
    return some.takes == Takes::all || std::ranges::find(some.algorithms, name) != some.algorithms.end();
  };
  std::vector<std::string> result;
  if (wanted.empty()) {
    for (const Algorithm* algorithm : algorithms()) {
      if (lists(grid, algorithm->name())) result.emplace_back(algorithm->name());
    }
    return result;
  }
  for (const std::string& name : wanted) {
    const bool listed = std::ranges::any_of(grids, [&](const Grid& some) { return lists(some, name); });
    if (!listed || lists(grid, name)) result.push_back(name);
  }
  return result;
}

}  // namespace

Result<Axis, std::string> parse_axis(std::string_view text) {
  const auto fail = [&](std::string_view why, bool syntax = true) {
    if (why.ends_with('.')) why.remove_suffix(1);
    constexpr std::string_view hint = ". Write it as N=1024, N=[1024,2048], N=[1024:4096:1024] or N[pow2]=[8:14]";
    return Error{fmt::format("axis '{}': {}{}", text, why, syntax ? hint : "")};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail("there is no '='");
  std::string_view name = trim(text.substr(0, equals));
  std::string_view values = trim(text.substr(equals + 1));

  std::string_view modifier;
  if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
    if (name.back() != ']') return fail("the ']' of its modifier is missing");
    modifier = name.substr(bracket + 1, name.size() - bracket - 2);
    name = trim(name.substr(0, bracket));
    if (modifier != "pow2") return fail(fmt::format("unknown modifier '{}'; accepted: pow2", modifier));
  }
  const AxisKind* kind = find_kind(name);
  if (kind == nullptr) {
    const auto names = axis_names();
    const auto near = near_matches(name, names);
    return fail(near.empty() ? fmt::format("unknown name '{}'; accepted: {}", name, fmt::join(names, ", "))
                             : fmt::format("unknown name '{}'; did you mean {}?", name, join_or(near)),
                false);
  }
  if (!values.empty() && values.front() == '[') {
    if (values.size() < 2 || values.back() != ']') return fail("the closing ']' is missing");
    values = trim(values.substr(1, values.size() - 2));
  }
  if (values.empty()) return fail("it has no values");
  auto axis = parse_values(*kind, modifier, values);
  if (!axis) return fail(axis.error().why, axis.error().syntax);
  return std::move(axis).value();
}

std::span<const PresetInfo> presets() {
  static const std::vector<PresetInfo> infos = [] {
    std::vector<PresetInfo> result;
    for (const Preset& preset : preset_table()) result.push_back(preset.info);
    return result;
  }();
  return infos;
}

Result<SweepPlan, std::string> make_plan(const SweepRequest& request, const DeviceLimits& limits) {
  static const std::vector<Grid> free_axes{Grid{}};
  const Preset* preset = find_preset(request.preset);
  if (preset == nullptr && !request.preset.empty()) {
    std::vector<std::string> known;
    for (const PresetInfo& info : presets()) known.emplace_back(info.name);
    const auto near = near_matches(request.preset, known);
    return Error{fmt::format("unknown preset '{}'; {}", request.preset,
                             near.empty() ? fmt::format("accepted: {}", fmt::join(known, ", "))
                                          : fmt::format("did you mean {}?", join_or(near)))};
  }
  if (std::string wrong = overlap_error(request.axes); !wrong.empty()) return Error{std::move(wrong)};
  std::vector<std::string> wanted = request.algorithms;
  for (const Axis& axis : request.axes) {
    if (axis.name == "algorithm") wanted = axis.values;
  }
  for (const std::string& name : wanted) {
    if (std::string wrong = check_algorithm(name); !wrong.empty()) return Error{std::move(wrong)};
  }

  Expansion expansion(limits);
  const std::vector<Grid>& grids = preset != nullptr ? preset->grids : free_axes;
  for (const Grid& grid : grids) {
    std::vector<std::string> names = algorithms_of(grid, grids, wanted);
    if (names.empty()) continue;
    std::vector<Axis> axes;
    for (const std::string_view text : grid.axes) overlay(axes, *parse_axis(text));
    for (const Axis& axis : request.axes) overlay(axes, axis);
    overlay(axes, {.name = "algorithm", .values = std::move(names)});
    if (std::string wrong = expansion.add(complete(axes)); !wrong.empty()) return Error{std::move(wrong)};
  }

  SweepPlan plan;
  plan.preset = preset != nullptr ? request.preset : "custom";
  plan.description = preset != nullptr ? std::string(preset->info.description) : "Free axes";
  plan.points = expansion.take();
  for (PointSpec& point : plan.points) point.cache = request.cache;
  if (std::string wrong = single_value_error(request, plan.points, limits); !wrong.empty()) {
    return Error{std::move(wrong)};
  }
  if (wanted.empty()) leave_out_strangers(plan.points, limits);
  return plan;
}

Result<PointSpec, std::string> make_spec(std::string algorithm, std::span<const Axis> axes) {
  if (std::string wrong = overlap_error(axes); !wrong.empty()) return Error{std::move(wrong)};
  Draft draft;
  for (const Axis& axis : complete({axes.begin(), axes.end()})) {
    if (axis.values.size() != 1) {
      return Error{fmt::format("axis {} has {} values; one point has one", axis.name, axis.values.size())};
    }
    const AxisKind& kind = *find_kind(axis.name);
    for (const std::string& value : axis.values) kind.set(draft, value, kind.largest == 0 ? 0 : std::stoll(value));
  }
  if (std::string wrong = invalid_reason(draft.problem); !wrong.empty()) return Error{std::move(wrong)};
  return PointSpec{.algorithm = algorithm.empty() ? draft.algorithm : std::move(algorithm),
                   .problem = draft.problem,
                   .tile = {.br = draft.br.value_or(0),
                            .bc = draft.bc.value_or(0),
                            .raster = draft.raster.value_or(Raster::q_fastest),
                            .splits = draft.splits.value_or(0),
                            .warps = draft.warps.value_or(0),
                            .stages = draft.stages.value_or(0)},
                   .cache = CacheState::cold};
}

std::int64_t memory_need_bytes(const PointSpec& spec, const DeviceLimits& limits) {
  const Algorithm* algorithm = find_algorithm(spec.algorithm);
  if (algorithm == nullptr || algorithm->refusal(spec.problem, spec.tile, limits)) return 0;
  return algorithm->plan(spec.problem, spec.tile, limits).buffer_bytes();
}

}  // namespace attnscope
