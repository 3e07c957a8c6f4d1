// SPDX-License-Identifier: Apache-2.0
// What the tile programs say of their phases: that they are the algorithms, line by line, and that memory on chip holds
// what each line reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/kernel_model.h"
#include "kernels/oracle/references.h"
#include "kernels/registry.h"
#include "tests/kernels/attention_inputs.h"
#include "tests/kernels/block_interpreter.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;
using test::label;

using testing::ElementsAre;

AttentionPlan plan_of(const char* algorithm, const AttentionProblem& p, const Config& config) {
  return built_in_algorithms().find(algorithm)->plan(p, config, h200());
}

/// All the problems and tiles that the closed forms are proved on, and what they leave out: rows that no block holds,
/// pages with several windows of the block table, both passes.
template <class Check>
void for_each_launch(const Check& check) {
  const auto each = [&](const std::vector<AttentionProblem>& problems, const std::vector<Tiling>& tiles) {
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      for (AttentionProblem p : problems) {
        for (const Pass pass : {Pass::fwd_bwd, Pass::fwd}) {
          p.pass = pass;
          bool ran = false;
          for (const Tiling& tile : tiles) {
            if (tile.raster != Raster::q_fastest) continue;  // other numbers for the same blocks
            if (algorithm->refusal(p, tile, h200())) continue;
            ran = true;
            SCOPED_TRACE(label(*algorithm, p, tile));
            for (const KernelLaunch& launch : algorithm->plan(p, tile, h200()).launches) {
              check(algorithm->name(), launch);
              if (testing::Test::HasFatalFailure()) return;
            }
          }
          if (ran) break;  // the forward pass was among its launches
        }
      }
    }
  };
  each(test::odd_problems(), test::odd_tiles());
  each(test::masked_problems(), test::dividing_tiles());
  each({{.n_q = 3, .n_k = 70'000, .d = 16}, {.heads_q = 4, .heads_kv = 2, .n_q = 5, .n_k = 40'000, .d = 16}},
       {{.br = 16, .bc = 128}});
  each({{.batch = 2, .heads_q = 8, .heads_kv = 2, .n_q = 2, .n_k = 33'000, .page = 16},
        {.mask = parse_mask("causal+lengths:40/1000/0").value(),
         .batch = 3,
         .heads_q = 16,
         .n_q = 1,
         .n_k = 1'000,
         .d = 128,
         .page = 64}},
       {{.br = 16, .bc = 64, .splits = 3}, {.br = 16, .bc = 512, .splits = 7, .stages = 2}, {.br = 64, .bc = 80}});
  each({{.mask = Mask::causal, .heads_q = 2, .n_q = 300, .n_k = 200, .d = 64},
        {.mask = parse_mask("window:20:7").value(), .heads_q = 4, .heads_kv = 2, .n_q = 100, .n_k = 170, .d = 128}},
       {{.br = 128, .bc = 128}, {.br = 64, .bc = 128}});
}

TEST(Phases, HaveWordsOfTheirOwn) {
  std::set<std::string> words;
  for (int i = 0; !message_of(static_cast<Phase>(i)).empty(); ++i) {
    const std::string word = to_string(static_cast<Phase>(i));
    EXPECT_TRUE(words.insert(word).second) << word;
  }
  EXPECT_EQ(to_string(Phase::scores), "S = QK^T");
  EXPECT_EQ(to_string(Phase::store_scale), "store its scale");
  EXPECT_TRUE(words.contains("load KV and z")) << "a line of an algorithm's own";
}

struct MatrixPhases {
  Tensor tensor;
  Access access;
  std::set<Phase> phases;
  std::set<std::string> parts;  ///< "" for none
};

