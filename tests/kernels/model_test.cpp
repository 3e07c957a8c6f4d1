// SPDX-License-Identifier: Apache-2.0
// The model matches the plan's launches and tile programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;
using test::label;

using BytesOfMatrix = std::map<Tensor, std::pair<std::int64_t, std::int64_t>>;

/// Loads and stores per matrix of the closed form, without matrices that have no traffic; fails on duplicates.
BytesOfMatrix by_matrix(const KernelModel& kernel) {
  BytesOfMatrix all;
  for (const auto& [tensor, traffic] : kernel.operands) {
    if (traffic.total() == 0) continue;
    EXPECT_TRUE(all.emplace(tensor, std::pair(traffic.l2_to_sm_bytes, traffic.sm_to_l2_bytes)).second)
        << to_string(tensor);
  }
  return all;
}

/// Same from the tile program. Row values are counted by address: the sectors that each request touches. Boxes all have
/// equal size.
BytesOfMatrix by_matrix(const TileProgram& program, const AttentionProblem& p) {
  BytesOfMatrix all;
  std::set<std::int64_t> request;
  for (const TileAccess& access : test::all_accesses(program)) {
    if (const int box = access.box_rows(); box > 0) {
      auto& [loads, stores] = all[access.tensor];
      for (std::int64_t row = 0; row < access.rows; row += box) {
        (access.access == Access::load ? loads : stores) += access.element_bytes * box * p.d;
      }
      continue;
    }
    std::int64_t bytes = access.request_rows > 0 ? 0 : access.bytes();
    for (std::int64_t row = 0; access.request_rows > 0 && row < access.rows; ++row) {
      // A request continues into the next head if its access allows it.
      if (row % access.request_rows == 0 && (row > 0 || access.place >= 0)) request.clear();
      const std::int64_t address = 4 * (access.instance * p.n_q + access.row + row);
      bytes += request.insert(address / 32).second ? 32 : 0;
    }
    if (bytes == 0) continue;
    auto& [loads, stores] = all[access.tensor];
    (access.access == Access::load ? loads : stores) += bytes;
  }
  return all;
}

/// Calls `check` for all problems and tiles of the closed-form tests, in each pass.
template <class Check>
int for_each_model(const Check& check) {
  int checked = 0;
  const auto each = [&](const std::vector<AttentionProblem>& problems, const std::vector<Tiling>& tiles) {
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      for (AttentionProblem p : problems) {
        for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
          p.pass = pass;
          for (const Tiling& tile : tiles) {
            const AttentionModel model = algorithm->model(p, tile, h200());
            if (model.refusal) {
              EXPECT_TRUE(model.kernels.empty());
              continue;
            }
            SCOPED_TRACE(label(*algorithm, p, tile));
            check(*algorithm, p, tile, model);
            ++checked;
          }
        }
      }
    }
  };
  each(test::irregular_problems(), test::irregular_tiles());
  each(test::masked_problems(), test::tiles_dividing_96());
  return checked;
}

TEST(Model, MatchesThePlanToTheByte) {
  const int checked = for_each_model(
      [](const Algorithm& algorithm, const AttentionProblem& p, const Config& config, const AttentionModel& model) {
        const AttentionPlan plan = algorithm.plan(p, config, h200());
        ASSERT_EQ(model.kernels.size(), plan.launches.size());
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
          const KernelModel& kernel = model.kernels[i];
          const KernelLaunch& launch = plan.launches[i];
          EXPECT_EQ(kernel.name, launch.name);
          EXPECT_EQ(kernel.setup, launch.setup);
          EXPECT_EQ(kernel.grid, launch.grid);
          EXPECT_EQ(kernel.blocks(), launch.program->blocks());
          EXPECT_EQ(kernel.block, launch.block);
          EXPECT_EQ(kernel.dynamic_shared_bytes, launch.dynamic_shared_bytes);
          EXPECT_EQ(kernel.registers_per_thread, launch.registers_per_thread);
          EXPECT_EQ(kernel.traffic, launch.traffic);
          EXPECT_EQ(launch.traffic, walk(*launch.program)) << launch.name;
          EXPECT_EQ(kernel.operands, launch.operands);
          EXPECT_EQ(by_matrix(kernel), by_matrix(*launch.program, p)) << kernel.name;
          EXPECT_EQ(kernel.on_chip, launch.on_chip);
        }
        EXPECT_EQ(model.traffic(), plan.traffic());
        EXPECT_EQ(model.working_set_bytes, algorithm.working_set_bytes(p, config, h200()));
      });
  const std::size_t problems = test::irregular_problems().size() + test::masked_problems().size();
  EXPECT_GT(checked, static_cast<int>(28 * problems)) << "most tiles and passes of most problems run";
}

