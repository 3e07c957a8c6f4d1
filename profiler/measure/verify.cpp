// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/verify.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "kernels/common_knobs.h"

namespace attnscope {
namespace {

using Shape = std::pair<std::int64_t, std::int64_t>;  ///< n_q and n_k
/// Single elements, lengths around tile edges, more queries than keys and vice versa.
constexpr std::array<Shape, 11> shapes{{{1, 1},
                                        {64, 128},
                                        {239, 1},
                                        {799, 3},
                                        {113, 203},
                                        {108, 256},
                                        {384, 256},
                                        {640, 128},
                                        {1023, 1024},
                                        {1024, 1023},
                                        {4224, 4224}}};
constexpr std::array<std::int64_t, 8> head_dims{32, 40, 64, 80, 96, 128, 192, 256};

// Subset for cases that are not fully crossed.
constexpr std::array<std::int64_t, 5> sampled_head_dims{32, 64, 80, 128, 256};
constexpr std::array dtypes = [] {
  std::array<DType, dtype_traits.size()> all{};
  std::ranges::transform(dtype_traits, all.begin(), &DTypeTrait::dtype);
  return all;
}();

/// Fewest feasible cases of an algorithm, in all and per pass that it supports.
constexpr std::size_t min_cases = 100;
constexpr std::size_t min_pass_cases = 20;

/// Two batch entries; the first one has no keys.
Mask mask_with_empty_entry(std::int64_t n_k) {
  Mask mask;
  mask.lengths = Mask::Lengths::list;
  mask.length_list = {0, (2 * n_k + 2) / 3};
  return mask;
}

Mask mask_of(std::string_view text) {
  return parse_mask(text).value();
}

/// Windows, key lengths and block masks, some combined with a causal mask.
std::vector<Mask> other_masks(std::int64_t n_k) {
  Mask causal_ragged = mask_with_empty_entry(n_k);
  causal_ragged.right = 0;
  return {mask_of("window:64:0"),        mask_of("window:33:17"), mask_of("lengths:ramp"),
          mask_with_empty_entry(n_k),    causal_ragged,           mask_of("causal+blocks:128:butterfly"),
          mask_of("blocks:128:random40")};
}

std::vector<Mask> plain_masks(std::int64_t) {
  return {Mask::none, Mask::causal};
}

std::vector<Mask> all_masks(std::int64_t n_k) {
  std::vector<Mask> masks = plain_masks(n_k);
  std::ranges::move(other_masks(n_k), std::back_inserter(masks));
  return masks;
}

/// A small tile, the default tile and an odd tile in the other raster; tiles from 64 rows up for kernels that need
/// them.
std::vector<Config> configs_for(const Algorithm& algorithm, const AttentionProblem& problem,
                                const DeviceLimits& limits) {
  const auto first_feasible = [&](std::initializer_list<Config> configs) -> Config {
    const auto found = std::ranges::find_if(
        configs, [&](const Config& config) { return !algorithm.refusal(problem, config, limits).has_value(); });
    return found != configs.end() ? *found : *configs.begin();
  };
  const Knobs heads{{knob::raster, std::string(knob::heads_fastest)}};
  return {first_feasible({TileShape{.br = 16, .bc = 32}, TileShape{.br = 64, .bc = 32}}),
          algorithm.default_config(problem, limits),
          first_feasible({{TileShape{.br = 48, .bc = 80}, heads},
                          TileShape{.br = 48, .bc = 80},
                          {TileShape{.br = 192, .bc = 80}, heads},
                          {TileShape{.br = 128, .bc = 80}, heads}})};
}

std::vector<Config> default_only(const Algorithm& algorithm, const AttentionProblem& problem,
                                 const DeviceLimits& limits) {
  return {algorithm.default_config(problem, limits)};
}

/// Default tile and small tile, each with the algorithm's own number of splits, with few, and with more than short
/// caches have tiles.
std::vector<Config> decode_configs_for(const Algorithm& algorithm, const AttentionProblem& problem,
                                       const DeviceLimits& limits) {
  std::vector<Config> configs;
  for (const std::int64_t splits : {0, 3, 64}) {
    for (Config config : {algorithm.default_config(problem, limits), Config(TileShape{.br = 16, .bc = 32})}) {
      config.knobs.set(knob::splits, splits);
      configs.push_back(std::move(config));
    }
  }
  return configs;
}

using Configs = std::vector<Config>(const Algorithm&, const AttentionProblem&, const DeviceLimits&);

class CaseBuilder {
 public:
  CaseBuilder(std::vector<const Algorithm*> algorithms, const DeviceLimits& limits)
      : algorithms_(std::move(algorithms)), limits_(limits) {}

