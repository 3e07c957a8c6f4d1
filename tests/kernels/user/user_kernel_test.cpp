// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/user_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "kernels/model/gpu_values.h"
#include "kernels/registry.h"
#include "kernels/user/new_kernel.h"
#include "messages/feature.h"
#include "tests/kernels/user/manifest_text.h"
#include "tests/message_matchers.h"
#include "tests/temporary_folder.h"

namespace attnscope::user {
namespace {

namespace fs = std::filesystem;
using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

AttentionProblem problem_of(std::int64_t n = 1000) {
  return {.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = n, .n_k = n, .d = 64};
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = template_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::unique_ptr<UserKernel> kernel_of(const std::string& text) {
  auto manifest = parse_manifest(text, "/somewhere");
  if (!manifest) {
    ADD_FAILURE() << manifest.error();
    return nullptr;
  }
  return std::make_unique<UserKernel>(std::move(manifest).value());
}

class UserKernelTest : public ::testing::Test {
 protected:
  const DeviceLimits gpu_ = *find_gpu("h100");
};

TEST_F(UserKernelTest, LaunchesMatchTheManifest) {
  const auto kernel = kernel_of(template_text());
  const AttentionPlan plan = kernel->plan(problem_of(), TileShape{.br = 32, .bc = 64}, gpu_);
  ASSERT_EQ(plan.launches.size(), 1U);
  const KernelLaunch& launch = plan.launches[0];
  EXPECT_THAT(launch.grid, ElementsAre(32, 8, 1));  // 1000 rows in tiles of 32, two times four heads
  EXPECT_THAT(launch.block, ElementsAre(128, 1, 1));
  EXPECT_EQ(launch.dynamic_shared_bytes, 2 * 64 * 64 * 2);
  EXPECT_THAT(launch.source.defines,
              ElementsAre("TILE_BR=32", "TILE_BC=64", "HEAD_DIM=64", "IS_BF16=0", "IS_CAUSAL=0"));
  EXPECT_EQ(std::get<std::int32_t>(launch.arguments[7]), 4);
  EXPECT_EQ(std::get<std::int32_t>(launch.arguments[8]), 2);
  EXPECT_FLOAT_EQ(std::get<float>(launch.arguments[9]), 0.125F);
  std::vector<std::string> names;
  for (const BufferSpec& buffer : plan.buffers) names.push_back(buffer.name);
  EXPECT_THAT(names, ElementsAre("q", "k", "v", "o", "lse"));
  EXPECT_EQ(plan.buffers[1].bytes, 2 * 2 * 1000 * 64 * 2);
}

TEST_F(UserKernelTest, TrafficMatchesTheLaw) {
  const TileShape tile{.br = 64, .bc = 32};
  const auto like = kernel_of(template_text());
  const Traffic fa2 = known_algorithms().find("fa2")->model(problem_of(), tile, gpu_).traffic();
  EXPECT_EQ(like->model(problem_of(), tile, gpu_).traffic(), fa2);

  std::string text = changed("\"law\": { \"like\": \"fa2\" }", "\"layout\": \"bhnd\"");
  text.insert(text.find("\"arguments\""), R"("bytes": { "Q": { "load": "n_q * 10" }, "O": { "store": "n_q + d" } }, )");
  const AttentionModel stated = kernel_of(text)->model(problem_of(), tile, gpu_);
  EXPECT_TRUE(stated.reports_traffic);
  EXPECT_EQ(stated.traffic().l2_to_sm_bytes, 10'000);
  EXPECT_EQ(stated.traffic().sm_to_l2_bytes, 1064);
}

std::map<Tensor, Traffic> traffic_of(const Algorithm& algorithm, const AttentionProblem& p, const DeviceLimits& gpu) {
  const AttentionModel model = algorithm.model(p, TileShape{.br = 64, .bc = 32}, gpu);
  EXPECT_FALSE(model.refusal) << english_text(model.refusal->reason);
  std::map<Tensor, Traffic> all;
  for (const KernelModel& kernel : model.kernels) {
    for (const OperandTraffic& operand : kernel.operands) all[operand.tensor] += operand.traffic;
  }
  return all;
}

TEST_F(UserKernelTest, LawCountsTheElementsOfTheKernel) {
  const auto kernel = kernel_of(changed("[\"fp16\", \"bf16\"]", "[\"fp32\"]"));
  EXPECT_THAT(kernel->facts().dtypes, ElementsAre(DType::fp32));
  for (const std::int64_t n : {1024, 1000}) {
    for (const Mask& mask : {Mask::none, Mask::causal}) {
      AttentionProblem p = problem_of(n);
      p.mask = mask;
      std::map<Tensor, Traffic> expected = traffic_of(*built_in_algorithms().find("fa2"), p, gpu_);
      p.dtype = DType::fp32;
      // Rows of 256 bytes are whole sectors, so only the element size counts. LSE is fp32 in both.
      for (auto& [tensor, traffic] : expected) {
        if (tensor != Tensor::lse) traffic += Traffic(traffic);
      }
      EXPECT_EQ(traffic_of(*kernel, p, gpu_), expected) << n;
      EXPECT_GT(expected.at(Tensor::k).l2_to_sm_bytes, 0);
    }
  }
}

TEST_F(UserKernelTest, Fp32HasFourBytesPerElement) {
  std::string text = changed("[\"fp16\", \"bf16\"]", "[\"fp32\"]");
  text.replace(text.find("BF16\": \"bf16\""), 13, "FP32\": \"fp32\"");
  text.replace(text.find("\"arguments\": [\"q\""), 17,
               R"("arguments": [{ "map": "q", "extents": ["d", "n_q"], "strides": ["d * 4"], "box": ["32", "br"] })");
  const auto kernel = kernel_of(text);
  AttentionProblem p = problem_of();
  const TileShape tile{.br = 32, .bc = 32};
  EXPECT_THAT(english_text(kernel->refusal(p, tile, gpu_)->reason), HasWords("my-kernel dtype fp16 fp32"));
  p.dtype = DType::fp32;
  ASSERT_FALSE(kernel->refusal(p, tile, gpu_));
  const AttentionPlan plan = kernel->plan(p, tile, gpu_);
  EXPECT_EQ(find_buffer(plan.buffers, "k")->bytes, 2 * 2 * 1000 * 64 * 4);
  EXPECT_EQ(find_buffer(plan.buffers, "o")->bytes, 2 * 4 * 1000 * 64 * 4);
  EXPECT_EQ(find_buffer(plan.buffers, "lse")->bytes, 2 * 4 * 1000 * 4);
  const KernelLaunch& launch = plan.launches.at(0);
  EXPECT_EQ(launch.dynamic_shared_bytes, 2 * 32 * 64 * 4);
  EXPECT_THAT(launch.source.defines,
              ElementsAre("TILE_BR=32", "TILE_BC=32", "HEAD_DIM=64", "IS_FP32=1", "IS_CAUSAL=0"));
  EXPECT_EQ(std::get<TensorMapArgument>(launch.arguments.at(0)).dtype, DType::fp32);
}

TEST_F(UserKernelTest, LawCanUseAnotherTile) {
  const auto kernel = kernel_of(changed("\"like\": \"fa2\"", R"("like": "linattn", "br": "br / 2", "bc": "bc / 2")"));
  const Algorithm& linear = *built_in_algorithms().find("linattn");
  AttentionProblem p = problem_of();
  p.heads_kv = p.heads_q;
  p.mask.right = 0;
  const TileShape own{.br = 128, .bc = 128};
  const TileShape of_law{.br = 64, .bc = 64};
  EXPECT_EQ(kernel->working_set_bytes(p, own, gpu_), linear.working_set_bytes(p, of_law, gpu_));
  EXPECT_NE(linear.working_set_bytes(p, own, gpu_), linear.working_set_bytes(p, of_law, gpu_));
}

TEST_F(UserKernelTest, LawIgnoresTheResourcesOfTheBuiltInKernel) {
  std::string text = changed("[\"fp16\", \"bf16\"]", "[\"fp32\"]");
  text.replace(text.find("\"fa2\""), 5, R"("fa2", "br": "1024", "bc": "1024")");
  const auto kernel = kernel_of(text);
  AttentionProblem p = problem_of();
  const TileShape of_law{.br = 1024, .bc = 1024};
  const auto refused = built_in_algorithms().find("fa2")->refusal(p, of_law, gpu_);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->cause, Refusal::Cause::shape);
  p.dtype = DType::fp32;
  const AttentionModel model = kernel->model(p, TileShape{.br = 64, .bc = 32}, gpu_);
  ASSERT_FALSE(model.refusal) << english_text(model.refusal->reason);
  EXPECT_GT(model.traffic().total(), 0);
}

TEST_F(UserKernelTest, NoLawReportsNoTraffic) {
  const auto kernel = kernel_of(changed("\"law\": { \"like\": \"fa2\" }", "\"layout\": \"bhnd\""));
  const AttentionModel model = kernel->model(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
  EXPECT_FALSE(model.refusal);
  EXPECT_FALSE(model.reports_traffic);
  EXPECT_FALSE(model.can_predict_time);
}

TEST_F(UserKernelTest, RejectsUnsupportedConfigurations) {
  const auto kernel = kernel_of(template_text());
  const auto why = [&](AttentionProblem p, Config config = TileShape{.br = 64, .bc = 32}) {
    const auto refused = kernel->refusal(p, config, gpu_);
    return refused ? english_text(refused->reason) : "accepted";
  };
  EXPECT_EQ(why(problem_of()), "accepted");
  AttentionProblem p = problem_of();
  p.d = 80;
  EXPECT_THAT(why(p), HasWords("my-kernel d 80 32 64 128"));
  p = problem_of();
  p.pass = Pass::bwd;
  EXPECT_THAT(why(p), HasWords(text(msg::feature::backward_pass{})));
  p = problem_of();
  p.mask.left = 100;
  EXPECT_THAT(why(p), HasWords(text(msg::feature::sliding_window{})));
  p = problem_of();
  p.page = 16;
  EXPECT_THAT(why(p), HasWords(text(msg::feature::paged_kv{})));
  EXPECT_THAT(why(problem_of(), TileShape{.br = 48, .bc = 32}), HasWords("my-kernel Br 48 64 16 32 128"));
  EXPECT_THAT(why(problem_of(), Config(TileShape{.br = 64, .bc = 32}, {{"warps", std::int64_t{4}}})),
              HasWords("knob warps"));
  AttentionProblem many = problem_of();
  many.batch = 70'000;
  EXPECT_THAT(why(many), HasWords("batch * heads 280000 1 65535"));
}

TEST_F(UserKernelTest, LawCountsTheLseOnlyIfALaunchTakesIt) {
  const TileShape tile{.br = 64, .bc = 32};
  const Traffic whole = kernel_of(template_text())->model(problem_of(), tile, gpu_).traffic();
  const Traffic without = kernel_of(changed(", \"lse\"", ", \"null\""))->model(problem_of(), tile, gpu_).traffic();
  EXPECT_EQ(without.l2_to_sm_bytes, whole.l2_to_sm_bytes);
  EXPECT_EQ(without.sm_to_l2_bytes, whole.sm_to_l2_bytes - 2 * 4 * 1000 * 4);
}

TEST_F(UserKernelTest, StructuresHaveTypedMembers) {
  const auto kernel = kernel_of(
      changed("\"int heads\"", R"({ "struct": ["lse", "bool causal", "half 1 / 4", "double 1 / 3", "long n_k"] })"));
  const AttentionPlan plan = kernel->plan(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
  const auto& structure = std::get<StructArgument>(plan.launches[0].arguments[7]);
  ASSERT_EQ(structure.members.size(), 5U);
  EXPECT_EQ(std::get<BufferArgument>(structure.members[0]).name, "lse");
  EXPECT_FALSE(std::get<bool>(structure.members[1]));
  EXPECT_EQ(std::get<HalfArgument>(structure.members[2]).bits, 0x3400);
  EXPECT_DOUBLE_EQ(std::get<double>(structure.members[3]), 1.0 / 3);
  EXPECT_EQ(std::get<std::int64_t>(structure.members[4]), 1000);
}

/// The template's launch between a conversion and another one, both unmeasured; the LSE starts at minus infinity.
std::string with_unmeasured_launches() {
  std::string text = changed("\"launches\": [", R"("fill": { "o": 0, "lse": "-inf" },
    "launches": [ { "entry": "widen", "measured": false, "grid": [1], "block": [32], "arguments": ["q"] },)");
  const std::size_t end = text.find(']', text.find("\"float 1 / sqrt(d)\""));
  const std::size_t after = text.find('}', end) + 1;
  return text.insert(after,
                     R"(, { "entry": "narrow", "measured": false, "grid": [1], "block": [32], "arguments": ["o"] })");
}

TEST_F(UserKernelTest, UnmeasuredLaunchesAndFillsRunAtEachExecution) {
  const auto kernel = kernel_of(with_unmeasured_launches());
  const AttentionPlan plan = kernel->plan(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
  std::vector<std::string> repeated;
  std::vector<std::string> measured;
  for (const KernelLaunch& launch : plan.launches) {
    (launch.setup && launch.repeated ? repeated : measured).push_back(launch.name);
  }
  EXPECT_THAT(repeated, ElementsAre("fill o", "fill lse", "widen", "narrow"));
  EXPECT_THAT(measured, ElementsAre("fwd"));
  EXPECT_EQ(std::get<std::int32_t>(plan.launches[0].arguments[2]), 0);
  EXPECT_EQ(std::get<std::int64_t>(plan.launches[0].arguments[1]), 2 * 4 * 1000 * 64 * 2);
  EXPECT_EQ(static_cast<std::uint32_t>(std::get<std::int32_t>(plan.launches[1].arguments[2])), 0xFF80'0000U);
  const TileShape tile{.br = 64, .bc = 32};
  EXPECT_EQ(kernel->model(problem_of(), tile, gpu_).traffic(),
            kernel_of(template_text())->model(problem_of(), tile, gpu_).traffic());
}

TEST_F(UserKernelTest, UnmeasuredLaunchesMayNotInterruptMeasuredOnes) {
  std::string text = with_unmeasured_launches();
  text.insert(text.find("{ \"entry\": \"widen\""),
              R"({ "entry": "first", "grid": [1], "block": [32], "arguments": ["q"] }, )");
  const auto refused = kernel_of(text)->refusal(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
  ASSERT_TRUE(refused);
  EXPECT_THAT(english_text(refused->reason), HasWords("widen measured between"));
}

TEST_F(UserKernelTest, UnmeasuredLaunchesConvertOneTensor) {
  const auto reason = [&](const char* first, const char* last, const char* extra = "") {
    std::string text = with_unmeasured_launches();
    text.replace(text.find("[\"q\"]"), 5, first);
    text.replace(text.find("[\"o\"]"), 5, last);
    text.insert(text.find("\"fill\""), R"("scratch": { "s": { "bytes": 64 }, "t": { "bytes": 64 } }, )");
    text.insert(text.find("{ \"entry\": \"widen\""), extra);
    const auto refused = kernel_of(text)->refusal(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
    return refused ? english_text(refused->reason) : "none";
  };
  EXPECT_EQ(reason(R"(["q", "s", "lse"])", R"(["t", "o"])"), "none");
  EXPECT_THAT(reason(R"(["q", { "struct": ["k", "s"] }])", R"(["o"])"), HasWords("widen k, q"));
  EXPECT_THAT(reason(R"(["q"])", R"(["o", "k"])"), HasWords("narrow k after"));
  EXPECT_THAT(reason(R"(["q", "s"])", R"(["s", "o"])"), HasWords("narrow o, q"));
  const char* const extra =
      R"({ "entry": "pre", "measured": false, "grid": [1], "block": [32], "arguments": ["k", "s"] },)";
  EXPECT_EQ(reason(R"(["q", "t"])", R"(["o"])", extra), "none");
  EXPECT_THAT(reason(R"(["q", "s"])", R"(["o"])", extra), HasWords("widen k, q"));
}

TEST_F(UserKernelTest, TileIsOptional) {
  std::string text = changed("\"TILE_BR\": \"br\", \"TILE_BC\": \"bc\", ", "");
  const std::size_t tile = text.find("\"tile\"");
  text.erase(tile, text.find("},", tile) + 2 - tile);
  for (const auto& [from, to] :
       {std::pair{"ceil_div(n_q, br)", "n_q"}, std::pair{"2 * bc * d", "64 * d"}, std::pair{"4 * br", "128"},
        std::pair{"\"like\": \"fa2\"", "\"like\": \"fa2\", \"br\": 64, \"bc\": 64"}}) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
  }
  const auto kernel = kernel_of(text);
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(kernel->facts().has_tile);
  const Config config = kernel->default_config(problem_of(), gpu_);
  EXPECT_EQ(config.tile, (TileShape{.br = 0, .bc = 0}));
  EXPECT_FALSE(kernel->refusal(problem_of(), config, gpu_));
  EXPECT_EQ(kernel->plan(problem_of(), config, gpu_).launches[0].grid[0], 1000U);
  const auto refused = kernel->refusal(problem_of(), TileShape{.br = 64, .bc = 64}, gpu_);
  ASSERT_TRUE(refused);
  EXPECT_THAT(english_text(refused->reason), HasWords("my-kernel no tile"));
}

TEST(PythonKernel, LawNeedsTheTileThatTheAutotunerChose) {
  const auto parsed = parse_manifest(R"({"attnscope_kernel": 1, "name": "own", "source": "own.py",
"supports": {"dtype": ["fp16"], "d": [64]}, "tile": "tuned", "law": {"like": "fa2", "lse": true},
"launches": [{"entry": "f"}]})",
                                     "/somewhere");
  ASSERT_TRUE(parsed.ok()) << parsed.error();
  const UserKernel kernel(*parsed);
  const AttentionProblem problem{.batch = 1, .heads_q = 2, .heads_kv = 2, .n_q = 1024, .n_k = 1024, .d = 64};
  const DeviceLimits& device = *find_gpu("NVIDIA H200");
  EXPECT_TRUE(kernel.facts().host_code);
  EXPECT_FALSE(kernel.refusal(problem, kernel.default_config(problem, device), device));
  EXPECT_EQ(kernel.plan(problem, kernel.default_config(problem, device), device).traffic(), Traffic{});
  const Traffic tuned = kernel.plan(problem, TileShape{.br = 128, .bc = 64}, device).traffic();
  // Q once; K and V once per tile of 128 rows of Q; O and its LSE once.
  constexpr std::int64_t matrix = 2 * 1024 * 64 * 2;
  EXPECT_EQ(tuned.l2_to_sm_bytes, matrix + 8 * 2 * matrix);
  EXPECT_EQ(tuned.sm_to_l2_bytes, matrix + 2 * 1024 * 4);
}

TEST_F(UserKernelTest, RequirementsUseTheirMessage) {
  std::string text = template_text();
  text.insert(text.find("\"launches\""),
              R"("requires": [ { "that": "n_q % br == 0", "else": "N must be whole tiles." } ], )");
  const auto kernel = kernel_of(text);
  EXPECT_EQ(english_text(kernel->refusal(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_)->reason),
            "N must be whole tiles.");
  EXPECT_FALSE(kernel->refusal(problem_of(1024), TileShape{.br = 64, .bc = 32}, gpu_));
}

TEST_F(UserKernelTest, RespectsDeviceLimits) {
  const auto kernel = kernel_of(changed("2 * bc * d * element_bytes", "300 * 1024"));
  const auto refused = kernel->refusal(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->cause, Refusal::Cause::shared_memory);
}

TEST_F(UserKernelTest, PersistentGridUsesSmCount) {
  const auto kernel = kernel_of(changed("[\"ceil_div(n_q, br)\", \"batch * heads\"]", "[\"sms * blocks_per_sm\"]"));
  const AttentionPlan plan = kernel->plan(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
  EXPECT_EQ(plan.launches[0].grid[0], 132U * 8U);  // 256 threads per block, 2,048 per SM
}

TEST_F(UserKernelTest, KnobsAreExpressionVariables) {
  std::string text = changed("[\"4 * br\"]", "[\"32 * warps_each\"]");
  text.insert(text.find("\"launches\""), R"("knobs": { "warps_each": { "values": [4, 8], "means": "Warps" } }, )");
  const auto kernel = kernel_of(text);
  const TileShape tile{.br = 64, .bc = 32};
  EXPECT_EQ(kernel->plan(problem_of(), tile, gpu_).launches[0].block[0], 128U);
  EXPECT_EQ(kernel->plan(problem_of(), Config(tile, {{"warps_each", std::int64_t{8}}}), gpu_).launches[0].block[0],
            256U);
  EXPECT_TRUE(kernel->refusal(problem_of(), Config(tile, {{"warps_each", std::int64_t{5}}}), gpu_));
}

TEST_F(UserKernelTest, LetDefinesNames) {
  std::string text = changed("\"ceil_div(n_q, br)\"", "\"parts\"");
  text.insert(text.find("\"launches\""), R"("let": { "rows": "n_q + 1", "parts": "rows / br" }, )");
  const auto kernel = kernel_of(text);
  EXPECT_EQ(kernel->plan(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_).launches[0].grid[0], 1001U / 64);
  text.replace(text.find("rows / br"), 9, "rows / (bc - 32)");
  EXPECT_THAT(english_text(kernel_of(text)->refusal(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_)->reason),
              HasSubstr("rows / (bc - 32)"));
}

TEST_F(UserKernelTest, RejectsInvalidTensorMaps) {
  const auto why = [&](const std::string& stride, const std::string& side, const std::string& swizzle) {
    const std::string map = R"({ "map": "q", "extents": ["d", "n_q"], "strides": [")" + stride + R"("], "box": [")" +
                            side + R"(", "br"], "swizzle": )" + swizzle + " }";
    const auto kernel = kernel_of(changed(R"(["q", )", "[" + map + ", "));
    const auto refused = kernel->refusal(problem_of(), TileShape{.br = 64, .bc = 32}, gpu_);
    return refused ? english_text(refused->reason) : "accepted";
  };
  EXPECT_EQ(why("2 * d", "64", "128"), "accepted");
  EXPECT_THAT(why("d + 8", "64", "128"), HasWords("d + 8 72 16"));
  EXPECT_THAT(why("2 * d", "128", "128"), HasWords("128 256"));
  EXPECT_THAT(why("2 * d", "4", "0"), HasWords("4 8"));
  EXPECT_EQ(why("2 * d", "128", "0"), "accepted");
}

TEST(LoadKernel, ErrorsHaveFileAndLine) {
  const attnscope::testing::TemporaryFolder outer;
  const fs::path folder = outer.path() / "own-kernels";
  const auto written = write_new_kernel("new-one", folder);
  ASSERT_TRUE(written.ok()) << written.error();
  EXPECT_TRUE(load_kernel(*written).ok());
  EXPECT_THAT(english_text(write_new_kernel("new-one", folder).error()), HasSubstr((folder / "new-one").string()));
  EXPECT_THAT(english_text(write_new_kernel("fa2", folder).error()), HasWords("fa2"));
  EXPECT_THAT(english_text(write_new_kernel("../x", folder).error()), HasWords("../x name"));
  EXPECT_FALSE(fs::exists(outer.path() / "x"));

  std::ofstream(*written, std::ios::app) << "x";
  EXPECT_THAT(english_text(load_kernel(*written).error()), AllOf(HasSubstr("new-one.json"), HasWords("line column")));
  fs::remove(folder / "new-one" / "new-one.cu");
  EXPECT_THAT(english_text(load_kernel(folder / "none.json").error()), HasSubstr("none.json"));
  EXPECT_THAT(english_text(load_kernel(folder).error()), HasSubstr(folder.string()));
}

TEST(NewKernel, EachKindIsAFolderWithOnePageOfInstructions) {
  const testing::TemporaryFolder folder;
  const std::set<std::string> source{"README.md", "mine.cu", "mine.json"};
  std::set<std::string> library = source;
  library.insert({"library.cpp", "attnscope_kernel.h"});
  std::set<std::string> extension = library;
  extension.insert("extension.cpp");
  for (const auto& [kind, expected] : {std::pair{NewKernelKind::cuda, source},
                                       {NewKernelKind::nvcc, source},
                                       {NewKernelKind::library, library},
                                       {NewKernelKind::torch_extension, extension}}) {
    const auto manifest = write_new_kernel("mine", folder / std::to_string(static_cast<int>(kind)), kind);
    ASSERT_TRUE(manifest) << manifest.error();
    std::set<std::string> files;
    for (const auto& each : fs::directory_iterator(manifest->parent_path())) {
      files.insert(each.path().filename().string());
      std::ifstream in(each.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(text.find("@NAME@"), std::string::npos) << each.path();
      if (each.path().extension() == ".md") {
        EXPECT_LE(std::ranges::count(text, '\n'), 40) << each.path();
      }
    }
    EXPECT_EQ(files, expected);
  }
}

TEST(LoadKernel, RejectsFilesThatAreNoManifest) {
  const testing::TemporaryFolder folder;
  const auto manifest = write_new_kernel("mine", folder.path());
  ASSERT_TRUE(manifest.ok());
  const fs::path source = folder / "mine" / "mine.cu";
  EXPECT_THAT(english_text(load_kernel(source).error()), AllOf(HasSubstr("mine.cu"), HasWords("manifest JSON")));

  const fs::path other = folder / "other.json";
  for (const char* target : {"/dev/zero", "other.json"}) {
    fs::create_symlink(target, other);
    EXPECT_THAT(english_text(load_kernel(other).error()), HasSubstr(other.string()));
    fs::remove(other);
  }
  for (const fs::path& file : {other, source}) {  // a manifest, and the source of one
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_THAT(english_text(load_kernel(file == source ? *manifest : file).error()),
                AllOf(HasSubstr(file.string()), HasWords("pipe")));
  }
}

TEST(LoadKernel, NamesADuplicateKey) {
  const testing::TemporaryFolder folder;
  const auto manifest = write_new_kernel("mine", folder.path());
  std::ifstream in(*manifest);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.insert(text.find('{') + 1, "\n\"name\": \"first\",");
  std::ofstream(*manifest) << text;
  EXPECT_THAT(english_text(load_kernel(*manifest).error()),
              AllOf(HasSubstr("mine.json"), HasWords("line duplicate name")));
}

}  // namespace
}  // namespace attnscope::user
