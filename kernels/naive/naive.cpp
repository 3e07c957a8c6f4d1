// SPDX-License-Identifier: Apache-2.0
#include "kernels/naive/naive.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/descriptor.h"
#include "kernels/model/integer.h"
#include "kernels/model/io_model.h"
#include "kernels/model/tile_grid.h"
#include "kernels/naive/naive_shape.h"
#include "kernels/tile_computations.h"

namespace attnscope {
namespace {

/// The grid of tiles over a whole score matrix: standard attention computes and stores what the mask hides, too.
TileGrid whole_grid(AttentionProblem p, const Tiling& tile) {
  p.mask = Mask::none;
  return {p, tile};
}

/// Appends an access to rows [begin, end) of all instances' matrices of `n_q` rows, seen as one: one access for each
/// instance that they straddle.
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

/// The three matrices of a product: out = left right.
struct Product {
  Tensor left;
  Tensor right;
  Tensor out;
  Phase computes;
};

/// A product's parts on chip, as Models lists them.
constexpr std::uint8_t left_part = 0;
constexpr std::uint8_t right_part = 1;
constexpr std::uint8_t out_part = 2;

Phase load_of(Tensor tensor) {
  switch (tensor) {
    case Tensor::q:
      return Phase::load_q;
    case Tensor::k:
      return Phase::load_k;
    case Tensor::v:
      return Phase::load_v;
    case Tensor::s:
      return Phase::load_s;
    case Tensor::p:
      return Phase::load_p;
    case Tensor::dout:
      return Phase::load_dout;
    case Tensor::dp:
      return Phase::load_dp;
    case Tensor::ds:
      return Phase::load_ds;
    default:
      return Phase::unstated;
  }
}

Phase store_of(Tensor tensor) {
  switch (tensor) {
    case Tensor::s:
      return Phase::store_s;
    case Tensor::p:
      return Phase::store_p;
    case Tensor::o:
      return Phase::store_o;
    case Tensor::dp:
      return Phase::store_dp;
    case Tensor::ds:
      return Phase::store_ds;
    case Tensor::dq:
      return Phase::store_dq;
    case Tensor::dk:
      return Phase::store_dk;
    case Tensor::dv:
      return Phase::store_dv;
    default:
      return Phase::unstated;
  }
}

/// What a product computes from the tiles that a step has loaded: rows x cols of `out`.
Computation product_step(const AttentionProblem& p, const Product& product, std::int64_t rows, std::int64_t cols) {
  const OnChipParts operands = parts_of({left_part, right_part});
  return {product.computes, out_part, operands, operands, rows, cols, accumulator_bytes(p.dtype)};
}

/// One block for each Br x Bc tile of S (or dP): loads the Q and the K tile (dO, V), stores the S tile with its padding
/// columns.
class QkProgram final : public TileProgram {
 public:
  QkProgram(const AttentionProblem& problem, const Tiling& tile, const Product& product)
      : p_(problem),
        tile_(tile),
        product_(product),
        grid_(whole_grid(problem, tile)),
        stride_(naive::row_stride(problem.n_k)) {}

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
      out.push_back(
          {product_.left, Access::load, instance, row, rows, 0, p_.d, element, load_of(product_.left), left_part});
      out.push_back({product_.right, Access::load, kv, column, grid_.k_rows(j), 0, p_.d, element,
                     load_of(product_.right), right_part});
    } else {
      const std::int64_t columns = std::min<std::int64_t>(tile_.bc, stride_ - column);
      out.push_back({product_.out, Access::store, instance, row, rows, column, columns, element, store_of(product_.out),
                     out_part});
    }
  }

  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    const auto [i, j, instance] = place(block);
    if (step == 0) out.push_back(product_step(p_, product_, grid_.q_rows(i), grid_.k_rows(j)));
  }

 private:
  struct Place {
    std::int64_t q_tile;
    std::int64_t k_tile;
    std::int64_t instance;
  };
  [[nodiscard]] Place place(std::int64_t block) const {
    const auto [tile, instance] = place_of(block, tile_.raster, grid_.q_tiles() * grid_.k_tiles(), p_.instances());
    return {.q_tile = tile % grid_.q_tiles(), .k_tile = tile / grid_.q_tiles(), .instance = instance};
  }

  AttentionProblem p_;
  Tiling tile_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
};