  /// Adds the problem for every algorithm and configuration, in the form that the algorithm supports. Leaves out shapes
  /// that an algorithm does not support on any device; configurations that only this device cannot run are kept and
  /// reported as skipped.
  void add(const AttentionProblem& problem, InputKind inputs, Configs& configs_of) {
    for (const Algorithm* algorithm : algorithms_) {
      // Sequence sharing is only defined for several GPUs.
      if (problem.gpus == 1 && algorithm->facts().is_multi_gpu()) continue;
      if (const auto form = supported_form(*algorithm, problem)) add_to(*algorithm, *form, inputs, configs_of);
    }
    ++source_;
  }

  /// Adds plain cases to user-defined kernels that support few of the others; built-in algorithms have enough.
  void complete() {
    for (const Algorithm* algorithm : algorithms_) {
      if (!algorithm->facts().user_defined) continue;
      auto& of_pass = feasible_[algorithm];
      const auto all = [&] { return of_pass[Pass::fwd] + of_pass[Pass::bwd] + of_pass[Pass::fwd_bwd]; };
      for (const Pass pass : {Pass::fwd_bwd, Pass::bwd, Pass::fwd})
        add_plain(*algorithm, pass, [&] { return of_pass[pass] >= min_pass_cases; });
      for (const Pass pass : {Pass::fwd, Pass::bwd}) add_plain(*algorithm, pass, [&] { return all() >= min_cases; });
    }
  }

  [[nodiscard]] std::vector<VerifyCase> take() { return std::move(cases_); }

 private:
  /// For user-defined kernels, replaces an unsupported head dimension by a supported one that head_dims lacks, and
  /// drops unsupported GQA. Returns nullopt if the head dimension remains unsupported.
  [[nodiscard]] std::optional<AttentionProblem> supported_form(const Algorithm& algorithm,
                                                               AttentionProblem problem) const {
    const std::vector<int>& dims = algorithm.facts().head_dims;
    const bool supported = std::ranges::find(dims, problem.d) != dims.end();
    if (!algorithm.facts().user_defined) return supported ? std::optional(problem) : std::nullopt;
    if (!supported) {
      std::vector<std::int64_t> unlisted;
      std::ranges::set_difference(dims, head_dims, std::back_inserter(unlisted));
      if (unlisted.empty()) return std::nullopt;
      const auto turn = static_cast<std::size_t>(std::ranges::find(head_dims, problem.d) - head_dims.begin());
      problem.d = unlisted[turn % unlisted.size()];
    }
    if (problem.heads_q == problem.heads_kv) return problem;
    const auto refusal = algorithm.refusal(problem, algorithm.default_config(problem, limits_), limits_);
    if (refusal && refusal->cause == Refusal::Cause::shape) problem.heads_kv = problem.heads_q;
    return problem;
  }

  void add_to(const Algorithm& algorithm, const AttentionProblem& problem, InputKind inputs, Configs& configs_of) {
    for (const Config& config : configs_of(algorithm, problem, limits_)) {
      const auto refusal = algorithm.refusal(problem, config, limits_);
      if (refusal && refusal->cause == Refusal::Cause::shape) continue;
      VerifyCase added{.spec = {.algorithm = algorithm.name(),
                                .problem = problem,
                                .tile = config.tile,
                                .knobs = config.knobs,
                                .cache = CacheState::warm},
                       .inputs = inputs,
                       .source = source_};
      // Forms of different problems may be equal.
      if (algorithm.facts().user_defined && !seen_.insert(text(describe(added))).second) continue;
      cases_.push_back(std::move(added));
      if (!refusal) ++feasible_[&algorithm][problem.pass];
    }
  }

