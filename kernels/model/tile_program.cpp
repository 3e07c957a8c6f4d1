// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/tile_program.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/model/integer.h"

namespace attnscope {

namespace {

std::vector<std::string_view>& tensor_names() {
  static std::vector<std::string_view> names{
      "Q",           "K",           "V",           "O",   "S",   "P",   "O_acc",    "l",        "m",       "LSE",
      "dO",          "dQ",          "dK",          "dV",  "D",   "dP",  "dS",       "dQ_acc",   "O_part",  "LSE_part",
      "block table", "key lengths", "tiles taken", "Q16", "K16", "V16", "Q scales", "K scales", "V scales"};
  return names;
}

}  // namespace

std::size_t tensor_count() {
  return tensor_names().size();
}

Tensor register_tensor(std::string_view name) {
  if (tensor_count() == max_tensors) throw std::length_error("too many tensors (increase most_tensors)");
  tensor_names().push_back(name);
  return static_cast<Tensor>(tensor_count() - 1);
}

std::string_view to_string(Tensor tensor) {
  const auto place = static_cast<std::size_t>(tensor);
  return place < tensor_count() ? tensor_names()[place] : "?";
}

namespace {

// Box rows are stored in units of 16; `box_marker` is no valid index in a sector.
constexpr int box_unit = 16;
constexpr std::int8_t box_marker = -128;

}  // namespace

TileAccess TileAccess::with_tma_boxes(int box_rows) const {
  TileAccess boxed = *this;
  boxed.request_rows = static_cast<std::uint8_t>(box_rows / box_unit);
  boxed.place = box_marker;
  return boxed;
}

int TileAccess::box_rows() const {
  return place == box_marker ? request_rows * box_unit : 0;
}

std::int64_t TileAccess::moved_bytes() const {
  if (request_rows == 0) return bytes();
  const std::int64_t row_bytes = cols * element_bytes;
  if (const std::int64_t box = box_rows(); box > 0) return ceil_div(rows, box) * box * row_bytes;
  std::int64_t sectors = 0;
  for (std::int64_t first = 0; first < rows; first += request_rows) {
    const std::int64_t begin = (place + first) * row_bytes;
    const std::int64_t end = (place + std::min<std::int64_t>(first + request_rows, rows)) * row_bytes;
    sectors += std::max<std::int64_t>(0, ceil_div(end, sector_bytes) - begin / sector_bytes);
  }
  return sectors * sector_bytes;
}

Traffic sum_of(std::span<const OperandTraffic> operands) {
  Traffic sum;
  for (const OperandTraffic& operand : operands) sum += operand.traffic;
  return sum;
}

bool PairFinder::step(bool queries, bool keys) {
  ++step_;
  if (!queries && !keys) return false;
  // The operand loaded after the other one was streamed; the next tiles combine with a new tile.
  if (!queries && keys_ >= 0 && queries_ > keys_) queries_ = -1;
  if (!keys && queries_ >= 0 && keys_ > queries_) keys_ = -1;
  if (queries) queries_ = step_;
  if (keys) keys_ = step_;
  return queries_ >= 0 && keys_ >= 0;
}

Traffic walk(const TileProgram& program) {
  Traffic sum;
  std::vector<TileAccess> accesses;
  for (std::int64_t block = 0; block < program.blocks(); ++block) {
    const std::int64_t steps = program.steps(block);
    for (std::int64_t step = 0; step < steps; ++step) {
      accesses.clear();
      program.visit(block, step, accesses);
      for (const TileAccess& access : accesses) {
        (access.access == Access::load ? sum.l2_to_sm_bytes : sum.sm_to_l2_bytes) += access.moved_bytes();
      }
    }
  }
  return sum;
}

}  // namespace attnscope
