// SPDX-License-Identifier: Apache-2.0
#include "kernels/naive/naive_programs.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/model/integer.h"

namespace attnscope::naive {
namespace {

/// Appends an access to rows [begin, end) of the concatenated matrices of all instances (n_q rows each), as one access
/// per instance.
void append_rows(std::vector<TileAccess>& out, TileAccess access, std::int64_t n_q, std::int64_t begin,
                 std::int64_t end) {
  for (std::int64_t row = begin; row < end;) {
    access.instance = row / n_q;
    access.row = row % n_q;
    access.rows = std::min(end, (access.instance + 1) * n_q) - row;
    out.push_back(access);
    row += access.rows;
  }
}

/// Common base of the three product programs.
class ProductProgram : public TileProgram {
 public:
  ProductProgram(const AttentionProblem& problem, const Config& config, const Product& product)
      : p_(problem),
        tile_(config.tile),
        raster_(raster_of(config)),
        product_(product),
        grid_(unmasked_grid(problem, config.tile)),
        stride_(row_stride(problem.n_k)) {}

 protected:
  AttentionProblem p_;
  TileShape tile_;
  Raster raster_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
};

/// One block per Br x Bc tile of S (or dP): loads the Q and the K tile (dO, V), stores the S tile with its padding
/// columns.
class QkProgram final : public ProductProgram {
 public:
  using ProductProgram::ProductProgram;

  [[nodiscard]] std::int64_t blocks() const override { return grid_.q_tiles() * grid_.k_tiles() * p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [i, j, instance] = place(block);
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid_.q_rows(i);
    const std::int64_t column = j * tile_.bc;
    if (step == 0) {
      const std::int64_t kv = instance / group_size(p_);
      out.push_back({product_.left, Access::load, instance, row, rows, 0, p_.d, element});
      out.push_back({product_.right, Access::load, kv, column, grid_.k_rows(j), 0, p_.d, element});
    } else {
      const std::int64_t columns = std::min<std::int64_t>(tile_.bc, stride_ - column);
      out.push_back({product_.out, Access::store, instance, row, rows, column, columns, element});
    }
  }

 private:
  struct Place {
    std::int64_t q_tile;
    std::int64_t k_tile;
    std::int64_t instance;
  };
  [[nodiscard]] Place place(std::int64_t block) const {
    const auto [tile, instance] = block_location(block, raster_, grid_.q_tiles() * grid_.k_tiles(), p_.instances());
    return {.q_tile = tile % grid_.q_tiles(), .k_tile = tile / grid_.q_tiles(), .instance = instance};
  }
};

/// A block loads a few rows whole and stores them whole. A row that does not fit on chip has a separate block, which
/// passes over it twice, a step of columns at a time: loading, then loading again and storing.
class RowProgram final : public TileProgram {
 public:
  RowProgram(const AttentionProblem& problem, const RowWork& work)
      : p_(problem),
        work_(work),
        long_(has_long_rows(problem.n_k, work_.pieces)),
        rows_per_block_(rows_per_block(problem, work)),
        stride_(row_stride(problem.n_k)) {}