  /// Adds random problems without GQA and dropout, then the same with other inputs, until `enough` returns true.
  template <class Enough>
  void add_plain(const Algorithm& algorithm, Pass pass, const Enough& enough) {
    constexpr int max_tries = 100'000;
    constexpr int max_refusals = 20'000;  // refused problems after which the pass counts as unsupported
    // Around tile edges, and whole tiles for kernels that need them.
    constexpr std::array<std::int64_t, 33> lengths{1,   17,  63,  65,   100,  127, 129, 203, 255,  257,  333,
                                                   500, 513, 999, 1000, 1023, 16,  32,  64,  128,  192,  256,
                                                   320, 384, 448, 512,  576,  640, 768, 896, 1024, 1536, 2048};
    const auto kinds = input_kinds();
    std::mt19937_64 random(7);
    const auto pick = [&](const auto& values) { return values[random() % values.size()]; };
    std::vector<AttentionProblem> supported;
    for (int i = 0; i < max_tries && !enough() && (i < max_refusals || !supported.empty()); ++i) {
      const std::int64_t n = pick(lengths);
      AttentionProblem problem{.dtype = pick(algorithm.facts().dtypes), .pass = pass, .mask = pick(all_masks(n))};
      problem.n_q = pick(std::array{n, std::int64_t{1}, n / 2 + 1});
      problem.n_k = n;
      problem.d = pick(algorithm.facts().head_dims);
      problem.batch = pick(std::array{2, 1, 3, 4});
      problem.heads_q = problem.heads_kv = pick(std::array{2, 1, 8, 4, 16, 12, 32});
      if (algorithm.refusal(problem, algorithm.default_config(problem, limits_), limits_)) continue;
      add_to(algorithm, problem, pick(kinds), default_only);
      ++source_;
      supported.push_back(problem);
    }
    for (const InputKind inputs : kinds) {
      for (std::size_t i = 0; i < supported.size() && !enough(); ++i) {
        add_to(algorithm, supported[i], inputs, default_only);
        ++source_;
      }
    }
  }

  std::vector<const Algorithm*> algorithms_;
  const DeviceLimits& limits_;
  std::vector<VerifyCase> cases_;
  std::size_t source_ = 0;
  std::unordered_set<std::string> seen_;
  std::map<const Algorithm*, std::map<Pass, std::size_t>> feasible_;
};

/// Problems with all combinations of these values. The first members vary slowest, so that cases with equal references
/// follow each other.
struct CaseBlock {
  std::span<const std::int64_t> head_dims;
  std::vector<Shape> shapes;
  std::vector<Mask> (*masks)(std::int64_t n_k);
  std::vector<InputKind> inputs;
  std::vector<AttentionProblem> bases;  ///< Dtype, mask, lengths and head dimension are replaced.
  Configs* configs = configs_for;

