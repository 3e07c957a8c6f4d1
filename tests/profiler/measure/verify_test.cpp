// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/verify.h"
#include "kernels/common_knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "kernels/user/user_kernel.h"
#include "profiler/measure/simulated_device.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/kernels/tiling.h"
#include "tests/kernels/user/manifest_text.h"
#include "tests/profiler/measure/fake_device.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope {
namespace {

using fixtures::h200;
using ::testing::HasSubstr;

std::vector<VerifyCase> few_cases(std::size_t count) {
  const std::vector<std::string> only{"fa2"};
  auto cases = verify_cases(only, *find_gpu("H200"), built_in_algorithms());
  cases.resize(count);
  return cases;
}

const std::vector<VerifyCase>& table() {
  static const auto cases = verify_cases({}, h200(), built_in_algorithms());
  return cases;
}

bool can(const Algorithm& algorithm, const AttentionProblem& problem) {
  const auto refusal = algorithm.refusal(problem, algorithm.default_config(problem, h200()), h200());
  return !refusal || refusal->cause != Refusal::Cause::shape;
}

TEST(VerifyCases, CrossAllParametersOfForwardAttention) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    std::set<std::pair<std::int64_t, std::int64_t>> shapes;
    std::set<DType> dtypes;
    std::set<InputKind> kinds;
    std::set<std::int64_t> dims;
    std::set<std::pair<int, int>> tiles_at_64;
    std::set<Raster> rasters;
    std::size_t count = 0;
    for (const VerifyCase& one : table()) {
      const AttentionProblem& p = one.spec.problem;
      const bool plain = p.pass == Pass::fwd && (p.mask == Mask::none || p.mask == Mask::causal) && p.dropout == 0 &&
                         p.heads_q == 2 && p.heads_kv == 1;
      if (one.spec.algorithm != algorithm->name() || !plain) continue;
      dtypes.insert(p.dtype);
      if (p.dtype == DType::fp8) continue;  // one tile and two values of d
      ++count;
      shapes.insert({p.n_q, p.n_k});
      kinds.insert(one.inputs);
      dims.insert(p.d);
      rasters.insert(tiling_from(one.spec.config()).raster);
      if (p.d == 64 && p.n_q == 384) tiles_at_64.insert({one.spec.tile.br, one.spec.tile.bc});
    }
    if (!can(*algorithm, {.n_q = 4224, .n_k = 4224})) continue;  // decode only
    if (algorithm->facts().is_multi_gpu()) continue;             // needs two GPUs, see below
    EXPECT_EQ(shapes.size(), 11U) << algorithm->name();
    EXPECT_EQ(dtypes.size(), algorithm->facts().dtypes.size());
    EXPECT_EQ(kinds.size(), input_kinds().size());
    EXPECT_EQ(tiles_at_64.size(), 3U);
    EXPECT_EQ(rasters.size(), std::ranges::count(algorithm->facts().knobs, knob::raster, &Knob::name) == 0 ? 1U : 2U)
        << algorithm->name();
    EXPECT_TRUE(dims.contains(64) && dims.contains(128));
    EXPECT_EQ(count, shapes.size() * 4 * kinds.size() * dims.size() * 3) << algorithm->name();
  }
}

TEST(VerifyCases, CoverEveryGpuOrder) {
  std::map<std::string, std::set<std::pair<GpuOrder, bool>>> orders;
  for (const VerifyCase& one : table()) {
    const Algorithm& algorithm = *built_in_algorithms().find(one.spec.algorithm);
    const AttentionProblem& p = one.spec.problem;
    ASSERT_EQ(p.gpus, algorithm.facts().is_multi_gpu() ? 2 : 1) << describe(one.spec);
    if (p.gpus == 2) orders[one.spec.algorithm].insert({p.gpu_order, p.mask == Mask::causal});
  }
  EXPECT_EQ(orders["ring"].size(), 6U);
  EXPECT_EQ(orders["allgather"].size(), 4U);
  EXPECT_EQ(orders["ulysses"].size(), 2U);
}