/// The order matches the program's steps, and its work sums to the total.
void expect_order(const KernelWork& work, const std::vector<double>& block_step_counts) {
  if (work.order.empty()) {
    for (const double steps : block_step_counts) EXPECT_EQ(steps, block_step_counts.front());
    return;
  }
  std::vector<double> stated;
  double steps = 0;
  double rounds = 0;
  double squares = 0;
  for (const RepeatedRuns& turn : work.order) {
    for (std::int64_t time = 0; time < turn.times; ++time) {
      for (const BlockRun& run : turn.runs) {
        stated.insert(stated.end(), static_cast<std::size_t>(run.blocks), run.steps);
        steps += static_cast<double>(run.blocks) * run.steps;
        rounds += static_cast<double>(run.blocks) * run.rounds;
        squares += static_cast<double>(run.blocks) * run.mask_reads;
      }
    }
  }
  ASSERT_EQ(stated.size(), block_step_counts.size());
  const auto listed = std::min(std::ssize(stated), std::ptrdiff_t{min_listed_blocks});
  EXPECT_TRUE(std::equal(stated.end() - listed, stated.end(), block_step_counts.end() - listed)) << "the last blocks";
  EXPECT_NEAR(steps, work.steps, 1e-9 * work.steps);
  EXPECT_NEAR(rounds, work.rounds, 1e-9 * work.rounds);
  EXPECT_NEAR(squares, work.mask_reads, 1e-9 * work.mask_reads);
}

/// Inputs of the time model: steps match the program, and whole tiles are counted, so that no unit has less work than
/// the program performs.
TEST(Model, WorkMatchesTheProgram) {
  for_each_model(
      [](const Algorithm& algorithm, const AttentionProblem& p, const Config& config, const AttentionModel& model) {
        const AttentionPlan plan = algorithm.plan(p, config, h200());
        double exponentials = 0;
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
          const TileProgram& program = *plan.launches[i].program;
          const KernelWork& work = model.kernels[i].work;
          SCOPED_TRACE(model.kernels[i].name);
          std::int64_t steps = 0;
          std::vector<double> block_step_counts;
          for (std::int64_t block = 0; block < program.blocks(); ++block) {
            const std::int64_t of_block = program.steps(block);
            steps += of_block;
            block_step_counts.push_back(static_cast<double>(of_block));
          }
          EXPECT_EQ(work.steps, static_cast<double>(steps));
          expect_order(work, block_step_counts);
          exponentials += work.exponentials;
          EXPECT_GE(work.rounds, 0);
          EXPECT_TRUE(p.mask.has_block_mask() || work.mask_reads == 0) << "there is none to read";
          EXPECT_GE(work.concurrent_steps, 1);
          // Data reduced in L2 is sent once by the SM; DRAM reads and writes it.
          EXPECT_LE(work.distinct_bytes, 2 * static_cast<double>(model.kernels[i].traffic.total()));
          EXPECT_EQ(model.kernels[i].starts_early, plan.launches[i].starts_early);
          EXPECT_EQ(model.kernels[i].work, plan.launches[i].work);
          EXPECT_EQ(model.kernels[i].timing, plan.launches[i].timing);
          EXPECT_GT(model.kernels[i].timing.launch_ns, 0) << "constants were fitted";
        }
        if (algorithm.facts().reference != "softmax") return;
        // With 8 bits up to half of them are linear interpolations.
        EXPECT_GE(exponentials, static_cast<double>(unmasked_pairs(p)) * (p.dtype == DType::fp8 ? 0.5 : 1));
      });
}

/// Rows of an operand that a step loads, with their head.
struct LoadedRows {
  std::int64_t instance;
  std::int64_t first;
  std::int64_t last;
};