  void add_to(CaseBuilder& table) const {
    for (const std::int64_t d : head_dims) {
      for (const DType dtype : dtypes) {
        for (const auto& [n_q, n_k] : shapes) {
          for (const Mask& mask : masks(n_k)) {
            for (const InputKind kind : inputs) {
              for (AttentionProblem problem : bases) {
                problem.dtype = dtype, problem.mask = mask;
                problem.n_q = n_q, problem.n_k = n_k, problem.d = d;
                table.add(problem, kind, *configs);
              }
            }
          }
        }
      }
    }
  }
};

std::vector<CaseBlock> case_blocks() {
  using enum InputKind;
  static constexpr std::array<std::int64_t, 3> other_dims{40, 96, 192};
  static constexpr std::array<std::int64_t, 2> common_dims{64, 128};
  static constexpr std::array<std::int64_t, 4> decode_dims{64, 80, 128, 256};
  const std::vector<Shape> large_shapes{{113, 203}, {384, 256}, {1023, 1024}};
  const std::vector<Shape> small_shapes{{1, 1}, {64, 128}, {799, 3}};
  const auto dropout_masks = [](std::int64_t) {
    return std::vector{Mask::none, Mask::causal, mask_of("window:33:17")};
  };
  const auto group_masks = [](std::int64_t) {
    return std::vector{Mask::none, Mask::causal, mask_of("causal+lengths:ramp")};
  };
  const auto decode_masks = [](std::int64_t n_k) {
    return std::vector{Mask::none, Mask::causal, mask_with_empty_entry(n_k), mask_of("window:64:0")};
  };

  // Two batch entries and two query heads per K/V head, so that every layout index takes two values.
  const AttentionProblem forward{.batch = 2, .heads_q = 2, .heads_kv = 1};
  AttentionProblem backward = forward;
  backward.pass = Pass::bwd;
  AttentionProblem deterministic = backward;
  deterministic.deterministic = true;
  AttentionProblem both = forward;
  both.pass = Pass::fwd_bwd;
  AttentionProblem dropped = forward;
  dropped.dropout = 0.1;
  AttentionProblem dropped_backward = backward;
  dropped_backward.dropout = 0.1;
  // GQA groups of one and three query heads.
  std::vector<AttentionProblem> groups;
  std::vector<AttentionProblem> single_groups;
  for (const Pass pass : {Pass::fwd, Pass::bwd}) {
    for (const std::int64_t heads_q : {2, 6})
      groups.push_back({.pass = pass, .batch = 2, .heads_q = heads_q, .heads_kv = 2});
    single_groups.push_back({.pass = pass, .batch = 2, .heads_q = 2, .heads_kv = 2});
  }
  const AttentionProblem decode{.batch = 2, .heads_q = 8, .heads_kv = 2};
  AttentionProblem paged = decode;
  paged.page = 64;
  std::vector<AttentionProblem> shared;  // two GPUs, with every assignment of tokens
  shared.reserve(gpu_orders.size());
  for (const GpuOrder order : gpu_orders)
    shared.push_back({.batch = 2, .heads_q = 4, .heads_kv = 2, .gpus = 2, .gpu_order = order});

  const auto kinds = input_kinds();
  return {{head_dims, {shapes.begin(), shapes.end()}, plain_masks, {kinds.begin(), kinds.end()}, {forward}},
          {sampled_head_dims,
           {{1, 1}, {113, 203}, {384, 256}, {799, 3}, {1023, 1024}},
           other_masks,
           {normal, large, ascending},
           {forward}},
          {sampled_head_dims, large_shapes, dropout_masks, {normal, large, all_equal}, {dropped}},
          {sampled_head_dims, large_shapes, plain_masks, {normal}, {backward, deterministic, both}},
          {sampled_head_dims, {{384, 256}}, other_masks, {normal}, {backward, deterministic}},
          {sampled_head_dims, {{113, 203}, {1023, 1024}}, other_masks, {normal}, {backward}},
          {sampled_head_dims, large_shapes, all_masks, {large, dominant_last_key}, {backward}},
          {sampled_head_dims, small_shapes, all_masks, {normal, large, dominant_last_key}, {backward}},
          {sampled_head_dims, large_shapes, plain_masks, {normal, large}, {dropped_backward}},
          {other_dims, large_shapes, plain_masks, {normal}, {backward}},
          {common_dims, {{113, 203}, {384, 256}}, group_masks, {normal}, groups},
          // For kernels that support only square shapes.
          {common_dims, {{203, 203}, {384, 384}}, group_masks, {normal}, single_groups},
          {decode_dims,
           {{1, 1}, {1, 1000}, {1, 4099}, {5, 1}, {5, 1000}, {5, 4099}, {16, 1}, {16, 1000}, {16, 4099}},
           decode_masks,
           {normal, dominant_last_key},
           {decode, paged},
           decode_configs_for},
          {common_dims,
           {{256, 256}, {500, 500}, {2052, 2052}},
           plain_masks,
           {normal, large, ascending, dominant_last_key, one_hot_v},
           shared,
           default_only}};
}

VerifyResult judge(const PointRecord& record) {
  VerifyResult result;
  result.max_abs_error = record.max_abs_error.value_or(0);
  result.error_bound = record.error_bound.value_or(0);
  result.rms_error = record.rms_error.value_or(0);
  const bool checked = record.max_abs_error.has_value();
  switch (record.disposition) {
    case Disposition::ok:
    case Disposition::no_counters:  // the output was checked before counting
      result.outcome = checked ? VerifyOutcome::pass : VerifyOutcome::skip;
      result.reason =
          checked ? record.reason : make_reason("point.not_checked", "The device did not check the output.");
      break;
    case Disposition::infeasible:
    case Disposition::out_of_memory:
    case Disposition::cancelled:
      result.outcome = VerifyOutcome::skip;
      result.reason = record.reason;
      break;
    case Disposition::incorrect:
    case Disposition::compile_error:
    case Disposition::timeout:
    case Disposition::crashed:
      result.outcome = VerifyOutcome::fail;
      result.reason = record.reason;
      break;
  }
  return result;
}

}  // namespace

Message describe(const VerifyCase& verify_case) {
  return make_reason("point.with_inputs", "{}, {} inputs", describe(verify_case.spec), to_string(verify_case.inputs));
}

std::vector<VerifyCase> verify_cases(std::span<const std::string> names, const DeviceLimits& limits,
                                     const Registry& registry) {
  std::vector<const Algorithm*> chosen;
  for (const Algorithm* algorithm : registry.algorithms()) {
    if (names.empty() || std::ranges::find(names, algorithm->name()) != names.end()) chosen.push_back(algorithm);
  }
  CaseBuilder table(std::move(chosen), limits);
  for (const CaseBlock& block : case_blocks()) block.add_to(table);
  table.complete();
  return table.take();
}

std::vector<VerifyCase> quick_cases(std::span<const VerifyCase> all, const DeviceLimits& limits,
                                    const Registry& registry) {
  // Coprime to the table's dimensions (7 kinds of input, 11 shapes, 8 head dimensions): every pair of values occurs.
  constexpr std::size_t step = 13;
  struct Group {
    std::size_t chosen = 0;
    std::vector<std::size_t> others;
  };
  std::map<std::pair<std::string, Pass>, Group> groups;  // of feasible cases
  std::vector<bool> chosen(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PointSpec& spec = all[i].spec;
    chosen[i] = all[i].source % step == 0;
    if (registry.find(spec.algorithm)->refusal(spec.problem, spec.config(), limits)) continue;
    Group& group = groups[{spec.algorithm, spec.problem.pass}];
    if (chosen[i]) {
      ++group.chosen;
    } else {
      group.others.push_back(i);
    }
  }
  for (const auto& [key, group] : groups) {
    const std::size_t lacking = min_pass_cases - std::min(min_pass_cases, group.chosen);
    const std::size_t added = std::min(lacking, group.others.size());
    for (std::size_t i = 0; i < added; ++i) chosen[group.others[i * group.others.size() / added]] = true;
  }
  std::vector<VerifyCase> cases;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) cases.push_back(all[i]);
  }
  return cases;
}