/// Which lines load, store and add to a matrix, and where it is on chip.
const std::vector<MatrixPhases>& matrix_phases() {
  static const std::vector<MatrixPhases> all{
      {Tensor::q, Access::load, {Phase::load_q}, {"Q"}},
      {Tensor::k, Access::load, {Phase::load_k, Phase::load_kv}, {"K"}},
      {Tensor::v, Access::load, {Phase::load_v, Phase::load_kv}, {"V"}},
      {Tensor::o, Access::load, {Phase::load_o}, {"O", ""}},
      {Tensor::s, Access::load, {Phase::load_s}, {"S"}},
      {Tensor::p, Access::load, {Phase::load_p}, {"P"}},
      {Tensor::o_acc, Access::load, {Phase::load_state}, {"O"}},
      {Tensor::l, Access::load, {Phase::load_state, Phase::load_statistics}, {"m, l"}},
      {Tensor::m, Access::load, {Phase::load_state, Phase::load_statistics}, {"m, l"}},
      {Tensor::lse, Access::load, {Phase::load_statistics}, {"LSE, D"}},
      {Tensor::delta, Access::load, {Phase::load_statistics}, {"LSE, D"}},
      {Tensor::dout, Access::load, {Phase::load_dout}, {"dO", ""}},
      {Tensor::dp, Access::load, {Phase::load_dp}, {"dP"}},
      {Tensor::ds, Access::load, {Phase::load_ds}, {"dS"}},
      {Tensor::dq_acc, Access::load, {Phase::load_dq}, {""}},
      {Tensor::o_part, Access::load, {Phase::load_partial}, {""}},
      {Tensor::lse_part, Access::load, {Phase::load_partial}, {""}},
      {Tensor::block_table, Access::load, {Phase::load_block_table}, {"block table"}},
      {Tensor::key_lengths, Access::load, {Phase::load_key_length}, {""}},
      {Tensor::taken, Access::load, {Phase::take_tile}, {""}},
      {Tensor::taken, Access::reduce, {Phase::take_tile}, {""}},
      {linattn::kv_state, Access::load, {linattn::load_kv_state}, {"KV"}},
      {linattn::kv_state, Access::store, {linattn::store_kv_state}, {"KV", ""}},
      {Tensor::q16, Access::load, {Phase::load_q}, {""}},
      {Tensor::k16, Access::load, {Phase::load_k}, {""}},
      {Tensor::v16, Access::load, {Phase::load_v}, {""}},
      {Tensor::q, Access::store, {Phase::store_operand}, {""}},
      {Tensor::k, Access::store, {Phase::store_operand}, {""}},
      {Tensor::v, Access::store, {Phase::store_operand}, {""}},
      {Tensor::q_scales, Access::store, {Phase::store_scale}, {""}},
      {Tensor::k_scales, Access::store, {Phase::store_scale}, {""}},
      {Tensor::v_scales, Access::store, {Phase::store_scale}, {""}},
      {Tensor::q_scales, Access::load, {Phase::load_scales}, {""}},
      {Tensor::k_scales, Access::load, {Phase::load_scales}, {""}},
      {Tensor::v_scales, Access::load, {Phase::load_scales}, {""}},
      {Tensor::o, Access::store, {Phase::store_o}, {"O", "O out", ""}},
      {Tensor::s, Access::store, {Phase::store_s}, {"S"}},
      {Tensor::p, Access::store, {Phase::store_p}, {"S"}},  // in the place of S
      {Tensor::o_acc, Access::store, {Phase::store_state, Phase::clear_state}, {"O", ""}},
      {Tensor::l, Access::store, {Phase::store_state, Phase::clear_state}, {"m, l", ""}},
      {Tensor::m, Access::store, {Phase::store_state, Phase::clear_state}, {"m, l", ""}},
      {Tensor::lse, Access::store, {Phase::store_lse}, {"m, l", ""}},
      {Tensor::delta, Access::store, {Phase::store_delta}, {""}},
      {Tensor::dp, Access::store, {Phase::store_dp}, {"dP"}},
      {Tensor::ds, Access::store, {Phase::store_ds}, {"dP"}},
      {Tensor::dq, Access::store, {Phase::store_dq}, {"dQ", ""}},
      {Tensor::dk, Access::store, {Phase::store_dk, Phase::store_dkv}, {"dK"}},
      {Tensor::dv, Access::store, {Phase::store_dv, Phase::store_dkv}, {"dV"}},
      {Tensor::dq_acc, Access::store, {Phase::store_dq, Phase::clear_dq}, {""}},
      {Tensor::dq_acc, Access::reduce, {Phase::add_dq}, {"dQ", ""}},
      {Tensor::o_part, Access::store, {Phase::store_partial}, {"O"}},
      {Tensor::lse_part, Access::store, {Phase::store_partial}, {"m, l", ""}}};
  return all;
}