Traffic qk_traffic(const AttentionProblem& p, const Tiling& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t q_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  const std::int64_t k_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {.l2_to_sm_bytes = p.instances() * (q_reads + k_reads) * p.d * element,
          .sm_to_l2_bytes = p.instances() * p.n_q * naive::row_stride(p.n_k) * element};
}

/// Whole rows of n_q x n_k matrices, over all instances: what is read, what is written, on how many pieces of a row a
/// thread works at most, and what is computed: sums over a row, and then `out` in the place of the last matrix of `in`.
struct RowWork {
  std::span<const Tensor> in;
  Tensor out;
  int pieces;
  Phase sums;
  Phase computes;
};
constexpr std::array softmax_in{Tensor::s};
constexpr std::array ds_in{Tensor::p, Tensor::dp};
constexpr RowWork softmax{.in = softmax_in,
                          .out = Tensor::p,
                          .pieces = naive::softmax_pieces,
                          .sums = Phase::row_statistics,
                          .computes = Phase::softmax};
constexpr RowWork ds{.in = ds_in,
                     .out = Tensor::ds,
                     .pieces = naive::ds_pieces,
                     .sums = Phase::row_products_of_p,
                     .computes = Phase::score_gradients};

std::int64_t rows_per_block(const AttentionProblem& p, const RowWork& work) {
  return naive::long_rows(p.n_k, work.pieces) ? 1 : naive::rows_per_block(p.n_k, work.pieces);
}
std::int64_t row_blocks(const AttentionProblem& p, const RowWork& work) {
  return ceil_div(p.instances() * p.n_q, rows_per_block(p, work));
}

/// A block takes a few rows: loads them whole, stores them whole. A row that does not fit on chip has a block of its
/// own, which walks it twice, a step of columns at a time: loading, then loading again and storing.
class RowProgram final : public TileProgram {
 public:
  RowProgram(const AttentionProblem& problem, const RowWork& work)
      : p_(problem),
        work_(work),
        long_(naive::long_rows(problem.n_k, work_.pieces)),
        rows_per_block_(rows_per_block(problem, work)),
        stride_(naive::row_stride(problem.n_k)) {}

