// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/model/block_pattern.h"
#include "kernels/model/integer.h"

namespace attnscope {
namespace {

template <class E>
struct NamedValue {
  E value;
  std::string_view word;
};

constexpr std::array dtype_names = [] {
  std::array<NamedValue<DType>, dtype_traits.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = {dtype_traits[i].dtype, dtype_traits[i].word};
  return words;
}();
constexpr std::array pass_names{NamedValue<Pass>{Pass::fwd, "fwd"}, NamedValue<Pass>{Pass::bwd, "bwd"},
                                NamedValue<Pass>{Pass::fwd_bwd, "fwd+bwd"}};
constexpr std::array gpu_order_names{NamedValue<GpuOrder>{GpuOrder::contiguous, "contiguous"},
                                     NamedValue<GpuOrder>{GpuOrder::zigzag, "zigzag"},
                                     NamedValue<GpuOrder>{GpuOrder::striped, "striped"}};
template <class E>
std::string_view name_of(std::span<const NamedValue<E>> words, E value) {
  const auto found = std::ranges::find(words, value, &NamedValue<E>::value);
  return found == words.end() ? std::string_view{"?"} : found->word;
}

template <class E>
Result<E, Message> parse_name(std::span<const NamedValue<E>> words, std::string_view what, std::string_view text) {
  const auto found = std::ranges::find(words, text, &NamedValue<E>::word);
  if (found != words.end()) return found->value;
  std::string accepted;
  for (const auto& word : words) accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", word.word);
  return Failure{make_message("unknown {} '{}'; accepted: {}.", what, text, accepted)};
}

__extension__ using wide_int = __int128;  ///< holds the product of any two extents

/// Multiplies non-negative factors in place; returns false on overflow.
bool multiply(std::int64_t& a, std::int64_t b) {
  return !__builtin_mul_overflow(a, b, &a);
}

/// Sum over i in [0, n) of clamp(i + offset, low, high). Pre: low <= high.
std::int64_t clamped_sum(std::int64_t n, std::int64_t offset, std::int64_t low, std::int64_t high) {
  const std::int64_t rising = std::clamp<std::int64_t>(low - offset, 0, n);  // earlier rows are at `low`
  const std::int64_t flat = std::clamp<std::int64_t>(high - offset, rising, n);
  const std::int64_t between = flat - rising;
  // The triangle alone may reach n^2 in a problem with one key.
  const auto triangle = static_cast<wide_int>(rising + flat - 1) * between / 2;
  return static_cast<std::int64_t>(triangle + static_cast<wide_int>(between) * offset) + rising * low +
         (n - flat) * high;
}

/// First and end key of row 0's window before clamping; both grow by one per row.
struct WindowEdges {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

WindowEdges first_row_edges(const AttentionProblem& p, std::int64_t length) {
  const std::int64_t far = p.n_q + p.n_k + 1;  // outside the matrix for every row
  return {.first = p.mask.left == Mask::unlimited ? -far : length - p.n_q - p.mask.left,
          .last = p.mask.right == Mask::unlimited ? far : length - p.n_q + p.mask.right + 1};
}

/// Visible pairs of the window in rows [row, row + rows) and columns [low, high).
std::int64_t pairs_in(const WindowEdges& edges, std::int64_t row, std::int64_t rows, std::int64_t low,
                      std::int64_t high) {
  if (high <= low) return 0;
  return clamped_sum(rows, edges.last + row, low, high) - clamped_sum(rows, edges.first + row, low, high);
}

/// Limits the cost of the closed forms: one tile row per distinct batch entry and, with a block mask, 64 of its squares
/// take a few nanoseconds. Keeps the window responsive.
Message size_limit_error(const AttentionProblem& p) {
  constexpr std::int64_t max_batch_entries = std::int64_t{1} << 16;
  constexpr std::int64_t most_rows = std::int64_t{1} << 28;
  constexpr std::int64_t max_mask_words = std::int64_t{1} << 26;
  constexpr std::int64_t min_tile_side = 16;
  constexpr std::int64_t squares_per_word = 64;
  const std::int64_t entries = p.mask.padded() ? p.batch : 1;
  if (entries > max_batch_entries)
    return make_reason("problem.lengths_of_batch", "key lengths require a batch of at most 2^16, not {}.", p.batch);
  std::int64_t rows = 0;
  if (__builtin_add_overflow(p.n_q, p.n_k, &rows) || !multiply(rows, entries) || rows > most_rows) {
    if (!p.mask.padded())
      return make_reason("problem.rows", "{} queries plus {} keys exceed the limit of 2^28.", p.n_q, p.n_k);
    return make_reason("problem.rows_of_batch",
                       "batch {} with {} queries and {} keys exceeds the limit of 2^28 rows for key lengths.", p.batch,
                       p.n_q, p.n_k);
  }
  if (!p.mask.has_block_mask()) return {};
  const std::int64_t squares_q = ceil_div(p.n_q, p.mask.block_size);
  const std::int64_t squares_k = ceil_div(p.n_k, p.mask.block_size);
  std::int64_t words = ceil_div(p.n_q, min_tile_side) * ceil_div(squares_k, squares_per_word) +
                       ceil_div(p.n_k, min_tile_side) * ceil_div(squares_q, squares_per_word);
  if (multiply(words, entries) && words <= max_mask_words) return {};
  return make_reason("problem.squares_of_batch",
                     "a block mask of {} x {} squares is too large for {} queries, {} keys and {} lengths.", squares_q,
                     squares_k, p.n_q, p.n_k, entries);
}

/// First error of a mask for this problem; empty if valid. Pre: the extents are positive.
Message mask_error(const AttentionProblem& p) {
  constexpr std::int64_t max_window_side = std::int64_t{1} << 29;
  for (const auto& [name, side] : {std::pair{"left", p.mask.left}, std::pair{"right", p.mask.right}}) {
    if (side == Mask::unlimited || (side >= 0 && side <= max_window_side)) continue;
    return make_reason("problem.window_side", "the {} side of the window is {}; allowed: 0 to 2^29 keys.", name, side);
  }
  if (p.mask.lengths == Mask::Lengths::list) {
    if (std::cmp_not_equal(p.mask.length_list.size(), p.batch)) {
      return make_reason("problem.length_count", "the mask has {} key lengths for a batch of {}.",
                         p.mask.length_list.size(), p.batch);
    }
    const auto [shortest, longest] = std::ranges::minmax(p.mask.length_list);
    if (shortest < 0) return make_reason("problem.length_below_zero", "key length {} is negative.", shortest);
    if (longest > p.n_k) return make_reason("problem.length_beyond", "key length {} exceeds n_k ({}).", longest, p.n_k);
  }
  if (!p.mask.has_block_mask()) return {};
  constexpr std::int64_t max_mask_block = std::int64_t{1} << 20;
  constexpr std::int64_t max_mask_squares = std::int64_t{1} << 26;
  const std::int64_t size = p.mask.block_size;
  if (size < 16 || size > max_mask_block || size % 16 != 0) {
    return make_reason("problem.block_size", "the block size must be a multiple of 16 up to 2^20, not {}.", size);
  }
  if (p.mask.blocks == Mask::Blocks::stride && p.mask.block_parameter < 1) {
    return make_reason("problem.block_stride", "the stride of the block mask must be at least 1, not {}.",
                       p.mask.block_parameter);
  }
  std::int64_t squares = ceil_div(p.n_q, size);
  if (!multiply(squares, ceil_div(p.n_k, size)) || squares > max_mask_squares) {
    return make_reason("problem.block_count", "the block mask has {} x {} squares; the maximum is 2^26.",
                       ceil_div(p.n_q, size), ceil_div(p.n_k, size));
  }
  return {};
}

Message dropout_error(double dropout) {
  if (!(dropout >= 0 && dropout < 1)) {
    return make_reason("problem.dropout_range", "dropout must be at least 0 and below 1, not {}.", dropout);
  }
  // Otherwise a point labeled as dropout would drop nothing or everything.
  const long dropped = std::lround(256 * dropout);
  if (dropout > 0 && (dropped == 0 || dropped == 256)) {
    return make_reason("problem.dropout_rounds", "dropout {:g} rounds to {}/256; allowed: 0, or 1/256 to 255/256.",
                       dropout, dropped);
  }
  return {};
}

/// Visible pairs of window and block mask in rows [row, row + rows) of one row of squares. Squares between the window's
/// edges count whole: the pattern has their number.
std::int64_t visible_pairs_of_squares(const BlockPattern& pattern, std::int64_t size, const WindowEdges& edges,
                                      std::int64_t row, std::int64_t rows, std::int64_t length) {
  const auto square = [&](std::int64_t key) { return std::clamp<std::int64_t>(key, 0, length) / size; };
  const std::int64_t end = ceil_div(length, size);
  // Whole squares: from the first key of the last row to the last key of the first row, without the ragged last square.
  const std::int64_t first = std::min(square(edges.first + row), end);
  const std::int64_t last = std::min(square(edges.last + row + rows - 1) + 1, end);
  const std::int64_t whole_first =
      std::clamp(ceil_div(std::max<std::int64_t>(edges.first + row + rows - 1, 0), size), first, last);
  const std::int64_t whole_last =
      std::clamp(square(std::min(edges.last + row, length)), whole_first, std::max(whole_first, last));
  std::int64_t pairs = pattern.count_in_row(row / size, whole_first, whole_last) * rows * size;
  const auto add_cut = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t j = from; j < to; ++j) {
      if (!pattern.counts(row / size, j)) continue;
      pairs += pairs_in(edges, row, rows, j * size, std::min((j + 1) * size, length));
    }
  };
  add_cut(first, whole_first);
  add_cut(whole_last, last);
  return pairs;
}

std::int64_t visible_pairs_of_entry(const AttentionProblem& p, std::int64_t length) {
  const WindowEdges edges = first_row_edges(p, length);
  if (!p.mask.has_block_mask()) return pairs_in(edges, 0, p.n_q, 0, length);
  const std::int64_t size = p.mask.block_size;
  const auto pattern = BlockPattern::of(p.mask, ceil_div(p.n_q, size), ceil_div(p.n_k, size));
  std::int64_t pairs = 0;
  for (std::int64_t row = 0; row < p.n_q; row += size) {
    pairs += visible_pairs_of_squares(*pattern, size, edges, row, std::min(size, p.n_q - row), length);
  }
  return pairs;
}

}  // namespace