/// Where matrices pass through without a name: rows alone, what is cleared, zeros of what sees no key, dQ where it
/// takes the registers of S and dP, copies of a state that goes on, a key length, and the number of a row tile.
bool may_pass_through(const std::string& kernel, const TileAccess& a) {
  if (a.phase == linattn::store_kv_state) return true;
  if (kernel.starts_with("quantise") || kernel == "transpose V") return true;
  if (kernel == "dot" || kernel == "convert" || kernel == "combine") return true;
  if (a.phase == Phase::clear_state || a.phase == Phase::clear_dq) return true;
  if (kernel == "bwd") return a.tensor == Tensor::dq || a.tensor == Tensor::dq_acc;
  return a.tensor == Tensor::o || a.tensor == Tensor::lse_part || a.tensor == Tensor::key_lengths ||
         a.tensor == Tensor::taken || a.phase == Phase::load_scales;
}

TEST(Phases, EveryAccessHasItsLineAndItsPlace) {
  std::set<std::pair<Phase, std::string>> met;
  for_each_launch([&](const std::string& /*algorithm*/, const KernelLaunch& launch) {
    ASSERT_LE(launch.on_chip.size(), OnChipParts().size());
    for (const TileAccess& a : test::all_accesses(*launch.program)) {
      const auto of = std::ranges::find_if(
          matrix_phases(), [&](const MatrixPhases& m) { return m.tensor == a.tensor && m.access == a.access; });
      ASSERT_NE(of, matrix_phases().end()) << to_string(a.tensor);
      ASSERT_TRUE(of->phases.contains(a.phase)) << to_string(a.tensor) << ": " << to_string(a.phase);
      ASSERT_TRUE(a.on_chip == no_part || a.on_chip < launch.on_chip.size());
      const std::string part = a.on_chip == no_part ? "" : launch.on_chip[a.on_chip].name;
      ASSERT_TRUE(of->parts.contains(part)) << to_string(a.tensor) << " in " << part;
      ASSERT_TRUE(a.on_chip != no_part || may_pass_through(launch.name, a)) << launch.name << to_string(a.tensor);
      met.emplace(a.phase, part);
    }
  });
  // Nothing of the table but what some program does.
  for (const MatrixPhases& of : matrix_phases()) {
    for (const Phase phase : of.phases) {
      EXPECT_TRUE(std::ranges::any_of(met, [&](const auto& each) { return each.first == phase; })) << to_string(phase);
    }
  }
}

/// Plays blocks and looks at each line: nothing is read that is not there, nothing is overwritten that is still needed,
/// nothing is left at the end.
class OnChipAudit {
 public:
  OnChipAudit(const KernelLaunch& launch, std::set<std::string>& filled) : launch_(launch), filled_(filled) {}

  void block(std::int64_t block) {
    OnChipState state(launch_.on_chip);
    for (std::int64_t step = 0; step < launch_.program->steps(block); ++step) {
      loaded_.reset();
      stored_.reset();
      bool stores = false;
      for (const StepEvent& event : events(*launch_.program, block, step)) {
        if (const auto* access = std::get_if<TileAccess>(&event)) {
          ASSERT_FALSE(stores && access->access == Access::load) << "a load after a store";
          stores = access->access != Access::load;
          before(state, *access);
        } else {
          before(state, std::get<Computation>(event));
        }
        if (testing::Test::HasFatalFailure()) return;
        state.play(event);
        after(state);
      }
    }
    for (std::size_t part = 0; part < launch_.on_chip.size(); ++part) {
      ASSERT_EQ(state.fills()[part].bytes, 0) << launch_.on_chip[part].name << " is left in block " << block;
    }
  }