  [[nodiscard]] std::int64_t blocks() const override { return row_blocks(p_, work_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override {
    return long_ ? 2 * ceil_div(stride_, naive::long_row_step) : 2;
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const auto [begin, end] = rows(block);
    const KeyRange columns = this->columns(block, step);
    TileAccess access{.element_bytes = bytes_per_element(p_.dtype)};
    access.col = columns.first;
    access.cols = columns.last - columns.first;
    if (long_ || step == 0) {
      access.access = Access::load;
      access.on_chip = 0;
      for (const Tensor in : work_.in) {
        access.tensor = in;
        access.phase = load_of(in);
        append_rows(out, access, p_.n_q, begin, end);
        ++access.on_chip;
      }
    }
    if (step >= steps(block) / 2) {
      access.access = Access::store;
      access.tensor = work_.out;
      access.phase = store_of(work_.out);
      access.on_chip = last_in();
      append_rows(out, access, p_.n_q, begin, end);
    }
  }

  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    const bool second_walk = step >= steps(block) / 2;
    if (!long_ && second_walk) return;
    const auto [begin, end] = rows(block);
    const KeyRange columns = this->columns(block, step);
    const int element = bytes_per_element(p_.dtype);
    OnChipParts in;
    for (std::size_t part = 0; part < work_.in.size(); ++part) in.set(part);
    if (!second_walk) out.push_back({work_.sums, no_part, in, long_ ? in : OnChipParts(), end - begin, 1, fp32_bytes});
    if (long_ && !second_walk) return;
    out.push_back({work_.computes, last_in(), in, in & ~parts_of({last_in()}), end - begin,
                   columns.last - columns.first, element});
  }

 private:
  [[nodiscard]] std::uint8_t last_in() const { return static_cast<std::uint8_t>(work_.in.size() - 1); }
  /// Of all instances' rows, those of the block; and the columns of a step.
  [[nodiscard]] KeyRange rows(std::int64_t block) const {
    const std::int64_t begin = block * rows_per_block_;
    return {begin, std::min(begin + rows_per_block_, p_.instances() * p_.n_q)};
  }
  [[nodiscard]] KeyRange columns(std::int64_t block, std::int64_t step) const {
    if (!long_) return {0, stride_};
    const std::int64_t first = step % (steps(block) / 2) * naive::long_row_step;
    return {first, std::min<std::int64_t>(first + naive::long_row_step, stride_)};
  }

  AttentionProblem p_;
  RowWork work_;
  bool long_;
  std::int64_t rows_per_block_;
  std::int64_t stride_;
};

Traffic row_traffic(const AttentionProblem& p, const RowWork& work) {
  const std::int64_t matrix = p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
  const std::int64_t reads = naive::long_rows(p.n_k, work.pieces) ? 2 : 1;
  return {.l2_to_sm_bytes = reads * std::ssize(work.in) * matrix, .sm_to_l2_bytes = matrix};
}

/// One block for each Br x d tile of O (or dQ): walks along P (dS) in steps of pv_step columns, loading as many rows of
/// V (K) with each.
class PvProgram final : public TileProgram {
 public:
  PvProgram(const AttentionProblem& problem, const Tiling& tile, const Product& product)
      : p_(problem),
        tile_(tile),
        product_(product),
        grid_(whole_grid(problem, tile)),
        stride_(naive::row_stride(problem.n_k)),
        loads_(ceil_div(problem.n_k, naive::pv_step)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.q_tiles() * p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return loads_ + 1; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [i, instance] = place_of(block, tile_.raster, grid_.q_tiles(), p_.instances());
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid_.q_rows(i);
    if (step == loads_) {
      out.push_back({product_.out, Access::store, instance, row, rows, 0, p_.d, output_bytes(p_.dtype),
                     store_of(product_.out), out_part});
      return;
    }
    const std::int64_t key = step * naive::pv_step;
    const std::int64_t columns = std::min<std::int64_t>(naive::pv_step, stride_ - key);
    const std::int64_t keys = std::min<std::int64_t>(naive::pv_step, p_.n_k - key);
    out.push_back(
        {product_.left, Access::load, instance, row, rows, key, columns, element, load_of(product_.left), left_part});
    out.push_back({product_.right, Access::load, instance / group_size(p_), key, keys, 0, p_.d, element,
                   load_of(product_.right), right_part});
  }

  /// Warps that share rows have a sum each, of a part of the columns.
  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    const std::int64_t sums = naive::pv_column_warps(tile_.br, static_cast<int>(p_.d));
    const std::int64_t rows =
        grid_.q_rows(place_of(block, tile_.raster, grid_.q_tiles(), p_.instances()).q_tile) * sums;
    if (step < loads_) {
      out.push_back(product_step(p_, product_, rows, p_.d));
    } else if (sums > 1) {
      out.push_back({Phase::merge, out_part, {}, {}, rows, p_.d, accumulator_bytes(p_.dtype)});
    }
  }

 private:
  AttentionProblem p_;
  Tiling tile_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
  std::int64_t loads_;
};

Traffic pv_traffic(const AttentionProblem& p, const Tiling& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t v_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {.l2_to_sm_bytes = p.instances() * (p.n_q * naive::row_stride(p.n_k) + v_reads * p.d) * element,
          .sm_to_l2_bytes = p.instances() * p.n_q * p.d * output_bytes(p.dtype)};
}