std::string_view to_string(DType value) {
  return name_of<DType>(dtype_names, value);
}
std::string_view to_string(Pass value) {
  return name_of<Pass>(pass_names, value);
}
std::string_view to_string(GpuOrder value) {
  return name_of<GpuOrder>(gpu_order_names, value);
}

Result<DType, Message> parse_dtype(std::string_view text) {
  return parse_name<DType>(dtype_names, "dtype", text);
}
Result<Pass, Message> parse_pass(std::string_view text) {
  return parse_name<Pass>(pass_names, "pass", text);
}
Result<GpuOrder, Message> parse_gpu_order(std::string_view text) {
  return parse_name<GpuOrder>(gpu_order_names, "gpu_order", text);
}

std::int64_t key_length(const AttentionProblem& p, std::int64_t entry) {
  switch (p.mask.lengths) {
    case Mask::Lengths::full:
      return p.n_k;
    case Mask::Lengths::ramp:
      return ceil_div(p.n_k * (entry + 1), p.batch);
    case Mask::Lengths::list:
      return p.mask.length_list.at(static_cast<std::size_t>(entry));
  }
  return p.n_k;
}

KeyRange visible_keys(const AttentionProblem& p, std::int64_t entry, std::int64_t row) {
  return visible_keys_for_length(p, key_length(p, entry), row);
}