 private:
  void before(const OnChipState& state, const TileAccess& access) {
    if (access.on_chip == no_part) return;
    const OnChipPart& part = launch_.on_chip[access.on_chip];
    const std::int64_t held = state.fills()[access.on_chip].bytes;
    if (access.access == Access::load) {
      ASSERT_TRUE(held == 0 || loaded_.test(access.on_chip)) << part.name << " is overwritten";
      loaded_.set(access.on_chip);
      // A ring's buffer holds a tile; split-KV's are cut by chunks of keys, FA1's state comes in slices of rows.
      if (part.place == OnChipPlace::shared && launch_.name != "partial") {
        ASSERT_LE(held + access.bytes(), part.bytes / part.stages) << part.name;
      }
    } else {
      ASSERT_TRUE(held > 0 || stored_.test(access.on_chip)) << part.name << " is stored and is empty";
      stored_.set(access.on_chip);
    }
  }

  void before(const OnChipState& state, const Computation& computation) {
    ASSERT_NE(computation.phase, Phase::unstated);
    ASSERT_GT(computation.bytes(), 0);
    for (std::size_t part = 0; part < OnChipParts().size(); ++part) {
      const bool reads = computation.reads.test(part);
      const bool frees = computation.frees.test(part);
      if (!reads && !frees) continue;
      ASSERT_LT(part, launch_.on_chip.size());
      const std::string& name = launch_.on_chip[part].name;
      ASSERT_GT(state.fills()[part].bytes, 0) << to_string(computation.phase) << " without " << name;
      ASSERT_TRUE(reads || name == "block table") << to_string(computation.phase) << " frees " << name;
    }
  }

  void after(const OnChipState& state) {
    std::int64_t shared = 0;
    for (std::size_t part = 0; part < launch_.on_chip.size(); ++part) {
      const OnChipPart& of = launch_.on_chip[part];
      const OnChipState::Fill& held = state.fills()[part];
      ASSERT_TRUE(held.bytes >= 0 && held.bytes <= of.bytes) << of.name;
      ASSERT_TRUE(held.buffer >= 0 && held.buffer < of.stages) << of.name;
      if (of.place == OnChipPlace::shared) shared += held.bytes;
      if (held.bytes > 0) filled_.insert(of.name);
    }
    ASSERT_EQ(state.bytes(OnChipPlace::shared), shared);
    ASSERT_LE(shared, launch_.dynamic_shared_bytes);
  }

  const KernelLaunch& launch_;
  std::set<std::string>& filled_;
  OnChipParts loaded_;
  OnChipParts stored_;
};

TEST(Phases, EveryLineFindsOnChipWhatItReadsAndNothingIsLeft) {
  std::map<std::string, std::set<std::string>> named;
  std::map<std::string, std::set<std::string>> filled;
  for_each_launch([&](const std::string& algorithm, const KernelLaunch& launch) {
    const std::string kernel = algorithm + " " + launch.name;
    OnChipAudit audit(launch, filled[kernel]);
    for (std::int64_t block = 0; block < launch.program->blocks(); ++block) {
      audit.block(block);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const OnChipPart& part : launch.on_chip) named[kernel].insert(part.name);
  });
  // Every part is filled by some line, but for what no line speaks of.
  for (auto& [kernel, parts] : named) {
    parts.erase("barriers");
    parts.erase("scales");
    parts.erase("key length");
    EXPECT_EQ(parts, filled[kernel]) << kernel;
  }
}