TEST(VerifyCases, SquareGroupsHaveOneQueryHeadPerKeyHead) {
  std::set<std::pair<std::int64_t, std::int64_t>> heads;
  for (const VerifyCase& one : table()) {
    const AttentionProblem& p = one.spec.problem;
    if (p.n_q == 203 && p.n_k == 203) heads.insert({p.heads_q, p.heads_kv});
  }
  EXPECT_THAT(heads, ::testing::ElementsAre(std::pair<std::int64_t, std::int64_t>(2, 2)));
}

TEST(VerifyCases, CoverFeaturesOfEachAlgorithm) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    std::set<std::string> words;
    for (const VerifyCase& one : table()) {
      if (one.spec.algorithm != algorithm->name()) continue;
      const AttentionProblem& p = one.spec.problem;
      const std::string pass = p.pass == Pass::fwd ? "" : "bwd ";
      if (p.mask.has_window() && p.mask.left != Mask::unlimited) words.insert(pass + "window");
      if (p.mask.lengths == Mask::Lengths::ramp) words.insert(pass + "ramp");
      if (p.mask.lengths == Mask::Lengths::list) words.insert(pass + "list");
      if (p.mask.has_block_mask()) words.insert(pass + "blocks");
      if (p.dropout > 0) words.insert(pass + "dropout");
      if (p.deterministic) words.insert(pass + "deterministic");
      if (p.deterministic && p.mask.has_block_mask()) words.insert(pass + "deterministic blocks");
      if (p.pass == Pass::fwd_bwd) words.insert("fwd+bwd");
      if (p.page > 0) words.insert("page");
      if (one.spec.knobs.number(knob::splits) == 64) words.insert("splits");
      if (p.heads_q == p.heads_kv) words.insert(pass + "ungrouped");
      if (p.heads_q == 3 * p.heads_kv) words.insert(pass + "groups of three");
    }
    const auto expect = [&](const std::string& word, const AttentionProblem& problem) {
      EXPECT_EQ(words.contains(word), can(*algorithm, problem)) << algorithm->name() << ": " << word;
    };
    const AttentionProblem square{.batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 113, .n_k = 203, .d = 64};
    const AttentionProblem decode{.batch = 2, .heads_q = 8, .heads_kv = 2, .n_q = 1, .n_k = 1000, .d = 64};
    for (const bool backward : {false, true}) {
      const std::string pass = backward ? "bwd " : "";
      const auto with = [&](const char* mask, double dropout) {
        AttentionProblem p = square;
        // Decode algorithms are tested with the decode shape.
        if (!backward && !can(*algorithm, square)) p = decode;
        p.pass = backward ? Pass::bwd : Pass::fwd;
        p.mask = parse_mask(mask).value();
        p.dropout = dropout;
        return p;
      };
      expect(pass + "window", with("window:64:0", 0));
      expect(pass + "list", with("lengths:0/135", 0));
      if (!can(*algorithm, square)) continue;
      expect(pass + "ramp", with("lengths:ramp", 0));
      expect(pass + "dropout", with("full", 0.1));
      expect(pass + "blocks", with("blocks:128:butterfly", 0));
      expect(pass + "ungrouped", with("full", 0));
      expect(pass + "groups of three", with("full", 0));
    }
    AttentionProblem backward = square;
    backward.pass = Pass::bwd;
    expect("bwd deterministic", backward);
    EXPECT_EQ(words.contains("bwd deterministic blocks"), words.contains("bwd blocks")) << algorithm->name();
    expect("fwd+bwd", backward);
    AttentionProblem paged = decode;
    paged.page = 64;
    expect("page", paged);
    Config split = algorithm->default_config(decode, h200());
    split.knobs.set(knob::splits, std::int64_t{64});
    EXPECT_EQ(words.contains("splits"), !algorithm->refusal(decode, split, h200()).has_value()) << algorithm->name();
  }
}

