// SPDX-License-Identifier: Apache-2.0
// Tile programs access every required element and none outside the matrices. model_test.cpp compares their sums with
// the closed forms and checks that they load what attention needs.
#include "kernels/model/tile_program.h"
#include "kernels/common_knobs.h"
#include "kernels/linattn/linattn_programs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/model/tile_grid.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::label;

TEST(TileProgram, WalkSumsBothDirections) {
  class TwoBlocks final : public TileProgram {
    [[nodiscard]] std::int64_t blocks() const override { return 2; }
    [[nodiscard]] std::int64_t steps(std::int64_t block) const override { return block + 1; }
    void visit(std::int64_t, std::int64_t step, std::vector<TileAccess>& out) const override {
      out.push_back({Tensor::k, Access::load, 0, 0, 3, 0, 8, 2});
      if (step == 1) out.push_back({Tensor::lse, Access::store, 0, 0, 5, 0, 1, 4});
    }
  };
  EXPECT_EQ(walk(TwoBlocks{}), (Traffic{.l2_to_sm_bytes = 144, .sm_to_l2_bytes = 20}));
}

TEST(TileProgram, BoxesAndSectorsMoveWhole) {
  const TileAccess rows{Tensor::q, Access::load, 0, 0, 65, 0, 8, 2};
  EXPECT_EQ(rows.moved_bytes(), 65 * 16);
  EXPECT_EQ(rows.with_tma_boxes(64).moved_bytes(), 128 * 16);
  EXPECT_EQ(rows.with_tma_boxes(80).moved_bytes(), 80 * 16);
  // Values 5 to 24 of a head of fp32 numbers by requests of 16: sectors 0 to 2, then 2 and 3.
  const RowValues values{.head_rows = 100, .tile_rows = 16, .request_rows = 16};
  EXPECT_EQ(values.access(Tensor::lse, Access::load, 0, 5, 20).moved_bytes(), (3 + 2) * 32);
}

struct Extent {
  std::int64_t instances;
  std::int64_t rows;
  std::int64_t cols;
  int element_bytes;
};

Extent extent_of(Tensor tensor, const AttentionProblem& p) {
  const std::int64_t padded = (p.n_k + 15) / 16 * 16;
  if (tensor == linattn::kv_state) return {p.kv_instances() * p.n_k, p.d + 1, p.d, 2};  // at most one per key
  switch (tensor) {
    case Tensor::q:
      return {p.instances(), p.n_q, p.d, bytes_per_element(p.dtype)};
    case Tensor::k:
    case Tensor::v:
      return {p.kv_instances(), p.n_k, p.d, bytes_per_element(p.dtype)};
    case Tensor::s:
    case Tensor::p:
    case Tensor::dp:
    case Tensor::ds:
      return {p.instances(), p.n_q, padded, 2};
    case Tensor::o_acc:
    case Tensor::dq_acc:
      return {p.instances(), p.n_q, p.d, 4};
    case Tensor::l:
    case Tensor::m:
    case Tensor::lse:
    case Tensor::delta:
      return {p.instances(), p.n_q, 1, 4};
    case Tensor::dk:
    case Tensor::dv:
    case Tensor::k16:
    case Tensor::v16:
      return {p.kv_instances(), p.n_k, p.d, 2};
    case Tensor::taken:
      return {1, 1, 1, 32};
    case Tensor::key_lengths:
      return {1, (p.batch + 7) / 8, 1, 32};
    case Tensor::q_scales:
      return {p.instances(), (p.n_q + 63) / 64, 1, 32};
    case Tensor::k_scales:
    case Tensor::v_scales:
      return {p.kv_instances(), (p.n_k + 127) / 128, 1, 32};
    default:
      return {p.instances(), p.n_q, p.d, 2};
  }
}

void expect_inside_and_written_once(const Algorithm& algorithm, const AttentionProblem& p, const Tiling& tile) {
  SCOPED_TRACE(label(algorithm, p, tile));
  std::map<Tensor, std::int64_t> stored;
  const AttentionPlan plan = algorithm.plan(p, tile, known_gpus().front());
  const bool q_unquantized = plan.quantized && plan.quantized->query_rows == 0;
  for (const KernelLaunch& launch : plan.launches) {
    for (const TileAccess& a : test::all_accesses(*launch.program)) {
      if (a.tensor == Tensor::o_part || a.tensor == Tensor::lse_part) continue;  // tested in splitkv_test.cpp
      Extent extent = extent_of(a.tensor, p);
      if (a.tensor == Tensor::q && q_unquantized) extent.element_bytes = bytes_per_element(output_dtype(p.dtype));
      ASSERT_TRUE(a.instance >= 0 && a.instance < extent.instances);
      ASSERT_TRUE(a.row >= 0 && a.rows > 0 && a.row + a.rows <= extent.rows) << to_string(a.tensor);
      ASSERT_TRUE(a.col >= 0 && a.cols > 0 && a.col + a.cols <= extent.cols) << to_string(a.tensor);
      ASSERT_EQ(a.element_bytes, extent.element_bytes) << to_string(a.tensor);
      if (a.access == Access::store) stored[a.tensor] += a.rows * a.cols;
    }
  }
  for (const Tensor once : {Tensor::o, Tensor::lse, Tensor::s, Tensor::p}) {
    if (!stored.contains(once)) continue;
    const Extent extent = extent_of(once, p);
    EXPECT_EQ(stored[once], extent.instances * extent.rows * extent.cols) << to_string(once);
  }
  EXPECT_TRUE(stored.contains(Tensor::o));
}

TEST(TileProgram, AccessesStayInsideAndOutputsAreWrittenOnce) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const AttentionProblem& p : test::irregular_problems()) {
      for (const Tiling& tile : {Tiling{.br = 64, .bc = 64}, Tiling{.br = 48, .bc = 112}}) {
        if (test::refused(*algorithm, p, tile)) continue;
        expect_inside_and_written_once(*algorithm, p, tile);
      }
    }
  }
  for (const char* name : {"fa1", "fa2"}) {
    for (const AttentionProblem& p : test::masked_problems()) {
      for (const Tiling& tile : test::tiles_dividing_96())
        expect_inside_and_written_once(*built_in_algorithms().find(name), p, tile);
    }
  }
}

TEST(PairFinder, PairsStationaryWithStreamedOperand) {
  struct Case {
    const char* what;
    std::string loads;  ///< one letter per step: q, k, b for both, - for neither
    std::string pairs;  ///< x if the step combines queries and keys
  };
  for (const auto& [what, loads, pairs] :
       {Case{"a Q tile and all K tiles", "qkkk-", ".xxx."}, Case{"a K tile and all Q tiles", "kqqq-", ".xxx."},
        Case{"each K tile and all Q tiles", "kqqkqqkq", ".xx.xx.x"}, Case{"both at once", "bb-", "xx."},
        Case{"one alone", "kkk", "..."}, Case{"windows of a block table", "q-kk-k", "..xx.x"}}) {
    PairFinder finder;
    std::string found;
    for (const char load : loads)
      found += finder.step(load == 'q' || load == 'b', load == 'k' || load == 'b') ? 'x' : '.';
    EXPECT_EQ(found, pairs) << what;
  }
}

TEST(TileProgram, TensorNames) {
  EXPECT_EQ(to_string(Tensor::o_acc), "O_acc");
  EXPECT_EQ(to_string(Tensor::lse), "LSE");
  EXPECT_EQ(to_string(static_cast<Tensor>(tensor_count())), "?");
}

}  // namespace
}  // namespace attnscope