/// One block for each Bc x d tile of dV (or dK): walks down P (dS) in steps of tn_step query rows, loading as many rows
/// of dO (Q) with each; the rows of a K/V head's query heads follow one another.
class TnProgram final : public TileProgram {
 public:
  TnProgram(const AttentionProblem& problem, const Tiling& tile, const Product& product)
      : p_(problem),
        tile_(tile),
        product_(product),
        grid_(whole_grid(problem, tile)),
        stride_(naive::row_stride(problem.n_k)),
        rows_(group_size(problem) * problem.n_q),
        loads_(ceil_div(rows_, naive::tn_step)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.k_tiles() * p_.kv_instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return loads_ + 1; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [j, kv] = place_of(block, tile_.raster, grid_.k_tiles(), p_.kv_instances());
    const std::int64_t column = j * tile_.bc;
    if (step == loads_) {
      out.push_back({product_.out, Access::store, kv, column, grid_.k_rows(j), 0, p_.d, output_bytes(p_.dtype),
                     store_of(product_.out), out_part});
      return;
    }
    const std::int64_t begin = kv * rows_ + step * naive::tn_step;
    const std::int64_t end = std::min(begin + naive::tn_step, (kv + 1) * rows_);
    TileAccess access{.access = Access::load, .element_bytes = element};
    const auto load = [&](Tensor tensor, std::int64_t first_column, std::int64_t columns, std::uint8_t part) {
      access.tensor = tensor;
      access.col = first_column;
      access.cols = columns;
      access.phase = load_of(tensor);
      access.on_chip = part;
      append_rows(out, access, p_.n_q, begin, end);
    };
    load(product_.left, column, std::min<std::int64_t>(tile_.bc, stride_ - column), left_part);
    load(product_.right, 0, p_.d, right_part);
  }

  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    if (step == loads_) return;
    const std::int64_t j = place_of(block, tile_.raster, grid_.k_tiles(), p_.kv_instances()).q_tile;
    out.push_back(product_step(p_, product_, grid_.k_rows(j), p_.d));
  }

 private:
  AttentionProblem p_;
  Tiling tile_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
  std::int64_t rows_;
  std::int64_t loads_;
};

Traffic tn_traffic(const AttentionProblem& p, const Tiling& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t dout_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  return {.l2_to_sm_bytes = p.instances() * (p.n_q * naive::row_stride(p.n_k) + dout_reads * p.d) * element,
          .sm_to_l2_bytes = p.kv_instances() * p.n_k * p.d * output_bytes(p.dtype)};
}

KernelNeeds qk_needs(const AttentionProblem& p, const Tiling& tile) {
  return {.kernel = "naive qk",
          .threads = naive::qk_threads(tile.br),
          .registers = naive::qk_register_estimate(tile.br, tile.bc),
          .shared_bytes = naive::qk_shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype))};
}

KernelNeeds row_needs(std::string_view kernel, const AttentionProblem& p, const RowWork& work) {
  return {
      .kernel = kernel, .threads = naive::row_threads(p.n_k, work.pieces), .registers = naive::row_register_estimate};
}

KernelNeeds pv_needs(const AttentionProblem& p, const Tiling& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive pv",
          .threads = naive::pv_threads(tile.br, d),
          .registers = naive::pv_register_estimate(tile.br, d),
          .shared_bytes = naive::pv_shared_bytes(tile.br, d, bytes_per_element(p.dtype))};
}

KernelNeeds tn_needs(const AttentionProblem& p, const Tiling& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive tn",
          .threads = naive::tn_threads(tile.bc, d),
          .registers = naive::tn_register_estimate(tile.bc, d),
          .shared_bytes = naive::tn_shared_bytes(tile.bc, d, bytes_per_element(p.dtype))};
}

/// What Z multiplies the entries by that it keeps.
float dropout_factor(const AttentionProblem& p) {
  return 256.0F / static_cast<float>(dropout_keep(p));
}

/// The words of a product's three matrices on chip.
struct ProductNames {
  const char* left;
  const char* right;
  const char* out;
};

/// Makes the models of one problem and tile.
class Models {
 public:
  Models(const AttentionProblem& problem, const Tiling& tile)
      : p_(problem),
        tile_(tile),
        // A mask spares the products nothing: S is whole.
        product_flops_(2.0 * static_cast<double>(problem.d) *
                       static_cast<double>(problem.instances() * problem.n_q * problem.n_k)) {}

  [[nodiscard]] KernelModel qk(std::string name, const ProductNames& names) const {
    const TileGrid grid = whole_grid(p_, tile_);
    const std::int64_t columns = naive::qk_chunk_columns(tile_.br, tile_.bc);
    return kernel_model(
        std::move(name), grid.q_tiles() * grid.k_tiles() * p_.instances(), qk_needs(p_, tile_), qk_traffic(p_, tile_),
        product_flops_,
        {in_shared(names.left, tile_.br * p_.d * element_), in_shared(names.right, tile_.bc * p_.d * element_),
         in_registers(names.out, tile_.br * columns * accumulator_)});
  }