TEST(VerifyCases, ExcludeUnsupportedShapes) {
  for (const VerifyCase& one : table()) {
    const auto refusal =
        built_in_algorithms().find(one.spec.algorithm)->refusal(one.spec.problem, one.spec.config(), h200());
    ASSERT_TRUE(!refusal || refusal->cause != Refusal::Cause::shape) << describe(one) << ": " << refusal->reason;
  }
  EXPECT_LT(table().size(), 77'000U) << "keeps verification below one hour";
}

TEST(VerifyCases, SelectNamedAlgorithms) {
  for (const VerifyCase& one : few_cases(50)) EXPECT_EQ(one.spec.algorithm, "fa2");
  const std::vector<std::string> two{"naive", "fa2"};
  std::set<std::string> chosen;
  for (const VerifyCase& one : verify_cases(two, h200(), built_in_algorithms())) chosen.insert(one.spec.algorithm);
  EXPECT_EQ(chosen, std::set<std::string>(two.begin(), two.end()));
}

/// User-defined FA2 without GQA, for one head dimension, and with further restrictions.
class Restricted : public test::ModifiedAlgorithm {
 public:
  struct Limits {
    int d = 64;
    bool backward = true;
    bool square = false;
    std::int64_t multiple = 1;  ///< of n_q and n_k
    std::optional<std::int64_t> n_k = {};
    std::optional<std::int64_t> heads = {};
  };
  explicit Restricted(const Limits& only)
      : ModifiedAlgorithm(*built_in_algorithms().find("fa2"), facts(only.d)), only_(only) {}

  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    const bool plain = p.mask == Mask::none && p.dropout == 0 && !p.deterministic && p.dtype == DType::fp16;
    const bool supported = plain && p.heads_q == p.heads_kv && (only_.backward || p.pass == Pass::fwd) &&
                           (!only_.square || p.n_q == p.n_k) && p.n_q % only_.multiple == 0 &&
                           p.n_k % only_.multiple == 0 && p.n_k == only_.n_k.value_or(p.n_k) &&
                           p.heads_q == only_.heads.value_or(p.heads_q);
    if (!supported) return Refusal{Refusal::Cause::shape, Message::verbatim("unsupported")};
    AttentionProblem like = p;
    if (p.d == 48) like.d = 64;  // fa2 has no such kernel
    return ModifiedAlgorithm::refusal(like, config, device);
  }

 private:
  static Facts facts(int d) {
    Facts result = stated(built_in_algorithms().find("fa2")->facts(), "mine", true);
    result.head_dims = {d};
    return result;
  }

  Limits only_;
};

TEST(VerifyCases, GiveEveryUserDefinedKernelEnough) {
  const std::vector<Restricted::Limits> kernels{{},
                                                {.d = 32},
                                                {.d = 48},
                                                {.backward = false},
                                                {.d = 32, .backward = false, .square = true},
                                                {.square = true, .multiple = 64},
                                                {.d = 128, .square = true, .n_k = 1024},
                                                {.d = 32, .backward = false, .heads = 16}};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Registry registry;
    registry.add(std::make_unique<Restricted>(kernels[i]));
    const Algorithm& algorithm = *registry.find("mine");
    const auto all = verify_cases({}, h200(), registry);
    const auto quick = quick_cases(all, h200(), registry);
    std::set<std::string> distinct;
    for (const VerifyCase& one : all) distinct.insert(text(describe(one)));
    EXPECT_EQ(distinct.size(), all.size()) << i;
    for (const VerifyCase& one : all)
      EXPECT_TRUE(one.source % 13 != 0 || std::ranges::find(quick, one) != quick.end()) << text(describe(one));
    for (const auto* cases : {&all, &quick}) {
      std::map<Pass, std::size_t> feasible;
      std::set<InputKind> kinds;
      std::set<std::int64_t> ragged;
      std::size_t total = 0;
      for (const VerifyCase& one : *cases) {
        if (algorithm.refusal(one.spec.problem, one.spec.config(), h200())) continue;
        ++total;
        ++feasible[one.spec.problem.pass];
        kinds.insert(one.inputs);
        if (one.spec.problem.n_k % 16 != 0) ragged.insert(one.spec.problem.n_k);
      }
      EXPECT_GE(total, cases == &all ? 100U : 20U) << i;
      EXPECT_EQ(feasible.size(), kernels[i].backward ? 3U : 1U) << i;
      for (const auto& [pass, count] : feasible) EXPECT_GE(count, 20U) << i << " " << to_string(pass);
      EXPECT_GE(kinds.size(), cases == &all ? input_kinds().size() : 4U) << i;
      EXPECT_GE(ragged.size(), kernels[i].multiple == 1 && !kernels[i].n_k ? 4U : 0U) << i;
    }
  }
}