VerifySummary run_verify(Device& device, std::span<const VerifyCase> cases, const MeasureOptions& options,
                         const VerifyObserver& observer, const CancelToken& cancel) {
  VerifySummary summary;
  if (device.info().simulated) {
    summary.stopped =
        make_reason("point.nothing_to_verify", "The simulated device computes no output: there is nothing to verify.");
    return summary;
  }

  // Inputs do not change the kernel: prepare each spec once.
  std::vector<PointSpec> specs;
  std::unordered_set<std::string> seen;
  for (const VerifyCase& verify_case : cases) {
    if (seen.insert(describe(verify_case.spec)).second) specs.push_back(verify_case.spec);
  }
  device.prepare(specs, cancel, [](std::size_t, std::size_t, const BuildReport&) {});

  MeasureOptions once = options;
  once.verify = true;
  once.counters = false;
  once.min_samples = 1;
  once.max_samples = 1;
  for (const VerifyCase& verify_case : cases) {
    once.input_kind = verify_case.inputs;
    summary.cancelled = cancel.cancelled();
    if (summary.cancelled) return summary;
    const PointRecord record = device.measure(verify_case.spec, once, cancel);
    summary.cancelled = record.disposition == Disposition::cancelled;
    if (summary.cancelled) return summary;
    const VerifyResult result = judge(record);
    ++(result.outcome == VerifyOutcome::pass   ? summary.pass
       : result.outcome == VerifyOutcome::fail ? summary.fail
                                               : summary.skip);
    if (observer) observer(verify_case, result);
    if (!device.usable()) {
      summary.stopped = make_reason("point.device_unusable", "The device is unusable after {}: {}",
                                    describe(verify_case), record.reason);
      return summary;
    }
  }
  return summary;
}

}  // namespace attnscope
