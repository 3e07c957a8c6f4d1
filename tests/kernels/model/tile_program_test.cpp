// SPDX-License-Identifier: Apache-2.0
// What each algorithm says it moves, proved three ways: the closed form equals the program's sum; the program touches
// every element it must, none outside; and playing the flash programs computes attention.
#include "kernels/model/tile_program.h"
#include "kernels/common_knobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/inputs.h"
#include "kernels/oracle/reference.h"
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

TEST(TileProgram, ClosedFormEqualsTheProgramToTheByte) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const AttentionProblem& p : test::odd_problems()) {
      for (const Tiling& tile : test::odd_tiles()) {
        if (test::refused(*algorithm, p, tile)) continue;
        const AttentionPlan plan = algorithm->plan(p, tile, known_gpus().front());
        for (const KernelLaunch& launch : plan.launches) {
          ASSERT_EQ(launch.traffic, walk(*launch.program)) << label(*algorithm, p, tile) << " " << launch.name;
        }
      }
    }
  }
}

/// Whether the algorithm's kernels know what the problem asks for.
bool takes(const Algorithm& algorithm, const AttentionProblem& p, const Tiling& tile) {
  const auto refused = algorithm.refusal(p, tile, known_gpus().front());
  return !refused || refused->cause != Refusal::Cause::shape;
}

TEST(TileProgram, ClosedFormEqualsTheProgramUnderEveryMask) {
  std::map<std::string_view, int> taken;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const AttentionProblem& p : test::masked_problems()) {
      for (Tiling tile : test::dividing_tiles()) {
        if (!takes(*algorithm, p, tile)) tile.raster = Raster::q_fastest;  // some have one order of blocks
        if (!takes(*algorithm, p, tile)) continue;
        ++taken[algorithm->name()];
        for (const KernelLaunch& launch : algorithm->plan(p, tile, known_gpus().front()).launches) {
          ASSERT_EQ(launch.traffic, walk(*launch.program)) << label(*algorithm, p, tile) << " " << launch.name;
        }
      }
    }
  }
  for (const char* name : {"fa1", "fa2"}) {
    EXPECT_EQ(taken[name], std::ssize(test::masked_problems()) * std::ssize(test::dividing_tiles())) << name;
  }
}

struct Extent {
  std::int64_t instances;
  std::int64_t rows;
  std::int64_t cols;
  int element_bytes;
};

Extent extent_of(Tensor tensor, const AttentionProblem& p) {
  const std::int64_t padded = (p.n_k + 15) / 16 * 16;
  switch (tensor) {
    case Tensor::q:
      return {p.instances(), p.n_q, p.d, bytes_per_element(p.dtype)};
    case Tensor::k:
    case Tensor::v:
      return {p.kv_instances(), p.n_k, p.d, bytes_per_element(p.dtype)};
    case Tensor::s:
    case Tensor::p:
      return {p.instances(), p.n_q, padded, 2};
    case Tensor::o_acc:
      return {p.instances(), p.n_q, p.d, 4};
    case Tensor::l:
    case Tensor::m:
    case Tensor::lse:
      return {p.instances(), p.n_q, 1, 4};
    case Tensor::dk:
    case Tensor::dv:
      return {p.kv_instances(), p.n_k, p.d, 2};
    case Tensor::dp:
    case Tensor::ds:
      return {p.instances(), p.n_q, padded, 2};
    case Tensor::dq_acc:
      return {p.instances(), p.n_q, p.d, 4};
    case Tensor::delta:
      return {p.instances(), p.n_q, 1, 4};
    case Tensor::kv_state:
      return {p.kv_instances() * p.n_k, p.d + 1, p.d, 2};  // no more than one a key
    case Tensor::taken:
      return {1, 1, 1, 32};
    case Tensor::key_lengths:
      return {1, (p.batch + 7) / 8, 1, 32};
    case Tensor::k16:
    case Tensor::v16:
      return {p.kv_instances(), p.n_k, p.d, 2};
    case Tensor::q_scales:
      return {p.instances(), (p.n_q + 63) / 64, 1, 32};
    case Tensor::k_scales:
    case Tensor::v_scales:
      return {p.kv_instances(), (p.n_k + 127) / 128, 1, 32};
    case Tensor::o_part:
    case Tensor::lse_part:
    case Tensor::block_table:
    case Tensor::dout:
    case Tensor::dq:
    case Tensor::q16:
    case Tensor::o:
      break;
  }
  return {p.instances(), p.n_q, p.d, 2};
}