  [[nodiscard]] std::int64_t blocks() const override { return row_blocks(p_, work_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override {
    return long_ ? 2 * ceil_div(stride_, long_row_step) : 2;
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const auto [begin, end] = rows(block);
    const KeyRange columns = this->columns(block, step);
    TileAccess access{.element_bytes = bytes_per_element(p_.dtype)};
    access.col = columns.first;
    access.cols = columns.last - columns.first;
    if (long_ || step == 0) {
      access.access = Access::load;
      for (const Tensor in : work_.in) {
        access.tensor = in;
        append_rows(out, access, p_.n_q, begin, end);
      }
    }
    if (step >= steps(block) / 2) {
      access.access = Access::store;
      access.tensor = work_.out;
      append_rows(out, access, p_.n_q, begin, end);
    }
  }

 private:
  /// Rows of the block, among those of all instances.
  [[nodiscard]] KeyRange rows(std::int64_t block) const {
    const std::int64_t begin = block * rows_per_block_;
    return {begin, std::min(begin + rows_per_block_, p_.instances() * p_.n_q)};
  }
  [[nodiscard]] KeyRange columns(std::int64_t block, std::int64_t step) const {
    if (!long_) return {0, stride_};
    const std::int64_t first = step % (steps(block) / 2) * long_row_step;
    return {first, std::min<std::int64_t>(first + long_row_step, stride_)};
  }

  AttentionProblem p_;
  RowWork work_;
  bool long_;
  std::int64_t rows_per_block_;
  std::int64_t stride_;
};

/// One block per Br x d tile of O (or dQ): steps along P (dS) by pv_step columns and loads as many rows of V (K) with
/// each.
class PvProgram final : public ProductProgram {
 public:
  using ProductProgram::ProductProgram;

  [[nodiscard]] std::int64_t blocks() const override { return grid_.q_tiles() * p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return loads_ + 1; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [i, instance] = block_location(block, raster_, grid_.q_tiles(), p_.instances());
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid_.q_rows(i);
    if (step == loads_) {
      out.push_back({product_.out, Access::store, instance, row, rows, 0, p_.d, output_bytes(p_.dtype)});
      return;
    }
    const std::int64_t key = step * pv_step;
    const std::int64_t columns = std::min<std::int64_t>(pv_step, stride_ - key);
    const std::int64_t keys = std::min<std::int64_t>(pv_step, p_.n_k - key);
    out.push_back({product_.left, Access::load, instance, row, rows, key, columns, element});
    out.push_back({product_.right, Access::load, instance / group_size(p_), key, keys, 0, p_.d, element});
  }

 private:
  const std::int64_t loads_ = ceil_div(p_.n_k, pv_step);
};

/// One block per Bc x d tile of dV (or dK): steps along P (dS) by tn_step query rows and loads as many rows of dO (Q)
/// with each. The query heads of a K/V head are contiguous.
class TnProgram final : public ProductProgram {
 public:
  using ProductProgram::ProductProgram;

  [[nodiscard]] std::int64_t blocks() const override { return grid_.k_tiles() * p_.kv_instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return loads_ + 1; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [j, kv] = block_location(block, raster_, grid_.k_tiles(), p_.kv_instances());
    const std::int64_t column = j * tile_.bc;
    if (step == loads_) {
      out.push_back({product_.out, Access::store, kv, column, grid_.k_rows(j), 0, p_.d, output_bytes(p_.dtype)});
      return;
    }
    const std::int64_t begin = kv * rows_ + step * tn_step;
    const std::int64_t end = std::min(begin + tn_step, (kv + 1) * rows_);
    TileAccess access{.access = Access::load, .element_bytes = element};
    const auto load = [&](Tensor tensor, std::int64_t first_column, std::int64_t columns) {
      access.tensor = tensor;
      access.col = first_column;
      access.cols = columns;
      append_rows(out, access, p_.n_q, begin, end);
    };
    load(product_.left, column, std::min<std::int64_t>(tile_.bc, stride_ - column));
    load(product_.right, 0, p_.d);
  }

 private:
  const std::int64_t rows_ = group_size(p_) * p_.n_q;
  const std::int64_t loads_ = ceil_div(rows_, tn_step);
};

}  // namespace

TileGrid unmasked_grid(AttentionProblem p, const TileShape& tile) {
  p.mask = Mask::none;
  return {p, tile};
}

std::int64_t rows_per_block(const AttentionProblem& p, const RowWork& work) {
  return has_long_rows(p.n_k, work.pieces) ? 1 : rows_per_block(p.n_k, work.pieces);
}
std::int64_t row_blocks(const AttentionProblem& p, const RowWork& work) {
  return ceil_div(p.instances() * p.n_q, rows_per_block(p, work));
}

ProgramPointer qk_program(const AttentionProblem& p, const Config& config, const Product& product) {
  return std::make_shared<const QkProgram>(p, config, product);
}
ProgramPointer row_program(const AttentionProblem& p, const RowWork& work) {
  return std::make_shared<const RowProgram>(p, work);
}
ProgramPointer pv_program(const AttentionProblem& p, const Config& config, const Product& product) {
  return std::make_shared<const PvProgram>(p, config, product);
}
ProgramPointer tn_program(const AttentionProblem& p, const Config& config, const Product& product) {
  return std::make_shared<const TnProgram>(p, config, product);
}

std::vector<OperandTraffic> qk_traffic(const AttentionProblem& p, const TileShape& tile, const Product& product) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t q_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  const std::int64_t k_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {{product.left, {.l2_to_sm_bytes = p.instances() * q_reads * p.d * element}},
          {product.right, {.l2_to_sm_bytes = p.instances() * k_reads * p.d * element}},
          {product.out, {.sm_to_l2_bytes = p.instances() * p.n_q * row_stride(p.n_k) * element}}};
}

std::vector<OperandTraffic> row_traffic(const AttentionProblem& p, const RowWork& work) {
  const std::int64_t matrix = p.instances() * p.n_q * row_stride(p.n_k) * bytes_per_element(p.dtype);
  const std::int64_t reads = has_long_rows(p.n_k, work.pieces) ? 2 : 1;
  std::vector<OperandTraffic> operands;
  for (const Tensor in : work.in) operands.push_back({in, {.l2_to_sm_bytes = reads * matrix}});
  operands.push_back({work.out, {.sm_to_l2_bytes = matrix}});
  return operands;
}

std::vector<OperandTraffic> pv_traffic(const AttentionProblem& p, const TileShape& tile, const Product& product) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t v_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {{product.left, {.l2_to_sm_bytes = p.instances() * p.n_q * row_stride(p.n_k) * element}},
          {product.right, {.l2_to_sm_bytes = p.instances() * v_reads * p.d * element}},
          {product.out, {.sm_to_l2_bytes = p.instances() * p.n_q * p.d * output_bytes(p.dtype)}}};
}

std::vector<OperandTraffic> tn_traffic(const AttentionProblem& p, const TileShape& tile, const Product& product) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t dout_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  return {{product.left, {.l2_to_sm_bytes = p.instances() * p.n_q * row_stride(p.n_k) * element}},
          {product.right, {.l2_to_sm_bytes = p.instances() * dout_reads * p.d * element}},
          {product.out, {.sm_to_l2_bytes = p.kv_instances() * p.n_k * p.d * output_bytes(p.dtype)}}};
}

}  // namespace attnscope::naive