  /// `name` is its kernel's, too.
  [[nodiscard]] KernelModel rows(std::string name, std::string_view kernel, const RowWork& work) const {
    const std::int64_t held = naive::long_rows(p_.n_k, work.pieces) ? naive::long_row_step : naive::row_stride(p_.n_k);
    const std::int64_t bytes =
        rows_per_block(p_, work) * std::min<std::int64_t>(held, naive::row_stride(p_.n_k)) * element_;
    std::vector<OnChipPart> parts;
    for (const Tensor in : work.in) parts.push_back(in_registers(on_chip_name(in), bytes));
    return kernel_model(std::move(name), row_blocks(p_, work), row_needs(kernel, p_, work), row_traffic(p_, work), 0,
                        std::move(parts));
  }

  [[nodiscard]] KernelModel pv(std::string name, const ProductNames& names) const {
    const int d = static_cast<int>(p_.d);
    const int stages = naive::pv_stages(tile_.br, d, element_);
    return kernel_model(
        std::move(name), p_.instances() * ceil_div(p_.n_q, tile_.br), pv_needs(p_, tile_), pv_traffic(p_, tile_),
        product_flops_,
        {in_shared(names.left, std::int64_t{stages} * naive::pv_step * tile_.br * element_, stages),
         in_shared(names.right, std::int64_t{stages} * naive::pv_step * d * element_, stages),
         in_registers(names.out, std::int64_t{tile_.br} * d * accumulator_ * naive::pv_column_warps(tile_.br, d))});
  }

  [[nodiscard]] KernelModel tn(std::string name, const ProductNames& names) const {
    constexpr std::int64_t stages = naive::tn_stages;
    return kernel_model(std::move(name), p_.kv_instances() * ceil_div(p_.n_k, tile_.bc), tn_needs(p_, tile_),
                        tn_traffic(p_, tile_), product_flops_,
                        {in_shared(names.left, stages * naive::tn_step * tile_.bc * element_, stages),
                         in_shared(names.right, stages * naive::tn_step * p_.d * element_, stages),
                         in_registers(names.out, tile_.bc * p_.d * accumulator_)});
  }

 private:
  static const char* on_chip_name(Tensor tensor) {
    return tensor == Tensor::s ? "S" : tensor == Tensor::p ? "P" : "dP";
  }

  AttentionProblem p_;
  Tiling tile_;
  int element_ = bytes_per_element(p_.dtype);
  int accumulator_ = accumulator_bytes(p_.dtype);
  double product_flops_;
};

/// The models of all launches, in stream order.
std::vector<KernelModel> models(const AttentionProblem& p, const Tiling& tile) {
  const Models make(p, tile);
  std::vector<KernelModel> all{make.qk("qk", {"Q", "K", "S"}), make.rows("softmax", "naive softmax", softmax),
                               make.pv("pv", {"P", "V", "O"})};
  if (p.pass == Pass::fwd) return all;
  for (KernelModel& forward : all) forward.setup = p.pass == Pass::bwd;
  all.push_back(make.tn("dv", {"P", "dO", "dV"}));
  all.push_back(make.qk("dp", {"dO", "V", "dP"}));
  all.push_back(make.rows("ds", "naive ds", ds));
  all.push_back(make.pv("dq", {"dS", "K", "dQ"}));
  all.push_back(make.tn("dk", {"dS", "Q", "dK"}));
  return all;
}

/// Makes the launches of one problem and tile, each from its model.
class Launches {
 public:
  Launches(const AttentionProblem& problem, const Tiling& tile)
      : p_(problem), tile_(tile), stride_(naive::row_stride(problem.n_k)) {}