TEST(VerifyCases, GiveEveryBuiltInKernelEnough) {
  std::map<std::pair<std::string, Pass>, std::size_t> all;
  std::map<std::pair<std::string, Pass>, std::size_t> quick;
  for (const VerifyCase& one : table()) ++all[{one.spec.algorithm, one.spec.problem.pass}];
  for (const VerifyCase& one : quick_cases(table(), h200(), built_in_algorithms()))
    ++quick[{one.spec.algorithm, one.spec.problem.pass}];
  for (const auto& [key, count] : all) {
    EXPECT_GE(count, key.second == Pass::fwd ? 100U : 20U) << key.first << " " << to_string(key.second);
    EXPECT_GE(quick[key], 20U) << key.first << " " << to_string(key.second);
  }
  for (const Algorithm* algorithm : built_in_algorithms().algorithms())
    EXPECT_TRUE(all.contains({algorithm->name(), Pass::fwd}));
}

TEST(VerifyCases, GroupCasesByReference) {
  // A device caches the last few references: cases that share one must be close together.
  std::list<std::pair<AttentionProblem, InputKind>> kept;
  std::size_t references = 0;
  for (const VerifyCase& one : table()) {
    std::pair<AttentionProblem, InputKind> key{one.spec.problem, one.inputs};
    key.first.page = 0;
    key.first.deterministic = false;
    if (key.first.pass == Pass::fwd_bwd) key.first.pass = Pass::bwd;
    if (!kept.empty() && kept.front() == key) continue;
    const auto found = std::ranges::find(kept, key);
    if (found != kept.end()) {
      kept.erase(found);
    } else {
      ++references;
    }
    kept.push_front(key);
    if (kept.size() > 4) kept.pop_back();
  }
  EXPECT_LT(references * 5, table().size());
}

TEST(RunVerify, MapsDispositionsToOutcomes) {
  struct Case {
    Disposition disposition;
    bool checked;
    VerifyOutcome outcome;
  };
  const std::vector<Case> table{{Disposition::ok, true, VerifyOutcome::pass},
                                {Disposition::no_counters, true, VerifyOutcome::pass},
                                {Disposition::ok, false, VerifyOutcome::skip},  // not a pass if not checked
                                {Disposition::no_counters, false, VerifyOutcome::skip},
                                {Disposition::infeasible, true, VerifyOutcome::skip},
                                {Disposition::out_of_memory, true, VerifyOutcome::skip},
                                {Disposition::incorrect, true, VerifyOutcome::fail},
                                {Disposition::compile_error, false, VerifyOutcome::fail},
                                {Disposition::timeout, false, VerifyOutcome::fail},
                                {Disposition::crashed, false, VerifyOutcome::fail}};
  FakeDevice device;
  const std::vector<VerifyCase> cases = few_cases(table.size());
  std::size_t next = 0;
  device.answer = [&](PointRecord& record) {
    record.disposition = table[next].disposition;
    record.reason = Message::verbatim("why");
    if (table[next].checked) record.max_abs_error = 0.25;
    record.error_bound = 0.5;
    record.rms_error = 0.125;
    ++next;
  };
  const auto observer = [&](const VerifyCase& one, const VerifyResult& result) {
    const std::size_t i = next - 1;
    EXPECT_EQ(one, cases[i]);
    EXPECT_EQ(result.outcome, table[i].outcome) << i;
    EXPECT_DOUBLE_EQ(result.max_abs_error, table[i].checked ? 0.25 : 0);
    EXPECT_DOUBLE_EQ(result.error_bound, 0.5);
    EXPECT_DOUBLE_EQ(result.rms_error, 0.125);
    EXPECT_EQ(text(result.reason) == "why", i != 2 && i != 3) << i;
  };
  const VerifySummary summary = run_verify(device, cases, {}, observer, CancelToken{});
  EXPECT_EQ(next, table.size());
  EXPECT_EQ(summary.pass, 2U);
  EXPECT_EQ(summary.fail, 4U);
  EXPECT_EQ(summary.skip, 4U);
  EXPECT_TRUE(summary.stopped.empty());
}