/// O and, where the pass has them, dQ, dK and dV, by doing what the programs say.
void expect_attention(const Algorithm& algorithm, const AttentionProblem& p, const Config& config) {
  SCOPED_TRACE(label(algorithm, p, config));
  const AttentionInputs inputs = make_inputs(p, InputKind::normal, 7);
  test::GlobalMemory memory;
  const auto put = [&](Tensor tensor, const std::vector<std::uint16_t>& matrix, std::int64_t rows) {
    for (std::size_t e = 0; e < matrix.size(); ++e) {
      const std::int64_t row = static_cast<std::int64_t>(e) / p.d;
      memory.at(tensor, row / rows, row % rows, static_cast<std::int64_t>(e) % p.d) = from_bits(p.dtype, matrix[e]);
    }
  };
  put(Tensor::q, inputs.q, p.n_q);
  put(Tensor::k, inputs.k, p.n_k);
  put(Tensor::v, inputs.v, p.n_k);
  put(Tensor::dout, inputs.dout, p.n_q);
  std::int64_t splits = 1;
  for (const KernelLaunch& launch : algorithm.plan(p, config, h200()).launches) {
    if (launch.name == "partial") splits = launch.program->blocks() / p.kv_instances();
    for (std::int64_t block = 0; block < launch.program->blocks(); ++block) {
      test::BlockInterpreter(p, splits, memory).run(*launch.program, block);
    }
  }
  const Reference reference =
      find_reference(algorithm.facts().reference)
          ->of(p, matrices_of(p, inputs), {.rows = all_rows(p), .keys = all_keys(p), .threads = 1});
  const auto compare = [&](Tensor tensor, const std::vector<double>& wanted, std::int64_t rows, std::int64_t cols) {
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      const std::int64_t row = static_cast<std::int64_t>(e) / cols;
      const double got = memory.at(tensor, row / rows, row % rows, static_cast<std::int64_t>(e) % cols);
      if (got == wanted[e]) continue;  // -inf
      ASSERT_NEAR(got, wanted[e], 1e-9) << to_string(tensor) << " element " << e;
    }
  };
  compare(Tensor::o, reference.o.exact, p.n_q, p.d);
  compare(Tensor::dq, reference.dq.exact, p.n_q, p.d);
  compare(Tensor::dk, reference.dk.exact, p.n_k, p.d);
  compare(Tensor::dv, reference.dv.exact, p.n_k, p.d);
  const std::vector<BufferSpec> buffers = algorithm.buffers(p, config, h200());
  const bool has_lse = std::ranges::count(buffers, "lse", &BufferSpec::name) > 0;
  if (has_lse) compare(Tensor::lse, reference.lse, p.n_q, 1);
}

TEST(Phases, DoingWhatTheProgramsSayGivesAttentionAndItsGradients) {
  std::map<std::string, int> done;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const AttentionProblem& problem :
         {AttentionProblem{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 40, .n_k = 57, .d = 16},
          AttentionProblem{.mask = Mask::causal, .n_q = 90, .n_k = 33, .d = 32},
          AttentionProblem{
              .mask = parse_mask("window:20:7+lengths:ramp").value(), .batch = 2, .n_q = 70, .n_k = 70, .d = 16},
          AttentionProblem{
              .mask = parse_mask("blocks:32:random50").value(), .heads_q = 2, .n_q = 70, .n_k = 100, .d = 16},
          AttentionProblem{.mask = parse_mask("window:100:20+lengths:100/17+blocks:64:random50").value(),
          .batch = 2,
          .heads_q = 2,
          .n_q = 130,
          .n_k = 100,
          .d = 16},
          AttentionProblem{.mask = parse_mask("blocks:64:butterfly").value(), .n_q = 200, .n_k = 150, .d = 16},
          AttentionProblem{.mask = Mask::causal, .n_q = 150, .n_k = 140, .d = 64},
          AttentionProblem{.batch = 2, .heads_q = 6, .heads_kv = 2, .n_q = 3, .n_k = 90, .d = 16},
          AttentionProblem{.mask = parse_mask("causal+lengths:90/5").value(),
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .n_q = 4,
          .n_k = 90,
          .d = 16,
          .page = 16}}) {
      for (const Tiling& tile :
           {Tiling{.br = 16, .bc = 32}, Tiling{.br = 32, .bc = 16},
            Tiling{.br = 64, .bc = 64, .raster = Raster::heads_fastest}, Tiling{.br = 128, .bc = 128},
            Tiling{.br = 16, .bc = 32, .splits = 4}, Tiling{.br = 16, .bc = 32, .splits = 30}}) {
        for (const Pass pass : {Pass::fwd_bwd, Pass::fwd}) {
          AttentionProblem p = problem;
          p.pass = pass;
          if (algorithm->refusal(p, tile, h200())) continue;
          ASSERT_NO_FATAL_FAILURE(expect_attention(*algorithm, p, tile));
          ++done[algorithm->name() + (pass == Pass::fwd ? " forward" : " backward")];
          break;
        }
      }
    }
  }
  for (const char* each : {"naive backward", "fa1 backward", "fa2 backward", "fa3 forward", "fa3 backward"}) {
    EXPECT_GE(done[each], 1) << each;
  }
  EXPECT_GE(done["splitkv forward"], 3);
  EXPECT_GE(done["linattn forward"], 10);
}