/// Marks the query-key pairs, over all heads, that a program combines on chip.
void add_pairs(std::vector<bool>& met, const TileProgram& program, const AttentionProblem& p) {
  for (std::int64_t block = 0; block < program.blocks(); ++block) {
    PairFinder finder;
    std::vector<LoadedRows> queries;
    std::vector<LoadedRows> keys;
    for (std::int64_t step = 0; step < program.steps(block); ++step) {
      std::vector<TileAccess> accesses;
      program.visit(block, step, accesses);
      std::vector<LoadedRows> new_queries;
      std::vector<LoadedRows> new_keys;
      for (const TileAccess& a : accesses) {
        if (a.access != Access::load) continue;
        if (a.tensor == Tensor::q || a.tensor == Tensor::dout)
          new_queries.push_back({a.instance, a.row, a.row + a.rows});
        if (a.tensor == Tensor::k || a.tensor == Tensor::v) new_keys.push_back({a.instance, a.row, a.row + a.rows});
      }
      const bool pairs = finder.step(!new_queries.empty(), !new_keys.empty());
      if (!new_queries.empty()) queries = std::move(new_queries);
      if (!new_keys.empty()) keys = std::move(new_keys);
      if (!pairs) continue;
      for (const LoadedRows& q : queries) {
        for (const LoadedRows& k : keys) {
          if (q.instance / group_size(p) != k.instance) continue;
          for (std::int64_t row = q.first; row < q.last; ++row) {
            const std::int64_t begin = (q.instance * p.n_q + row) * p.n_k;
            std::fill(met.begin() + begin + k.first, met.begin() + begin + std::min(k.last, p.n_k), true);
          }
        }
      }
    }
  }
}

TEST(Model, EveryVisiblePairMeetsOnChip) {
  constexpr std::int64_t max_pairs = 16'000;
  std::set<std::string> algorithms;
  for_each_model([&](const Algorithm& algorithm, const AttentionProblem& p, const Config& config,
                     const AttentionModel& /*model*/) {
    if (algorithm.facts().reference != "softmax" || p.mask.has_block_mask() || p.n_q * p.n_k > max_pairs) return;
    std::vector<bool> met(static_cast<std::size_t>(p.instances() * p.n_q * p.n_k));
    for (const KernelLaunch& launch : algorithm.plan(p, config, h200()).launches) {
      if (!launch.setup) add_pairs(met, *launch.program, p);
    }
    for (std::int64_t row = 0; row < p.instances() * p.n_q; ++row) {
      const KeyRange keys = visible_keys(p, row / p.n_q / p.heads_q, row % p.n_q);
      const auto begin = met.begin() + row * p.n_k;
      ASSERT_EQ(std::count(begin + keys.first, begin + keys.last, true), keys.last - keys.first) << "row " << row;
    }
    algorithms.insert(algorithm.name());
  });
  EXPECT_GT(algorithms.size(), 4U);
}

TEST(Model, OnChipPartsSumToSharedBytes) {
  std::map<std::string, int> with_parts;
  for_each_model([&](const Algorithm& algorithm, const AttentionProblem& /*p*/, const Config& /*config*/,
                     const AttentionModel& model) {
    for (const KernelModel& kernel : model.kernels) {
      std::int64_t shared = 0;
      std::int64_t registers = 0;
      std::set<std::string> names;
      for (const OnChipPart& part : kernel.on_chip) {
        EXPECT_GT(part.bytes, 0) << part.name;
        EXPECT_GE(part.stages, 1) << part.name;
        EXPECT_EQ(part.bytes % part.stages, 0) << part.name;
        EXPECT_TRUE(names.insert(part.name).second) << part.name << " twice";
        (part.place == OnChipMemory::shared ? shared : registers) += part.bytes;
      }
      EXPECT_EQ(shared, kernel.dynamic_shared_bytes) << kernel.name;
      EXPECT_LE(registers, std::int64_t{kernel.threads_per_block()} * kernel.registers_per_thread * 4) << kernel.name;
      with_parts[algorithm.name() + " " + kernel.name] += kernel.on_chip.empty() ? 0 : 1;
    }
  });
  // Kernels that only stream rows have no named parts.
  for (const auto& [kernel, count] : with_parts) {
    const bool rows = kernel.ends_with(" dot") || kernel.ends_with(" convert") || kernel.ends_with(" combine") ||
                      kernel.find(" quantise ") != std::string::npos || kernel.ends_with(" transpose V");
    EXPECT_EQ(count == 0, rows) << kernel;
  }
}

/// From the papers' formulas: Q, K and V tiles in shared memory, accumulators in registers.
TEST(Model, OnChipPartsByHand) {
  const AttentionProblem p{.heads_q = 8, .heads_kv = 8, .n_q = 4096, .n_k = 4096, .d = 128};
  const auto part = [](const KernelModel& kernel, const std::string& name) {
    const auto found = std::ranges::find(kernel.on_chip, name, &OnChipPart::name);
    return found == kernel.on_chip.end() ? OnChipPart{} : *found;
  };
  const Tiling tile{.br = 128, .bc = 64};
  const KernelModel fa2 = built_in_algorithms().find("fa2")->model(p, tile, h200()).kernels.at(0);
  EXPECT_EQ(part(fa2, "Q"), (OnChipPart{"Q", OnChipMemory::shared, 128 * 128 * 2, 1}));
  EXPECT_EQ(part(fa2, "K"), (OnChipPart{"K", OnChipMemory::shared, 64 * 128 * 2, 1}));
  EXPECT_EQ(part(fa2, "O"), (OnChipPart{"O", OnChipMemory::registers, 128 * 128 * 4, 1}));
  const KernelModel fa3 = built_in_algorithms().find("fa3")->model(p, tile, h200()).kernels.at(0);
  EXPECT_EQ(part(fa3, "V"), (OnChipPart{"V", OnChipMemory::shared, 2 * 64 * 128 * 2, 2}));
}