  /// out = scale left right^T, 16 bits.
  [[nodiscard]] KernelLaunch qk(KernelModel model, const Product& product,
                                std::initializer_list<std::string_view> buffers, float scale) const {
    std::vector<Argument> arguments =
        kernel_arguments(buffers, {p_.instances(), group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(scale);
    return {
        std::move(model),
        source("qk", kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_HEADS_FASTEST"}, p_, tile_)),
        std::move(arguments), std::make_shared<const QkProgram>(p_, tile_, product)};
  }

  [[nodiscard]] KernelLaunch softmax_rows(KernelModel model) const {
    const bool long_row = naive::long_rows(p_.n_k, softmax.pieces);
    std::vector<Argument> arguments = kernel_arguments({"s", "p"}, {p_.instances(), p_.n_q, p_.n_k, stride_});
    if (!long_row) arguments.emplace_back(std::int32_t{naive::warps_per_row(p_.n_k, softmax.pieces)});
    append_mask_arguments(arguments, p_);
    return {std::move(model),
            source(long_row ? "softmax_long" : "softmax",
                   kernel_defines({"ATTN_BF16", "ATTN_MASK", "ATTN_DROPOUT"}, p_, tile_)),
            std::move(arguments), std::make_shared<const RowProgram>(p_, softmax)};
  }

  /// dS over dP.
  [[nodiscard]] KernelLaunch ds_rows(KernelModel model, std::string_view buffer) const {
    const bool long_row = naive::long_rows(p_.n_k, ds.pieces);
    std::vector<Argument> arguments = kernel_arguments({"p", buffer, buffer}, {p_.instances(), p_.n_q, stride_});
    if (!long_row) arguments.emplace_back(std::int32_t{naive::warps_per_row(p_.n_k, ds.pieces)});
    arguments.emplace_back(dropout_factor(p_));
    return {std::move(model),
            source(long_row ? "ds_long" : "ds", kernel_defines({"ATTN_BF16", "ATTN_DROPOUT"}, p_, tile_)),
            std::move(arguments), std::make_shared<const RowProgram>(p_, ds)};
  }

  /// out = scale left right; `left_drops`: it is P, whose signs say what dropout drops.
  [[nodiscard]] KernelLaunch pv(KernelModel model, const Product& product,
                                std::initializer_list<std::string_view> buffers, bool left_drops, float scale) const {
    std::vector<Argument> arguments =
        kernel_arguments(buffers, {p_.instances(), group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(scale);
    return {std::move(model),
            source("pv", kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"},
                                        dropping(left_drops), tile_)),
            std::move(arguments), std::make_shared<const PvProgram>(p_, tile_, product)};
  }

  /// out = scale left^T right.
  [[nodiscard]] KernelLaunch tn(KernelModel model, const Product& product,
                                std::initializer_list<std::string_view> buffers, bool left_drops, float scale) const {
    std::vector<Argument> arguments =
        kernel_arguments(buffers, {p_.kv_instances(), group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(scale);
    return {std::move(model),
            source("tn", kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BC", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"},
                                        dropping(left_drops), tile_)),
            std::move(arguments), std::make_shared<const TnProgram>(p_, tile_, product)};
  }

 private:
  /// Kernel `kernel` lives in naive/naive_<kernel>.cuh as attn_naive_<kernel>.
  static KernelSource source(const std::string& kernel, std::vector<std::string> defines) {
    return {"naive/naive_" + kernel + ".cuh", "attn_naive_" + kernel, std::move(defines)};
  }

  [[nodiscard]] AttentionProblem dropping(bool drops) const {
    AttentionProblem p = p_;
    if (!drops) p.dropout = 0;
    return p;
  }

  AttentionProblem p_;
  Tiling tile_;
  std::int64_t stride_;
};

}  // namespace

NaiveAttention::NaiveAttention()
    : Algorithm({.name = "naive",
                 .title = "Standard attention",
                 .short_title = "Naive",
                 .source = "T. Dao et al., FlashAttention (arXiv 2205.14135v2), Algorithms 0 and 3",
                 .tile_meaning = "Br x Bc is the GEMM tile of S = QK^T, Br that of O = PV, Bc that of dV and dK: it "
                                 "decides how often Q, K and V are read again, not the N^2 traffic of S and P.",
                 .growth = Growth::n2,
                 .paper_column = PaperColumn::standard,
                 .groups = {Group::prefill, Group::paper, Group::decoding},
                 .head_dims = supported_head_dims<naive::supported_head_dim>(),
                 .knobs = {raster_knob()}}) {}

std::optional<PaperCount> NaiveAttention::paper_count(const AttentionProblem& p, const TileShape& /*tile*/) const {
  const auto formula = p.pass == Pass::fwd ? "4N²+4Nd" : p.pass == Pass::bwd ? "7N²+8Nd" : "11N²+12Nd";
  return PaperCount{formula, standard_attention_bytes(p)};
}
Config NaiveAttention::default_config(const AttentionProblem& p, const DeviceLimits& device) const {
  // A decoding step has no rows to fill a larger tile with.
  const TileShape wished{.br = p.n_q <= 16 ? 16 : 128, .bc = 128};
  return shrink_to_fit(wished, [&](const TileShape& tile) { return !refusal(p, tile, device); });
}

std::optional<Refusal> NaiveAttention::refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const {
  const Tiling tile = tiling_of(config);
  if (auto refused = refuse_shape(p, tile, facts().head_dims)) return refused;
  if (auto refused = refuse_knobs(facts(), config.knobs)) return refused;
  constexpr Features has{.backward = true, .window = true, .lengths = true, .blocks = true, .dropout = true};
  if (auto refused = refuse_features("naive", p, tile, has, false)) return refused;
  const TileGrid grid = whole_grid(p, tile);
  if (auto refused = refuse_grid("naive qk", grid.q_tiles() * grid.k_tiles() * p.instances())) return refused;
  if (auto refused = refuse_grid("naive softmax", row_blocks(p, softmax))) return refused;
  const KernelNeeds rows = row_needs("naive softmax", p, softmax);
  if (p.pass == Pass::fwd) return refuse_needs({qk_needs(p, tile), rows, pv_needs(p, tile)}, device);
  if (auto refused = refuse_grid("naive ds", row_blocks(p, ds))) return refused;
  return refuse_needs({qk_needs(p, tile), rows, pv_needs(p, tile), row_needs("naive ds", p, ds), tn_needs(p, tile)},
                      device);
}

std::int64_t NaiveAttention::working_set_bytes(const AttentionProblem& p, const Config& /*config*/,
                                               const DeviceLimits& /*device*/) const {
  // The scores of all heads: one kernel writes them, the next reads them back.
  return p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
}

std::vector<KernelModel> NaiveAttention::kernels(const AttentionProblem& p, const Config& config,
                                                 const DeviceLimits& /*device*/) const {
  return models(p, tiling_of(config));
}

AttentionPlan NaiveAttention::plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& /*device*/) const {
  const Tiling tile = tiling_of(config);
  const std::int64_t stride = naive::row_stride(p.n_k);
  const int element = bytes_per_element(p.dtype);
  const float scale = score_scale(p);
  const float kept = dropout_factor(p);
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  plan.buffers.push_back(row_buffer("s", p, stride, element));
  plan.buffers.push_back(row_buffer("p", p, stride, element));
  plan.buffers.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));