/// A step as a lesson shows it: each line once, and behind it what is on chip then, in bytes, by the parts' names.
std::vector<std::string> story(const KernelLaunch& launch, std::int64_t block, const std::vector<std::string>& parts) {
  std::vector<std::string> lines;
  OnChipState state(launch.on_chip);
  for (std::int64_t step = 0; step < launch.program->steps(block); ++step) {
    for (const StepEvent& event : events(*launch.program, block, step)) {
      state.play(event);
      std::string line = std::visit([](const auto& each) { return to_string(each.phase); }, event);
      for (const std::string& part : parts) {
        line += " " + part + " " + std::to_string(state.fills()[part_index(launch.on_chip, part)].bytes);
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// Q tile 16 x 16, K and V tiles 32 x 16 (the last one 8 x 16), 16 bits; S in fp32, 16 x 32 and 16 x 8.
TEST(Phases, AForwardBlockByHand) {
  const AttentionPlan plan = plan_of("fa2", {.n_q = 16, .n_k = 40, .d = 16}, Tiling{.br = 16, .bc = 32});
  EXPECT_THAT(story(plan.launches.at(0), 0, {"Q", "K", "V", "S", "P", "O"}),
              ElementsAre("load Q Q 512 K 0 V 0 S 0 P 0 O 0",                          //
                          "O = 0 Q 512 K 0 V 0 S 0 P 0 O 1024",                        //
                          "l = 0, m = -inf Q 512 K 0 V 0 S 0 P 0 O 1024",              //
                          "load K and V Q 512 K 1024 V 0 S 0 P 0 O 1024",              //
                          "load K and V Q 512 K 1024 V 1024 S 0 P 0 O 1024",           //
                          "S = QK^T Q 512 K 0 V 1024 S 2048 P 0 O 1024",               //
                          "m = max(m, rowmax(S)) Q 512 K 0 V 1024 S 2048 P 0 O 1024",  //
                          "P = exp(S - m) Q 512 K 0 V 1024 S 0 P 1024 O 1024",         //
                          "rescale O and l by exp(m_old - m), l += rowsum(P) Q 512 K 0 V 1024 S 0 P 1024 O 1024",
                          "O += PV Q 512 K 0 V 0 S 0 P 0 O 1024",                  //
                          "load K and V Q 512 K 256 V 0 S 0 P 0 O 1024",           //
                          "load K and V Q 512 K 256 V 256 S 0 P 0 O 1024",         //
                          "S = QK^T Q 0 K 0 V 256 S 512 P 0 O 1024",               //
                          "m = max(m, rowmax(S)) Q 0 K 0 V 256 S 512 P 0 O 1024",  //
                          "P = exp(S - m) Q 0 K 0 V 256 S 0 P 256 O 1024",         //
                          "rescale O and l by exp(m_old - m), l += rowsum(P) Q 0 K 0 V 256 S 0 P 256 O 1024",
                          "O += PV Q 0 K 0 V 0 S 0 P 0 O 1024",    //
                          "O = O / l Q 0 K 0 V 0 S 0 P 0 O 1024",  //
                          "store O Q 0 K 0 V 0 S 0 P 0 O 0",       //
                          "store LSE Q 0 K 0 V 0 S 0 P 0 O 0"));
}

TEST(Phases, TheStateOfFa1ComesAndGoesAtEveryStep) {
  const AttentionPlan plan = plan_of("fa1", {.n_q = 32, .n_k = 16, .d = 16}, Tiling{.br = 16, .bc = 16});
  const std::vector<std::string> lines = story(plan.launches.at(0), 0, {"K", "O"});
  EXPECT_THAT(lines, ElementsAre("clear O, l and m K 0 O 0", "clear O, l and m K 0 O 0", "clear O, l and m K 0 O 0",
                                 "load K and V K 512 O 0", "load K and V K 512 O 0",  //
                                 "load Q K 512 O 0", "load O, l and m K 512 O 1024", "load O, l and m K 512 O 1024",
                                 "load O, l and m K 512 O 1024", "O = O l K 512 O 1024", "S = QK^T K 512 O 1024",
                                 "m = max(m, rowmax(S)) K 512 O 1024", "P = exp(S - m) K 512 O 1024",
                                 "rescale O and l by exp(m_old - m), l += rowsum(P) K 512 O 1024",
                                 "O += PV K 512 O 1024", "O = O / l K 512 O 1024", "store O K 512 O 0",
                                 "store O, l and m K 512 O 0", "store O, l and m K 512 O 0",  //
                                 "load Q K 512 O 0", "load O, l and m K 512 O 1024", "load O, l and m K 512 O 1024",
                                 "load O, l and m K 512 O 1024", "O = O l K 512 O 1024", "S = QK^T K 0 O 1024",
                                 "m = max(m, rowmax(S)) K 0 O 1024", "P = exp(S - m) K 0 O 1024",
                                 "rescale O and l by exp(m_old - m), l += rowsum(P) K 0 O 1024", "O += PV K 0 O 1024",
                                 "O = O / l K 0 O 1024", "store O K 0 O 0", "store O, l and m K 0 O 0",
                                 "store O, l and m K 0 O 0"));
}

TEST(Phases, ABackwardBlockByHand) {
  const AttentionPlan plan =
      plan_of("fa2", {.pass = Pass::bwd, .n_q = 16, .n_k = 16, .d = 16}, Tiling{.br = 16, .bc = 16});
  const auto main = std::ranges::find(plan.launches, "bwd", &KernelLaunch::name);
  ASSERT_NE(main, plan.launches.end());
  EXPECT_THAT(
      story(*main, 0, {"P", "dS", "dK"}),
      ElementsAre("load K and V P 0 dS 0 dK 0", "load K and V P 0 dS 0 dK 0", "dK = 0 P 0 dS 0 dK 1024",
                  "dV = 0 P 0 dS 0 dK 1024", "load Q P 0 dS 0 dK 1024", "load dO P 0 dS 0 dK 1024",
                  "load row statistics P 0 dS 0 dK 1024", "load row statistics P 0 dS 0 dK 1024",
                  "S = QK^T P 0 dS 0 dK 1024", "P = exp(S - LSE) P 512 dS 0 dK 1024", "dV += P^T dO P 512 dS 0 dK 1024",
                  "dP = dO V^T P 512 dS 0 dK 1024", "dS = P o (dP - D) P 0 dS 512 dK 1024",
                  "dQ += dS K P 0 dS 512 dK 1024", "dK += dS^T Q P 0 dS 0 dK 1024", "add to dQ P 0 dS 0 dK 1024",
                  "store dK and dV P 0 dS 0 dK 0", "store dK and dV P 0 dS 0 dK 0"));
}

TEST(OnChipState, ARingsBuffersFollowOneAnotherAndWhatIsTooLargePassesThrough) {
  OnChipState state({{"K", OnChipPlace::shared, 300, 3}, {"S", OnChipPlace::registers, 64, 1}});
  using Fill = OnChipState::Fill;
  const TileAccess load{.rows = 1, .cols = 50, .element_bytes = 2, .on_chip = 0};
  const Computation scores{.on_chip = 1, .reads = 1, .frees = 1, .rows = 10, .cols = 10, .element_bytes = 4};
  const TileAccess store{.access = Access::store, .rows = 1, .cols = 1, .on_chip = 1};
  for (const int buffer : {0, 1, 2, 0}) {
    state.play(load);
    EXPECT_THAT(state.fills(), ElementsAre(Fill{100, buffer}, testing::_));
    state.play(scores);
    EXPECT_THAT(state.fills(), ElementsAre(Fill{0, buffer}, Fill{64, 0}));
    EXPECT_EQ(state.bytes(OnChipPlace::registers), 64);
    state.play(store);
    EXPECT_EQ(state.bytes(OnChipPlace::registers), 0);
  }
  // A tile that takes two buffers: the next one begins behind them.
  state.play(load);
  state.play(load);
  EXPECT_THAT(state.fills(), ElementsAre(Fill{200, 1}, testing::_));
  state.play(scores);
  state.play(load);
  EXPECT_THAT(state.fills(), ElementsAre(Fill{100, 0}, testing::_));
  EXPECT_EQ(state.bytes(OnChipPlace::shared), 100);
}

}  // namespace
}  // namespace attnscope