KeyRange visible_keys_for_length(const AttentionProblem& p, std::int64_t length, std::int64_t row) {
  const WindowEdges edges = first_row_edges(p, length);
  const std::int64_t first = std::clamp<std::int64_t>(edges.first + row, 0, length);
  return {.first = first, .last = std::clamp(edges.last + row, first, length)};
}

std::vector<LengthCount> length_counts(const AttentionProblem& p) {
  if (!p.mask.padded()) return {{.length = p.n_k, .entries = p.batch}};
  std::vector<LengthCount> counts;
  if (p.mask.lengths == Mask::Lengths::ramp && p.batch > p.n_k) {
    // More entries than lengths: entry b has length l if l - 1 < n_k (b + 1) / batch <= l.
    std::int64_t before = 0;
    for (std::int64_t length = 1; length <= p.n_k; ++length) {
      const auto until = static_cast<std::int64_t>(static_cast<wide_int>(length) * p.batch / p.n_k);
      if (until > before) counts.push_back({.length = length, .entries = until - before});
      before = until;
    }
    return counts;
  }
  std::vector<std::int64_t> lengths;
  for (std::int64_t entry = 0; entry < p.batch; ++entry) lengths.push_back(key_length(p, entry));
  std::ranges::sort(lengths);
  for (const std::int64_t length : lengths) {
    if (counts.empty() || counts.back().length != length) counts.push_back({.length = length, .entries = 0});
    ++counts.back().entries;
  }
  return counts;
}

std::int64_t unmasked_pairs(const AttentionProblem& p) {
  std::int64_t pairs = 0;
  for (const auto& [length, entries] : length_counts(p))
    pairs += entries * p.heads_q * visible_pairs_of_entry(p, length);
  return pairs;
}

