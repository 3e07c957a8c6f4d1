// SPDX-License-Identifier: Apache-2.0
// Tile programs and closed forms of the standard attention kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/attention.h"
#include "kernels/model/tile_grid.h"
#include "kernels/model/tile_program.h"
#include "kernels/naive/naive_shape.h"

namespace attnscope::naive {

/// Tile grid over the whole score matrix: standard attention computes and stores masked scores, too.
[[nodiscard]] TileGrid unmasked_grid(AttentionProblem, const TileShape&);

/// Operands of a product: out = left right.
struct Product {
  Tensor left;
  Tensor right;
  Tensor out;
};

inline constexpr Product scores_product{Tensor::q, Tensor::k, Tensor::s};
inline constexpr Product values_product{Tensor::p, Tensor::v, Tensor::o};
inline constexpr Product dv_product{Tensor::p, Tensor::dout, Tensor::dv};
inline constexpr Product dp_product{Tensor::dout, Tensor::v, Tensor::dp};
inline constexpr Product dq_product{Tensor::ds, Tensor::k, Tensor::dq};
inline constexpr Product dk_product{Tensor::ds, Tensor::q, Tensor::dk};

/// Kernel on whole rows of n_q x n_k matrices over all instances: inputs, output, and the maximum 16-byte pieces of a
/// row per thread.
struct RowWork {
  std::span<const Tensor> in;
  Tensor out;
  int pieces;
};
inline constexpr std::array softmax_in{Tensor::s};
inline constexpr std::array ds_in{Tensor::p, Tensor::dp};
inline constexpr RowWork softmax{.in = softmax_in, .out = Tensor::p, .pieces = softmax_pieces};
inline constexpr RowWork ds{.in = ds_in, .out = Tensor::ds, .pieces = ds_pieces};

[[nodiscard]] std::int64_t rows_per_block(const AttentionProblem&, const RowWork&);
[[nodiscard]] std::int64_t row_blocks(const AttentionProblem&, const RowWork&);

using ProgramPointer = std::shared_ptr<const TileProgram>;
[[nodiscard]] ProgramPointer qk_program(const AttentionProblem&, const Config&, const Product&);
[[nodiscard]] ProgramPointer row_program(const AttentionProblem&, const RowWork&);
[[nodiscard]] ProgramPointer pv_program(const AttentionProblem&, const Config&, const Product&);
[[nodiscard]] ProgramPointer tn_program(const AttentionProblem&, const Config&, const Product&);

[[nodiscard]] std::vector<OperandTraffic> qk_traffic(const AttentionProblem&, const TileShape&, const Product&);
[[nodiscard]] std::vector<OperandTraffic> row_traffic(const AttentionProblem&, const RowWork&);
[[nodiscard]] std::vector<OperandTraffic> pv_traffic(const AttentionProblem&, const TileShape&, const Product&);
[[nodiscard]] std::vector<OperandTraffic> tn_traffic(const AttentionProblem&, const TileShape&, const Product&);

}  // namespace attnscope::naive
