// SPDX-License-Identifier: Apache-2.0
// Compares the tiles that traced kernels load with their tile programs: which block loads which tiles, in which order.
// On a real GPU; skipped without one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "bare_gpu.h"
#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"
#include "tests/kernels/tiling.h"

namespace attnscope {
namespace {

/// Row of Q, K or V, counted over all instances.
struct TracedRow {
  Tensor tensor = Tensor::q;
  std::int64_t row = 0;
  bool operator<(const TracedRow& other) const { return std::pair(tensor, row) < std::pair(other.tensor, other.row); }
};
using Rows = std::vector<TracedRow>;

void unpack(std::uint64_t record, Rows& rows) {
  constexpr std::array tensors{Tensor::q, Tensor::k, Tensor::v};
  const auto first = static_cast<std::int64_t>(record & ((std::uint64_t{1} << 40) - 1));
  const auto count = static_cast<std::int64_t>(record >> 40 & 0xFFFF);
  for (std::int64_t i = 0; i < count; ++i) rows.push_back({tensors.at(record >> 56), first + i});
}

/// Rows of `tensors` that a block of the program loads, in order.
Rows loads_of(const TileProgram& program, const AttentionProblem& problem, std::int64_t block,
              const std::set<Tensor>& tensors) {
  std::vector<TileAccess> accesses;
  for (std::int64_t step = 0; step < program.steps(block); ++step) program.visit(block, step, accesses);
  Rows rows;
  for (const TileAccess& access : accesses) {
    if (access.access != Access::load || !tensors.contains(access.tensor)) continue;
    const std::int64_t matrix_rows = access.tensor == Tensor::q ? problem.n_q : problem.n_k;
    for (std::int64_t i = 0; i < access.rows; ++i) {
      rows.push_back({access.tensor, access.instance * matrix_rows + access.row + i});
    }
  }
  return rows;
}

/// Returns how the warps' loads differ from the program's; empty if they are the program's rows distributed over the
/// warps, each warp's in program order.
std::string differs(const Rows& program, const std::vector<Rows>& warps) {
  std::map<TracedRow, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < program.size(); ++i) places[program[i]].push_back(i);
  std::vector<bool> loaded(program.size(), false);
  std::size_t count = 0;
  for (std::size_t warp = 0; warp < warps.size(); ++warp) {
    std::size_t from = 0;
    for (const TracedRow& row : warps[warp]) {
      const auto& candidates = places[row];
      const auto found = std::ranges::find_if(candidates, [&](std::size_t at) { return at >= from && !loaded[at]; });
      if (found == candidates.end()) {
        return fmt::format("warp {} loads row {} of {} where the program does not", warp, row.row,
                           to_string(row.tensor));
      }
      loaded[*found] = true;
      from = *found + 1;
      ++count;
    }
  }
  return count == program.size() ? "" : fmt::format("{} of {} rows are loaded", count, program.size());
}

struct TraceTarget {
  const char* algorithm;
  const char* launch;
  std::set<Tensor> apart = {};  ///< matrices whose loads are not ordered with those of the others
};

const std::vector<TraceTarget>& traced_kernels() {
  static const std::vector<TraceTarget> kernels{{"naive", "qk"},
                                                {"fa1", "fwd"},
                                                {"fa2", "fwd"},
                                                {"fa3", "fwd", {Tensor::q, Tensor::k, Tensor::v}},
                                                {"splitkv", "partial", {Tensor::q}}};
  return kernels;
}

/// Groups of traced matrices whose loads follow the program's order within the group.
std::vector<std::set<Tensor>> in_order(const TraceTarget& kernel) {
  std::vector<std::set<Tensor>> groups(1);
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) {
    if (!kernel.apart.contains(tensor)) {
      groups.front().insert(tensor);
    } else {
      groups.push_back({tensor});
    }
  }
  return groups;
}

class TileOrderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto opened = gpu::BareGpu::open();
    if (opened) {
      gpu_ = std::move(opened).value();
    } else {
      reason_ = text(opened.error());
    }
  }
  static void TearDownTestSuite() { gpu_.reset(); }
  void SetUp() override {
    if (!gpu_) GTEST_SKIP() << reason_;
  }

  /// Traced launch and its plan.
  struct Case {
    const TraceTarget* of;
    AttentionProblem problem;
    Tiling tile;
    AttentionPlan plan;
    KernelLaunch launch;
  };

  static std::optional<Case> make_case(const TraceTarget& of, const AttentionProblem& problem, const Tiling& tile) {
    const Algorithm* algorithm = built_in_algorithms().find(of.algorithm);
    if (algorithm->refusal(problem, tile, gpu_->limits())) return std::nullopt;
    AttentionPlan plan = algorithm->plan(problem, tile, gpu_->limits());
    const auto found = std::ranges::find(plan.launches, of.launch, &KernelLaunch::name);
    if (found == plan.launches.end()) {
      ADD_FAILURE() << of.algorithm << " has no launch " << of.launch;
      return std::nullopt;
    }
    KernelLaunch launch = *found;
    launch.source.defines.push_back(fmt::format("ATTN_TRACE={}", launch.block[0] / 32));
    return Case{&of, problem, tile, std::move(plan), std::move(launch)};
  }

  static std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const TraceTarget& of : traced_kernels()) {
      for (const char* mask : {"full", "causal", "window:90:40", "lengths:ramp", "causal+blocks:64:butterfly"}) {
        for (const std::int64_t n_q : {301, 3}) {
          for (const Raster raster : {Raster::q_fastest, Raster::heads_fastest}) {
            for (const auto& [br, bc] : {std::pair(0, 0), std::pair(64, 64), std::pair(128, 32), std::pair(16, 128)}) {
              const AttentionProblem problem{.mask = parse_mask(mask).value(),
                                             .batch = 2,
                                             .heads_q = 4,
                                             .heads_kv = 2,
                                             .n_q = n_q,
                                             .n_k = 739,
                                             .d = 64};
              Tiling tile =
                  tiling_from(built_in_algorithms().find(of.algorithm)->default_config(problem, gpu_->limits()));
              if (br > 0) tile.br = br, tile.bc = bc;
              tile.raster = raster;
              if (auto made = make_case(of, problem, tile)) cases.push_back(std::move(*made));
            }
          }
        }
      }
    }
    return cases;
  }

  /// Loads of each warp of each block: [block][warp].
  static std::vector<std::vector<Rows>> trace(const gpu::PreparedPlan& plan, const KernelLaunch& launch) {
    int slots = 1024;
    const std::size_t warps = launch.block[0] / 32;
    const std::size_t stride = static_cast<std::size_t>(slots) + 1;
    std::vector<std::uint64_t> records(launch.grid[0] * warps * stride);
    const auto bytes = records.size() * sizeof(std::uint64_t);
    const gpu::LoadedKernel& kernel = gpu_->runner().load(launch);
    const gpu::CudaApi& cuda = gpu_->cuda();
    const CUstream stream = gpu_->runner().stream();
    const gpu::DeviceMemory memory = gpu::allocate(cuda, static_cast<std::int64_t>(bytes));
    cuda.check(cuda.cuMemsetD8Async(memory.get(), 0, bytes, stream), "cuMemsetD8Async");
    CUfunction bind = nullptr;
    cuda.check(cuda.cuModuleGetFunction(&bind, kernel.module.get(), "attn_trace_into"), "cuModuleGetFunction");
    CUdeviceptr target = memory.get();
    void* arguments[] = {&target, &slots};
    cuda.check(cuda.cuLaunchKernel(bind, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
    gpu::PreparedLaunch prepared(cuda, launch, kernel, [&](const std::string& buffer) { return plan.address(buffer); });
    prepared.enqueue(cuda, stream);
    gpu_->runner().wait(std::chrono::seconds(10));
    cuda.check(cuda.cuMemcpyDtoH(records.data(), memory.get(), bytes), "cuMemcpyDtoH");

    std::vector<std::vector<Rows>> loads(launch.grid[0], std::vector<Rows>(warps));
    for (std::size_t warp = 0; warp < records.size() / stride; ++warp) {
      const std::uint64_t* own = &records[warp * stride];
      EXPECT_LT(own[0], stride) << "the trace buffer overflowed";
      Rows& rows = loads[warp / warps][warp % warps];
      for (std::size_t n = 1; n <= std::min<std::uint64_t>(own[0], stride - 1); ++n) unpack(own[n], rows);
    }
    return loads;
  }

  static void judge(const Case& of) {
    const std::string what = describe(PointSpec{.algorithm = of.of->algorithm, .problem = of.problem, .tile = of.tile});
    const TileProgram& program = *of.launch.program;
    const gpu::PreparedPlan buffers(*gpu_, of.plan);
    const auto loads = trace(buffers, of.launch);
    ASSERT_EQ(program.blocks(), static_cast<std::int64_t>(loads.size())) << what;
    for (std::size_t block = 0; block < loads.size(); ++block) {
      for (const std::set<Tensor>& tensors : in_order(*of.of)) {
        std::vector<Rows> warps;
        for (const Rows& all : loads[block]) {
          std::ranges::copy_if(all, std::back_inserter(warps.emplace_back()),
                               [&](const TracedRow& row) { return tensors.contains(row.tensor); });
        }
        const Rows stated = loads_of(program, of.problem, static_cast<std::int64_t>(block), tensors);
        ASSERT_EQ(differs(stated, warps), "") << what << ", block " << block;
      }
    }
  }

  static inline std::unique_ptr<gpu::BareGpu> gpu_;
  static inline std::string reason_;
};

TEST_F(TileOrderTest, BlocksLoadTilesInProgramOrder) {
  const std::vector<Case> cases = all_cases();
  std::vector<KernelLaunch> launches;
  launches.reserve(cases.size());
  for (const Case& each : cases) launches.push_back(each.launch);
  gpu_->build(launches);
  std::map<std::string, int> judged;
  for (const Case& each : cases) {
    judge(each);
    ++judged[each.of->algorithm];
  }
  for (const TraceTarget& of : traced_kernels()) {
    if (std::string_view(of.algorithm) == "fa3" && gpu_->limits().compute_major != 9) continue;
    EXPECT_GE(judged[of.algorithm], 4) << of.algorithm;
  }
}

TEST(TileOrder, DetectsWrongOrderWrongTileAndMissingTile) {
  const auto row = [](Tensor tensor, std::int64_t at) { return TracedRow{tensor, at}; };
  const Rows program{row(Tensor::k, 0), row(Tensor::q, 0), row(Tensor::q, 1),
                     row(Tensor::k, 1), row(Tensor::q, 0), row(Tensor::q, 1)};
  EXPECT_EQ(differs(program, {program}), "");
  EXPECT_EQ(differs(program, {{program[0], program[1], program[3], program[4]}, {program[2], program[5]}}), "");
  Rows swapped = program;
  std::swap(swapped[0], swapped[1]);
  EXPECT_NE(differs(program, {swapped}), "");
  Rows other = program;
  other[3].row = 2;
  EXPECT_NE(differs(program, {other}), "");
  EXPECT_NE(differs(program, {Rows(program.begin(), program.end() - 1)}), "");
  Rows twice = program;
  twice.push_back(program.back());
  EXPECT_NE(differs(program, {twice}), "");
}

}  // namespace
}  // namespace attnscope