TEST(RunVerify, MeasuresOnceWithoutCounters) {
  FakeDevice device;
  const std::vector<VerifyCase> cases = few_cases(3);
  const VerifySummary summary = run_verify(device, cases, {}, {}, CancelToken{});
  EXPECT_EQ(summary.skip, 3U);
  ASSERT_EQ(device.asked.size(), 3U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(device.asked[i].verify);
    EXPECT_FALSE(device.asked[i].counters);
    EXPECT_EQ(device.asked[i].max_samples, 1);
    EXPECT_EQ(device.asked[i].input_kind, cases[i].inputs);
  }
  EXPECT_EQ(device.prepared.size(), 3U);
}

TEST(RunVerify, PreparesEachKernelOnce) {
  FakeDevice device;
  const std::vector<VerifyCase> cases = few_cases(21);  // one shape: seven input kinds, three tiles
  (void)run_verify(device, cases, {}, {}, CancelToken{});
  EXPECT_EQ(device.measured.size(), 21U);
  EXPECT_EQ(device.prepared.size(), 3U);
}

TEST(RunVerify, StopsWhenCancelledOrDeviceLost) {
  FakeDevice device;
  CancelToken cancel;
  device.answer = [&](PointRecord&) { cancel.cancel(); };
  EXPECT_TRUE(run_verify(device, few_cases(3), {}, {}, cancel).cancelled);
  EXPECT_EQ(device.measured.size(), 1U);

  FakeDevice within;
  within.answer = [&](PointRecord& record) {
    if (within.measured.size() == 2) record.disposition = Disposition::cancelled;
  };
  const VerifySummary second = run_verify(within, few_cases(3), {}, {}, CancelToken{});
  EXPECT_TRUE(second.cancelled);
  EXPECT_EQ(second.skip, 1U) << "the cancelled case is not counted";

  FakeDevice lost;
  lost.answer = [&](PointRecord& record) {
    if (lost.measured.size() < 2) return;
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("illegal address");
    lost.is_usable = false;
  };
  const std::vector<VerifyCase> cases = few_cases(3);
  const VerifySummary summary = run_verify(lost, cases, {}, {}, CancelToken{});
  EXPECT_EQ(summary.fail, 1U);
  EXPECT_EQ(lost.measured.size(), 2U);
  EXPECT_FALSE(summary.cancelled);
  EXPECT_THAT(text(summary.stopped), HasSubstr("illegal address"));
  EXPECT_THAT(text(summary.stopped), HasSubstr(text(describe(cases[1]))));
}

TEST(VerifyCases, Fp32KernelHasCases) {
  std::string text = user::template_text();
  text.replace(text.find("[\"fp16\", \"bf16\"]"), 16, "[\"fp32\"]");
  Registry registry;
  registry.add(std::make_unique<user::UserKernel>(user::parse_manifest(text, "/somewhere").value()));
  const std::vector<VerifyCase> cases = verify_cases({}, h200(), registry);
  EXPECT_GT(cases.size(), 100U);
  for (const VerifyCase& each : cases) ASSERT_EQ(each.spec.problem.dtype, DType::fp32);
}

TEST(RunVerify, SimulatorRunsNothing) {
  const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  const VerifySummary summary = run_verify(*device, few_cases(3), {}, {}, CancelToken{});
  EXPECT_EQ(summary.pass, 0U);
  EXPECT_FALSE(summary.stopped.empty());
}

}  // namespace
}  // namespace attnscope