void expect_inside_and_written_once(const Algorithm& algorithm, const AttentionProblem& p, const Tiling& tile) {
  SCOPED_TRACE(label(algorithm, p, tile));
  std::map<Tensor, std::int64_t> stored;
  const AttentionPlan plan = algorithm.plan(p, tile, known_gpus().front());
  const bool q_as_given = plan.quantised && plan.quantised->query_rows == 0;
  for (const KernelLaunch& launch : plan.launches) {
    for (const TileAccess& a : test::all_accesses(*launch.program)) {
      if (a.tensor == Tensor::o_part || a.tensor == Tensor::lse_part) continue;  // splitkv_test.cpp
      Extent extent = extent_of(a.tensor, p);
      if (a.tensor == Tensor::q && q_as_given) extent.element_bytes = bytes_per_element(held_as(p.dtype));
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
    for (const AttentionProblem& p : test::odd_problems()) {
      for (const Tiling& tile : {Tiling{.br = 64, .bc = 64}, Tiling{.br = 48, .bc = 112}}) {
        if (test::refused(*algorithm, p, tile)) continue;
        expect_inside_and_written_once(*algorithm, p, tile);
      }
    }
  }
  for (const char* name : {"fa1", "fa2"}) {
    for (const AttentionProblem& p : test::masked_problems()) {
      for (const Tiling& tile : test::dividing_tiles())
        expect_inside_and_written_once(*built_in_algorithms().find(name), p, tile);
    }
  }
}

/// Attention computed by playing a flash program: every pair (Q tile, K/V tile) that the program brings together on
/// chip goes through the online softmax once, in that order, in float64.
class Player {
 public:
  Player(const AttentionProblem& p, const AttentionInputs& inputs)
      : p_(p), q_(decoded(p, inputs.q)), k_(decoded(p, inputs.k)), v_(decoded(p, inputs.v)) {
    const auto rows = static_cast<std::size_t>(p.instances() * p.n_q);
    o_.assign(rows * static_cast<std::size_t>(p.d), std::numeric_limits<double>::quiet_NaN());
    acc_.assign(o_.size(), 0.0);
    l_.assign(rows, 0.0);
    m_.assign(rows, -std::numeric_limits<double>::infinity());
  }

  void play(const TileProgram& program) {
    std::vector<TileAccess> accesses;
    for (std::int64_t block = 0; block < program.blocks(); ++block) {
      TileAccess q;
      TileAccess k;
      for (std::int64_t step = 0; step < program.steps(block); ++step) {
        accesses.clear();
        program.visit(block, step, accesses);
        bool loaded_q = false;
        bool loaded_v = false;
        for (const TileAccess& a : accesses) {
          if (a.access == Access::load && a.tensor == Tensor::q) q = a, loaded_q = true;
          if (a.access == Access::load && a.tensor == Tensor::k) k = a;
          if (a.access == Access::load && a.tensor == Tensor::v) loaded_v = true;
        }
        // FA1 meets a new Q tile with the K/V tile on chip, FA2 a new K/V tile with its Q tile.
        if ((loaded_q && k.rows > 0) || (loaded_v && q.rows > 0)) attend(q, k);
        for (const TileAccess& a : accesses) {
          if (a.access != Access::store || (a.tensor != Tensor::o && a.tensor != Tensor::o_acc)) continue;
          if (a.tensor == Tensor::o) store(a);
          q = {};  // what was done with it has left the chip
        }
      }
    }
  }

  [[nodiscard]] const std::vector<double>& o() const { return o_; }

 private:
  static std::vector<double> decoded(const AttentionProblem& p, const std::vector<std::uint16_t>& matrix) {
    std::vector<double> values(matrix.size());
    std::ranges::transform(matrix, values.begin(), [&](std::uint16_t bits) { return from_bits(p.dtype, bits); });
    return values;
  }
  [[nodiscard]] std::span<const double> row_of(const std::vector<double>& matrix, std::int64_t row) const {
    return std::span(matrix).subspan(static_cast<std::size_t>(row * p_.d), static_cast<std::size_t>(p_.d));
  }

  void attend(const TileAccess& q, const TileAccess& k) {
    const double scale = 1 / std::sqrt(static_cast<double>(p_.d));
    for (std::int64_t i = q.row; i < q.row + q.rows; ++i) {
      const auto at = static_cast<std::size_t>(q.instance * p_.n_q + i);
      const std::span<const double> q_row = row_of(q_, static_cast<std::int64_t>(at));
      const std::span<double> acc = std::span(acc_).subspan(at * q_row.size(), q_row.size());
      const KeyRange visible = visible_keys(p_, q.instance / p_.heads_q, i);
      for (std::int64_t j = std::max(k.row, visible.first); j < std::min(k.row + k.rows, visible.last); ++j) {
        if (p_.mask.sparse() && !p_.mask.block_counts(i / p_.mask.block_size, j / p_.mask.block_size)) continue;
        const std::span<const double> k_row = row_of(k_, k.instance * p_.n_k + j);
        const std::span<const double> v_row = row_of(v_, k.instance * p_.n_k + j);
        const double s = std::inner_product(q_row.begin(), q_row.end(), k_row.begin(), 0.0) * scale;
        if (s > m_[at]) {
          const double old = std::exp(m_[at] - s);
          l_[at] *= old;
          for (double& o : acc) o *= old;
          m_[at] = s;
        }
        const double weight = std::exp(s - m_[at]);
        l_[at] += weight;
        for (std::size_t c = 0; c < acc.size(); ++c) acc[c] += weight * v_row[c];
      }
    }
  }

  void store(const TileAccess& o) {
    for (std::int64_t i = o.row; i < o.row + o.rows; ++i) {
      const auto at = static_cast<std::size_t>(o.instance * p_.n_q + i);
      for (std::size_t c = 0; c < static_cast<std::size_t>(p_.d); ++c) {
        const std::size_t e = at * static_cast<std::size_t>(p_.d) + c;
        o_[e] = l_[at] > 0 ? acc_[e] / l_[at] : 0.0;
      }
    }
  }

  const AttentionProblem& p_;
  std::vector<double> q_;
  std::vector<double> k_;
  std::vector<double> v_;
  std::vector<double> o_;
  std::vector<double> acc_;
  std::vector<double> l_;
  std::vector<double> m_;
};

TEST(TileProgram, PlayingTheFlashProgramsComputesAttention) {
  for (const char* name : {"fa1", "fa2"}) {
    const Algorithm* algorithm = built_in_algorithms().find(name);
    for (const AttentionProblem& p :
         {AttentionProblem{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 40, .n_k = 57, .d = 16},
          AttentionProblem{.mask = Mask::causal, .heads_q = 2, .heads_kv = 1, .n_q = 70, .n_k = 70, .d = 16},
          AttentionProblem{.mask = Mask::causal, .n_q = 33, .n_k = 90, .d = 32},
          AttentionProblem{.mask = Mask::causal, .n_q = 90, .n_k = 33, .d = 32}}) {
      for (const Tiling& tile : {Tiling{.br = 16, .bc = 32}, Tiling{.br = 32, .bc = 16},
                                 Tiling{.br = 48, .bc = 48, .raster = Raster::heads_fastest}}) {
        const AttentionInputs inputs = make_inputs(p, InputKind::normal, 7);
        Player player(p, inputs);
        player.play(*algorithm->plan(p, tile, known_gpus().front()).launches.at(0).program);
        const Reference reference = reference_attention(p, inputs, 1);
        for (std::size_t e = 0; e < reference.o.exact.size(); ++e) {
          ASSERT_NEAR(player.o()[e], reference.o.exact[e], 1e-9) << label(*algorithm, p, tile) << " element " << e;
        }
      }
    }
  }
}

/// Everything on chip at once.
class WholeProgram final : public TileProgram {
 public:
  explicit WholeProgram(const AttentionProblem& p) : p_(p) {}
  [[nodiscard]] std::int64_t blocks() const override { return p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t) const override { return 1; }
  void visit(std::int64_t instance, std::int64_t, std::vector<TileAccess>& out) const override {
    const std::int64_t kv = instance / (p_.heads_q / p_.heads_kv);
    out.push_back({Tensor::q, Access::load, instance, 0, p_.n_q, 0, p_.d, 2});
    out.push_back({Tensor::k, Access::load, kv, 0, p_.n_k, 0, p_.d, 2});
    out.push_back({Tensor::v, Access::load, kv, 0, p_.n_k, 0, p_.d, 2});
    out.push_back({Tensor::o, Access::store, instance, 0, p_.n_q, 0, p_.d, 2});
  }

 private:
  const AttentionProblem& p_;
};

TEST(TileProgram, SkippedTilesHoldNothingThatTheMaskLeaves) {
  // A shape has the same inputs under every mask.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, AttentionInputs> inputs_of;
  for (AttentionProblem p : test::masked_problems()) {
    p.d = 16;
    if (!p.mask.padded()) p.batch = 1;  // entries differ in their lengths alone
    AttentionInputs& inputs = inputs_of[{p.batch, p.n_q, p.n_k}];
    if (inputs.q.empty()) inputs = make_inputs(p, InputKind::normal, 7);
    Player whole(p, inputs);
    whole.play(WholeProgram(p));
    for (const char* name : {"fa1", "fa2"}) {
      for (const Tiling& tile : {Tiling{.br = 16, .bc = 32}, Tiling{.br = 48, .bc = 96}}) {
        Player player(p, inputs);
        player.play(*built_in_algorithms().find(name)->plan(p, tile, known_gpus().front()).launches.at(0).program);
        for (std::size_t e = 0; e < whole.o().size(); ++e) {
          ASSERT_NEAR(player.o()[e], whole.o()[e], 1e-9)
              << label(*built_in_algorithms().find(name), p, tile) << " element " << e;
        }
      }
    }
  }
}

TEST(TileProgram, TensorNames) {
  EXPECT_EQ(to_string(Tensor::o_acc), "O_acc");
  EXPECT_EQ(to_string(Tensor::lse), "LSE");
}

}  // namespace
}  // namespace attnscope