  const Launches make(p, tile);
  std::vector<KernelModel> model = models(p, tile);
  plan.launches.push_back(make.qk(model[0], {Tensor::q, Tensor::k, Tensor::s, Phase::scores}, {"q", "k", "s"}, scale));
  plan.launches.push_back(make.softmax_rows(model[1]));
  plan.launches.push_back(
      make.pv(model[2], {Tensor::p, Tensor::v, Tensor::o, Phase::values}, {"p", "v", "o"}, true, kept));
  if (p.pass == Pass::fwd) return plan;

  std::ranges::move(gradient_buffers(p), std::back_inserter(plan.buffers));
  // Two N x N matrices are what standard attention needs at any time: nothing reads S once P is there, dS replaces dP
  // row by row, and so both live where S was.
  plan.launches.push_back(make.tn(model[3], {Tensor::p, Tensor::dout, Tensor::dv, Phase::value_gradients},
                                  {"p", "dout", "dv"}, true, kept));
  plan.launches.push_back(
      make.qk(model[4], {Tensor::dout, Tensor::v, Tensor::dp, Phase::probability_gradients}, {"dout", "v", "s"}, 1.0F));
  plan.launches.push_back(make.ds_rows(model[5], "s"));
  plan.launches.push_back(
      make.pv(model[6], {Tensor::ds, Tensor::k, Tensor::dq, Phase::query_gradients}, {"s", "k", "dq"}, false, scale));
  plan.launches.push_back(
      make.tn(model[7], {Tensor::ds, Tensor::q, Tensor::dk, Phase::key_gradients}, {"s", "q", "dk"}, false, scale));
  return plan;
}

}  // namespace attnscope
