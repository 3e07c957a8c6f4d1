// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/tile_program.h"

#include <algorithm>

#include "kernels/model/integer.h"

namespace attnscope {

std::string_view to_string(Tensor tensor) {
  switch (tensor) {
    case Tensor::q:
      return "Q";
    case Tensor::k:
      return "K";
    case Tensor::v:
      return "V";
    case Tensor::o:
      return "O";
    case Tensor::s:
      return "S";
    case Tensor::p:
      return "P";
    case Tensor::o_acc:
      return "O_acc";
    case Tensor::l:
      return "l";
    case Tensor::m:
      return "m";
    case Tensor::lse:
      return "LSE";
    case Tensor::dout:
      return "dO";
    case Tensor::dq:
      return "dQ";
    case Tensor::dk:
      return "dK";
    case Tensor::dv:
      return "dV";
    case Tensor::delta:
      return "D";
    case Tensor::dp:
      return "dP";
    case Tensor::ds:
      return "dS";
    case Tensor::dq_acc:
      return "dQ_acc";
    case Tensor::o_part:
      return "O_part";
    case Tensor::lse_part:
      return "LSE_part";
    case Tensor::block_table:
      return "block table";
    case Tensor::key_lengths:
      return "key lengths";
    case Tensor::taken:
      return "tiles taken";
    case Tensor::kv_state:
      return "KV";
    case Tensor::q16:
      return "Q16";
    case Tensor::k16:
      return "K16";
    case Tensor::v16:
      return "V16";
    case Tensor::q_scales:
      return "Q scales";
    case Tensor::k_scales:
      return "K scales";
    case Tensor::v_scales:
      return "V scales";
  }
  return "?";
}

namespace {

// A box's rows are counted in 16ths; no place in a sector is so far left.
constexpr int box_unit = 16;
constexpr std::int8_t box_place = -128;

}  // namespace

TileAccess TileAccess::in_boxes(int box_rows) const {
  TileAccess boxed = *this;
  boxed.request_rows = static_cast<std::uint8_t>(box_rows / box_unit);
  boxed.place = box_place;
  return boxed;
}

int TileAccess::box_rows() const {
  return place == box_place ? request_rows * box_unit : 0;
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

void TileProgram::compute(std::int64_t /*block*/, std::int64_t /*step*/, std::vector<Computation>& /*out*/) const {}

std::vector<StepEvent> events(const TileProgram& program, std::int64_t block, std::int64_t step) {
  std::vector<TileAccess> accesses;
  std::vector<Computation> computations;
  program.visit(block, step, accesses);
  program.compute(block, step, computations);
  const auto stores = std::ranges::find_if(accesses, [](const TileAccess& a) { return a.access != Access::load; });
  std::vector<StepEvent> all(accesses.begin(), stores);
  all.insert(all.end(), computations.begin(), computations.end());
  all.insert(all.end(), stores, accesses.end());
  return all;
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