constexpr AttentionProblem flops_problem{.heads_q = 4, .heads_kv = 4, .n_q = 4096, .n_k = 4096, .d = 128};

/// Executed FLOPs with tiles of 128 x 64; nullopt if refused.
std::optional<double> executed_flops(std::string_view algorithm, const AttentionProblem& p) {
  return built_in_algorithms().find(algorithm)->model(p, Tiling{.br = 128, .bc = 64}, h200()).executed_flops();
}

// In units of N^2 d per head: forward 4, backward 10 with S recomputed, 8 if P is stored.
TEST(ExecutedFlops, DependOnRecomputation) {
  std::vector<std::string> compared;
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    AttentionProblem p = flops_problem;
    const double unit =
        static_cast<double>(p.instances()) * static_cast<double>(p.n_q) * static_cast<double>(p.n_k * p.d);
    const auto forward = executed_flops(a->name(), p);
    if (forward && a->facts().reference == "softmax") {
      EXPECT_DOUBLE_EQ(*forward, 4 * unit) << a->name();
      compared.emplace_back(a->name());
    }
    p.pass = Pass::bwd;
    const auto backward = executed_flops(a->name(), p);
    if (!backward) continue;
    EXPECT_DOUBLE_EQ(*backward, (a->name() == "naive" ? 8 : 10) * unit) << a->name();
    EXPECT_DOUBLE_EQ(a->nominal_flops(p), 10 * unit);
    p.pass = Pass::fwd_bwd;
    EXPECT_DOUBLE_EQ(executed_flops(a->name(), p).value(), (a->name() == "naive" ? 12 : 14) * unit) << a->name();
    EXPECT_DOUBLE_EQ(a->nominal_flops(p), 14 * unit);
    compared.push_back(std::string(a->name()) + " bwd");
  }
  EXPECT_THAT(compared, ::testing::ElementsAre("naive", "naive bwd", "fa1", "fa1 bwd", "fa2", "fa2 bwd", "fa3", "ring",
                                               "allgather", "ulysses"));
}

TEST(ExecutedFlops, CountWholeTiles) {
  AttentionProblem causal = flops_problem;
  causal.mask = Mask::causal;
  EXPECT_EQ(executed_flops("naive", causal), forward_flops(flops_problem)) << "naive computes all of S";
  // Blocks of 128 rows see i + 1 pairs of tiles of 64 keys.
  const double blocks = static_cast<double>(flops_problem.n_q) / 128;
  EXPECT_DOUBLE_EQ(executed_flops("fa2", causal).value(), forward_flops(flops_problem) * (blocks + 1) / 2 / blocks);
  AttentionProblem ragged = flops_problem;
  ragged.n_q = flops_problem.n_q - 127;
  EXPECT_EQ(executed_flops("fa2", ragged), forward_flops(flops_problem));
}

TEST(Model, RefusedModelIsEmpty) {
  const AttentionProblem p{.d = 72};
  const AttentionModel model = built_in_algorithms().find("fa2")->model(p, TileShape{}, h200());
  ASSERT_TRUE(model.refusal);
  EXPECT_THAT(text(model.refusal->reason), ::testing::HasSubstr("d 72"));
  EXPECT_EQ(model.traffic(), Traffic{});
  EXPECT_EQ(model.working_set_bytes, 0);
}

/// Counts are sums over one side of the tile grid; their product, 2^20 x 2^20 tiles, would take too long.
TEST(Model, LongMaskedSequencesAreFast) {
  for (const char* mask : {"full", "causal", "window:4096:0", "causal+lengths:ramp"}) {
    const std::int64_t n = std::int64_t{1} << 24;
    const AttentionProblem p{.mask = parse_mask(mask).value(), .batch = 2, .n_q = n, .n_k = n, .d = 64};
    const AttentionModel model = built_in_algorithms().find("fa2")->model(p, Tiling{.br = 16, .bc = 16}, h200());
    ASSERT_FALSE(model.refusal) << model.refusal->reason;
    EXPECT_GT(model.traffic().total(), 0) << mask;
  }
}

}  // namespace
}  // namespace attnscope
