// SPDX-License-Identifier: Apache-2.0
#include "kernels/linattn/linattn_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/reference.h"
#include "kernels/registry.h"
#include "tests/kernels/attention_inputs.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;

const Algorithm& linear_attention() {
  return *built_in_algorithms().find("linattn");
}

AttentionProblem heads_of(std::int64_t n, std::int64_t d, const Mask& mask = Mask::none) {
  return {.mask = mask, .heads_q = 4, .heads_kv = 4, .n_q = n, .n_k = n, .d = d};
}

// 4 N d elements per head for Q, K, V and O. Without a mask also d (d + 1) for the state, written once and read by each
// of the 32 tiles of 128 rows.
TEST(LinearAttention, FullMaskMoves4Nd) {
  const AttentionModel model = linear_attention().model(heads_of(4096, 128), TileShape{128, 64}, h200());
  ASSERT_EQ(model.kernels.size(), 2U);
  const std::int64_t matrix = 4LL * 4096 * 128 * 2;
  const std::int64_t state = 4LL * 129 * 128 * 2;
  EXPECT_EQ(model.kernels[0].name, "states");
  EXPECT_EQ(model.kernels[0].traffic, (Traffic{2 * matrix, state}));
  EXPECT_EQ(model.kernels[1].name, "outputs");
  EXPECT_EQ(model.kernels[1].traffic, (Traffic{matrix + 32 * state, matrix}));
  // 2 d^2 per key and per query; the sum of keys takes a product of 8 columns.
  EXPECT_EQ(model.executed_flops(), 4 * 4.0 * 4096 * 128 * (128 + 4));
  EXPECT_EQ(model.working_set_bytes, 0);
}

// Chunks of C = 64 keys. Each chunk but the last has a state: N d^2 / C elements written and read. K and V are read
// once for the states and once at the diagonal: 4 C d more FLOPs per row.
TEST(LinearAttention, CausalStoresOneStatePerChunk) {
  const AttentionModel model = linear_attention().model(heads_of(4096, 64, Mask::causal), TileShape{64, 64}, h200());
  ASSERT_EQ(model.kernels.size(), 2U);
  const std::int64_t matrix = 4LL * 4096 * 64 * 2;
  const std::int64_t chunk = 4LL * 64 * 64 * 2;
  const std::int64_t state = 4LL * 65 * 64 * 2;
  EXPECT_EQ(model.kernels[0].traffic, (Traffic{2 * (matrix - chunk), 63 * state}));
  EXPECT_EQ(model.kernels[1].traffic, (Traffic{3 * matrix + 63 * state, matrix}));
  EXPECT_EQ(model.kernels[1].work.tensor_flops, 4 * (2.0 * 64 * 64 * 63 * 64 + 4.0 * 64 * 64 * 64 * 64));
}

// Row tiles of 64 and chunks of 128 keys: tiles 2 and 3 start from the first state, 4 and 5 from the second, and so on.
TEST(LinearAttention, RowTilesShareStates) {
  const linattn::HeadSums sums =
      linattn::head_sums(linattn::ChunkGrid(heads_of(512, 64, Mask::causal), TileShape{64, 128}));
  EXPECT_EQ(sums.state_tiles, 6);
  EXPECT_EQ(sums.distinct_states, 3);
}

TEST(LinearAttention, ShortCausalProblemsNeedNoState) {
  const AttentionPlan plan = linear_attention().plan(heads_of(64, 64, Mask::causal), TileShape{64, 64}, h200());
  ASSERT_EQ(plan.launches.size(), 1U);
  EXPECT_EQ(plan.launches[0].name, "outputs");
}

// Bytes are linear in N, independent of tile and on-chip memory, unlike standard attention and FlashAttention.
TEST(LinearAttention, BytesAreLinearInNAndDForAnyM) {
  const auto bytes = [](std::int64_t n, std::int64_t d, const TileShape& tile) {
    return static_cast<double>(linear_attention().model(heads_of(n, d), tile, h200()).traffic().total());
  };
  EXPECT_NEAR(bytes(8192, 64, {64, 64}) / bytes(4096, 64, {64, 64}), 2, 0.01);
  EXPECT_EQ(bytes(8192, 64, {64, 256}), bytes(8192, 64, {64, 64}));
  EXPECT_NEAR(bytes(8192, 128, {128, 64}) / bytes(8192, 64, {64, 64}), 2, 0.02);
  EXPECT_EQ(linear_attention().facts().power_law->exponents, (std::array{1, 1, 0}));
}

TEST(LinearAttention, ScaledStatesAreMeans) {
  EXPECT_EQ(linattn::scale_of(0), 1);
  EXPECT_EQ(linattn::scale_of(1), 1);
  EXPECT_EQ(linattn::scale_of(2), 0.5F);
  EXPECT_EQ(linattn::scale_of(3), 0.25F);
  EXPECT_EQ(linattn::scale_of(4096), 1.0F / 4096);
  EXPECT_EQ(linattn::scale_of((1 << 30) - 1), 1.0F / (1 << 30));
}

