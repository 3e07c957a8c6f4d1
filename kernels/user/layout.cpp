// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/layout.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "kernels/algorithm_parts.h"

namespace attnscope::user {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 40;

bool is_query_shaped(std::string_view tensor) {
  return tensor == "q" || tensor == "o" || tensor == "dout" || tensor == "dq";
}

Expression parsed(std::string_view text) {
  return Expression::parse(text).value();
}

PlacementSpec place(const char* tensor, const std::array<const char*, 3>& strides) {
  return {.tensor = tensor,
          .within = {},
          .at = {},
          .strides = {parsed(strides[0]), parsed(strides[1]), parsed(strides[2])},
          .packed = false};
}

/// Throws Message if two rows overlap. `counts` and `strides`: batch entries, heads and rows.
void check_no_overlap(const PlacementSpec& stated, std::int64_t d, const std::array<std::int64_t, 3>& counts,
                      const std::array<std::int64_t, 3>& strides) {
  std::array<std::size_t, 3> order{0, 1, 2};
  std::ranges::sort(order, {}, [&](std::size_t i) { return strides.at(i); });
  std::int64_t extent = d;
  for (const std::size_t i : order) {
    if (counts.at(i) == 1) continue;
    if (strides.at(i) < extent) {
      throw make_message("rows of {} overlap: stride '{}' is {} and must be at least {}", stated.tensor,
                         stated.strides.at(i).text(), strides.at(i), extent);
    }
    extent += strides.at(i) * (counts.at(i) - 1);
  }
}

/// A tensor in a shared buffer: offset in elements, counts and strides of batch entries, heads and rows.
struct Part {
  std::string tensor;
  std::int64_t at = 0;
  std::array<std::int64_t, 3> counts{};
  std::array<std::int64_t, 3> strides{};

  /// Elements from the first to the last of dimensions `from` and up.
  [[nodiscard]] std::int64_t extent(std::size_t from, std::int64_t d) const {
    std::int64_t elements = d;
    for (std::size_t i = from; i < counts.size(); ++i) elements += (counts.at(i) - 1) * strides.at(i);
    return elements;
  }
};

/// Returns true if the tensors do not overlap: one ends before the other begins, or, with equal strides, they
/// interleave within one stride. Pre: neither overlaps itself.
bool disjoint(Part first, Part second, std::int64_t d) {
  if (first.at > second.at) std::swap(first, second);
  std::int64_t between = second.at - first.at;
  if (between >= first.extent(0, d)) return true;
  if (first.strides != second.strides) return false;
  // Sorts dimensions by descending stride.
  for (const auto& [i, j] : {std::pair{0U, 1U}, std::pair{1U, 2U}, std::pair{0U, 1U}}) {
    if (first.strides.at(i) >= first.strides.at(j)) continue;
    for (Part* const part : {&first, &second}) {
      std::swap(part->strides.at(i), part->strides.at(j));
      std::swap(part->counts.at(i), part->counts.at(j));
    }
  }
  for (std::size_t i = 0; i < first.strides.size(); ++i) {
    between %= first.strides.at(i);
    if (between >= first.extent(i + 1, d) && between + second.extent(i + 1, d) <= first.strides.at(i)) return true;
  }
  return false;
}

/// First row of each batch entry, then the total number of rows.
std::vector<std::int64_t> row_starts(const AttentionProblem& p, bool queries) {
  std::vector<std::int64_t> starts{0};
  for (std::int64_t entry = 0; entry < p.batch; ++entry) {
    starts.push_back(starts.back() + (queries ? p.n_q : key_length(p, entry)));
  }
  return starts;
}

BufferSpec starts_buffer(std::string name, const AttentionProblem& p, bool queries) {
  constexpr std::int64_t size = sizeof(std::int32_t);
  return contents_buffer(std::move(name), (p.batch + 1) * size, [p, queries] {
    const std::vector<std::int64_t> starts = row_starts(p, queries);
    const std::vector<std::int32_t> values(starts.begin(), starts.end());
    std::vector<std::byte> bytes(values.size() * size);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  });
}

/// Sets the strides of `place`. Returns the elements that its buffer needs, with packed rows fewer than those of the
/// part.
std::int64_t place_tensor(attnscope::Place& place, Part& part, const PlacementSpec& stated, const AttentionProblem& p,
                          const Variables& known) {
  const bool queries = is_query_shaped(stated.tensor);
  const std::int64_t n = queries ? p.n_q : p.n_k;
  part.tensor = stated.tensor;
  part.counts = {p.batch, queries ? p.heads_q : p.heads_kv, n};
  for (std::size_t i = 0; i < part.strides.size(); ++i) {
    part.strides.at(i) = stated.strides.at(i).evaluate_within(known, 1, max_elements / part.counts.at(i));
  }
  if (stated.at) part.at = stated.at->evaluate_within(known, 0, max_elements);
  check_no_overlap(stated, p.d, part.counts, part.strides);
  place.strides = {.batch = part.strides[0], .head = part.strides[1], .row = part.strides[2], .starts = {}};
  place.within = stated.within;
  place.offset = part.at * bytes_per_element(p.dtype);
  if (!stated.packed) return part.at + part.extent(0, p.d);
  place.strides->starts = row_starts(p, queries);
  const std::int64_t rows = std::max<std::int64_t>(1, place.strides->starts.back());
  return part.extent(1, p.d) + (rows - n) * part.strides[2];
}

}  // namespace