int dropout_keep_count(const AttentionProblem& p) {
  return std::clamp(static_cast<int>(std::lround(256 * (1 - p.dropout))), 1, 256);
}

double forward_flops(const AttentionProblem& p) {
  return 4.0 * static_cast<double>(p.d) * static_cast<double>(unmasked_pairs(p));
}

double backward_flops(const AttentionProblem& p) {
  return 2.5 * forward_flops(p);
}

double pass_flops(const AttentionProblem& p) {
  return (p.pass == Pass::bwd ? 0 : forward_flops(p)) + (p.pass == Pass::fwd ? 0 : backward_flops(p));
}

double least_pass_flops(const AttentionProblem& p) {
  return (p.pass == Pass::fwd ? 1.0 : p.pass == Pass::bwd ? 2.0 : 3.0) * forward_flops(p);
}

double softmax_flops_per_exponential(const AttentionProblem& p) {
  return (p.pass == Pass::fwd ? 4.0 : p.pass == Pass::bwd ? 10.0 : 7.0) * static_cast<double>(p.d);
}

std::string describe_shape(const AttentionProblem& p) {
  const std::string heads =
      p.heads_q == p.heads_kv ? fmt::format("{}", p.heads_q) : fmt::format("{}/{}", p.heads_q, p.heads_kv);
  const std::string n = p.n_q == p.n_k ? fmt::format("{}", p.n_q) : fmt::format("{}x{}", p.n_q, p.n_k);
  const std::string pass = p.pass == Pass::fwd ? "" : fmt::format(" {}", to_string(p.pass));
  const std::string mask = p.mask == Mask::none ? "" : fmt::format(" {}", to_string(p.mask));
  return fmt::format("{}{}{} batch {} heads {} N {} d {}", to_string(p.dtype), pass, mask, p.batch, heads, n, p.d);
}

std::string describe(const AttentionProblem& p) {
  const std::string dropout = p.dropout > 0 ? fmt::format(" dropout {}", p.dropout) : "";
  const std::string page = p.page > 0 ? fmt::format(" page {}", p.page) : "";
  const std::string order = p.gpu_order == GpuOrder::contiguous ? "" : fmt::format(" {}", to_string(p.gpu_order));
  const std::string gpus = p.gpus == 1 ? order : fmt::format(" on {} GPUs{}", p.gpus, order);
  return describe_shape(p) + dropout + page + (p.deterministic ? " deterministic" : "") + gpus;
}

Message invalid_reason(const AttentionProblem& p) {
  struct Extent {
    std::string_view name;
    std::int64_t value;
  };
  const std::array extents{Extent{"batch", p.batch}, Extent{"heads_q", p.heads_q}, Extent{"heads_kv", p.heads_kv},
                           Extent{"n_q", p.n_q},     Extent{"n_k", p.n_k},         Extent{"d", p.d}};
  for (const auto& [name, value] : extents) {
    if (value <= 0) return make_reason("problem.at_least_one", "{} must be at least 1, not {}.", name, value);
  }
  if (p.heads_q % p.heads_kv != 0) {
    return make_reason("problem.head_groups", "heads_q ({}) must be a multiple of heads_kv ({}).", p.heads_q,
                       p.heads_kv);
  }
  if (Message wrong = mask_error(p); !wrong.empty()) return wrong;
  if (Message wrong = size_limit_error(p); !wrong.empty()) return wrong;
  if (Message wrong = dropout_error(p.dropout); !wrong.empty()) return wrong;
  constexpr std::int64_t max_page_size = std::int64_t{1} << 24;
  if (p.page < 0 || p.page > max_page_size || (p.page > 0 && (p.page < 16 || (p.page & (p.page - 1)) != 0))) {
    return make_reason("problem.page", "page must be 0 (contiguous) or a power of two from 16 to 2^24, not {}.",
                       p.page);
  }
  if (p.gpus < 1 || p.gpus > max_gpus)
    return make_reason("problem.gpus", "gpus must be 1 to {}, not {}.", max_gpus, p.gpus);
  // Every count of the program (bytes of fp32 scores, FLOPs, traffic of the smallest tile in both passes) is below 64
  // n_q n_k d bytes per instance with full pages, so limiting this product limits them all.
  std::int64_t size = 64;
  const bool fits = multiply(size, p.batch) && multiply(size, p.heads_q) && multiply(size, p.n_q) &&
                    multiply(size, p.page > 0 ? round_up(p.n_k, p.page) : p.n_k) && multiply(size, p.d);
  if (!fits) return make_reason("problem.too_large", "{} is too large: byte counts exceed 63 bits.", describe(p));
  return {};
}

}  // namespace attnscope