/// Emulates the kernels' precision and, except within a matrix product, their order: 16-bit features, states and
/// weights, fp32 sums.
class EmulatedKernel {
 public:
  EmulatedKernel(const AttentionProblem& p, const TileShape& tile, const AttentionInputs& inputs)
      : p_(p),
        d_(static_cast<std::size_t>(p.d)),
        grid_(p, tile),
        q_(features_of(inputs.q)),
        k_(features_of(inputs.k)),
        v_(inputs.v) {}

  [[nodiscard]] std::vector<float> outputs() {
    std::vector<float> all(q_.size());
    for (std::int64_t head = 0; head < p_.kv_instances(); ++head) {
      compute_states(head);
      for (std::int64_t of = 0; of < group_size(p_); ++of) add_head(head * group_size(p_) + of, head, all);
    }
    return all;
  }

 private:
  struct Sums {
    std::vector<float> kv;
    std::vector<float> z;
  };

  [[nodiscard]] std::vector<float> features_of(std::vector<float> values) const {
    for (float& x : values) x = round_to(p_.dtype, x > 0 ? x + 1 : std::exp(x));
    return values;
  }
  [[nodiscard]] const float* row_of(const std::vector<float>& matrix, std::int64_t row) const {
    return &matrix[static_cast<std::size_t>(row) * d_];
  }

  void compute_states(std::int64_t head) {
    states_.clear();
    Sums sums{std::vector<float>(d_ * d_, 0), std::vector<float>(d_, 0)};
    const std::int64_t end = grid_.states() * grid_.chunk();
    for (std::int64_t key = 0; key < end; ++key) {
      const float* k = row_of(k_, head * p_.n_k + key);
      const float* v = row_of(v_, head * p_.n_k + key);
      for (std::size_t i = 0; i < d_; ++i) {
        for (std::size_t c = 0; c < d_; ++c) sums.kv[i * d_ + c] += k[i] * v[c];
        sums.z[i] += k[i];
      }
      if ((key + 1) % grid_.chunk() != 0) continue;
      Sums& state = states_.emplace_back(sums);
      const float scale = linattn::scale_of(static_cast<int>(key + 1));
      for (float& x : state.kv) x = round_to(p_.dtype, x * scale);
      for (float& x : state.z) x = round_to(p_.dtype, x * scale);
    }
  }

  void add_head(std::int64_t instance, std::int64_t head, std::vector<float>& all) const {
    for (std::int64_t row = 0; row < p_.n_q; ++row) {
      const std::int64_t tile = row / grid_.tile().br;
      const std::int64_t kept = grid_.keys_in_state(tile);
      const int seen = linattn::visible_key_count(static_cast<int>(row), static_cast<int>(p_.n_q),
                                                  static_cast<int>(p_.n_k), grid_.causal());
      const float* q = row_of(q_, instance * p_.n_q + row);
      std::vector<float> o(d_, 0);
      float l = 0;
      for (std::size_t i = 0; kept > 0 && i < d_; ++i) {
        const Sums& state = states_[static_cast<std::size_t>(kept / grid_.chunk() - 1)];
        for (std::size_t c = 0; c < d_; ++c) o[c] += q[i] * state.kv[i * d_ + c];
        l += q[i] * state.z[i];
      }
      for (std::int64_t key = kept; key < seen; ++key) {
        const float* k = row_of(k_, head * p_.n_k + key);
        const float* v = row_of(v_, head * p_.n_k + key);
        float weight = 0;
        for (std::size_t i = 0; i < d_; ++i) weight += q[i] * k[i];
        weight *= linattn::scale_of(static_cast<int>(kept));
        l += weight;
        const float rounded = round_to(p_.dtype, weight);
        for (std::size_t c = 0; c < d_; ++c) o[c] += rounded * v[c];
      }
      const float inverse = l > 0 ? 1 / l : 0;
      for (std::size_t c = 0; c < d_; ++c) {
        all[static_cast<std::size_t>(instance * p_.n_q + row) * d_ + c] = round_to(p_.dtype, o[c] * inverse);
      }
    }
  }

  const AttentionProblem& p_;
  std::size_t d_;
  linattn::ChunkGrid grid_;
  std::vector<float> q_;
  std::vector<float> k_;
  std::vector<float> v_;
  std::vector<Sums> states_;
};

TEST(LinearAttention, EmulatedArithmeticPassesTheCheck) {
  for (const auto& [n_q, n_k] : {std::pair{1, 1}, std::pair{64, 128}, std::pair{79, 3}, std::pair{113, 203}}) {
    for (const Mask& mask : {Mask::none, Mask::causal}) {
      for (const DType dtype : {DType::fp16, DType::bf16}) {
        const AttentionProblem p{
            .dtype = dtype, .mask = mask, .heads_q = 2, .heads_kv = 1, .n_q = n_q, .n_k = n_k, .d = 32};
        for (const InputKind kind : input_kinds()) {
          const AttentionInputs inputs = make_inputs(p, kind, 11);
          const Reference reference =
              find_reference("linear")->of(p, matrices_of(p, inputs), {.rows = all_rows(p), .threads = 1});
          for (const TileShape& tile : {TileShape{16, 32}, TileShape{48, 80}, TileShape{128, 128}}) {
            const CheckResult found = check(reference, {.o = EmulatedKernel(p, tile, inputs).outputs()});
            EXPECT_TRUE(found.pass) << describe(p) << " " << to_string(kind) << " " << describe(tile) << ": "
                                    << text(found.reason);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