const std::vector<std::string_view>& layout_names() {
  static const std::vector<std::string_view> words{"bhnd", "bnhd", "bn3hd", "thd"};
  return words;
}

std::vector<PlacementSpec> layout_placements(std::string_view word) {
  if (word == "bhnd") return {};
  const bool three = word == "bn3hd";
  std::vector<PlacementSpec> all;
  for (const char* tensor : {"q", "o", "dout", "dq"}) {
    all.push_back(place(tensor, {"n_q * heads * d", "d", "heads * d"}));
  }
  for (const char* tensor : {"k", "v", "dk", "dv"}) {
    all.push_back(place(tensor, {"n_k * heads_kv * d", "d", "heads_kv * d"}));
    all.back().packed = word == "thd";
  }
  if (!three) return all;
  for (PlacementSpec& each : all) {
    if (each.tensor == "o" || each.tensor == "dout") continue;
    const char* const before = each.tensor.back() == 'q'   ? "0"
                               : each.tensor.back() == 'k' ? "heads * d"
                                                           : "2 * heads * d";
    const std::string tensor = each.tensor;
    each = place(tensor.c_str(), {"3 * n_q * heads * d", "d", "3 * heads * d"});
    each.within = tensor.size() == 1 ? "qkv" : "dqkv";
    each.at = parsed(before);
  }
  return all;
}

std::optional<Expression> layout_condition(std::string_view word) {
  if (word == "bn3hd") return parsed("heads == heads_kv && n_q == n_k");
  return std::nullopt;
}

void place_tensors(std::vector<BufferSpec>& buffers, const std::vector<PlacementSpec>& places,
                   const AttentionProblem& p, const Variables& known) {
  std::vector<BufferSpec> together;
  std::map<std::string, std::vector<Part>> parts;  // key: name of the enclosing buffer
  bool packed = false;
  for (const PlacementSpec& stated : places) {
    packed = packed || stated.packed;
    const auto buffer = std::ranges::find(buffers, stated.tensor, &BufferSpec::name);
    if (buffer == buffers.end()) continue;
    Part part;
    const std::int64_t bytes = bytes_per_element(p.dtype) * place_tensor(buffer->place, part, stated, p, known);
    if (stated.within.empty()) {
      buffer->bytes = bytes;
      continue;
    }
    buffer->bytes = 0;
    for (const Part& other : parts[stated.within]) {
      if (disjoint(part, other, p.d)) continue;
      throw make_message("{} and {} overlap in {} (change 'at', or use equal strides)", other.tensor, part.tensor,
                         stated.within);
    }
    parts[stated.within].push_back(part);
    auto whole = std::ranges::find(together, stated.within, &BufferSpec::name);
    if (whole == together.end()) {
      together.push_back({stated.within, 0, is_written(buffer->fill) ? BufferFill::poison : BufferFill::inputs});
      whole = std::prev(together.end());
    }
    whole->bytes = std::max(whole->bytes, bytes);
  }
  if (packed) {
    together.push_back(starts_buffer("q_starts", p, true));
    together.push_back(starts_buffer("k_starts", p, false));
  }
  buffers.insert(buffers.begin(), std::make_move_iterator(together.begin()), std::make_move_iterator(together.end()));
}

}  // namespace attnscope::user
