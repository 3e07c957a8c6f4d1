// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/verify.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "kernels/common_knobs.h"

namespace attnscope {
namespace {

// (n_q, n_k): single elements, lengths around tile edges, more queries than keys and vice versa.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 11> shapes{{{1, 1},
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

/// Lengths of plain problems: around tile edges, and whole tiles for kernels that need them.
constexpr std::array<std::int64_t, 33> plain_lengths{1,   17,  63,  65,   100,  127, 129, 203, 255,  257,  333,
                                                     500, 513, 999, 1000, 1023, 16,  32,  64,  128,  192,  256,
                                                     320, 384, 448, 512,  576,  640, 768, 896, 1024, 1536, 2048};
/// Numbers of values are coprime, so that equal steps through both visit all pairs.
constexpr std::array<std::int64_t, 4> plain_batches{2, 1, 3, 4};
constexpr std::array<std::int64_t, 7> plain_heads{2, 1, 8, 4, 16, 12, 32};

/// Square, decoding and cross attention with every head dimension, dtype and mask, without GQA and dropout.
std::vector<AttentionProblem> plain_problems(const Facts& facts, Pass pass) {
  std::vector<AttentionProblem> problems;
  for (const std::int64_t n : plain_lengths) {
    std::vector<Mask> masks{Mask::none, Mask::causal};
    std::ranges::move(other_masks(n), std::back_inserter(masks));
    for (const std::int64_t n_q : {n, std::int64_t{1}, n / 2 + 1}) {
      for (const int d : facts.head_dims) {
        for (const DType dtype : facts.dtypes) {
          for (const Mask& mask : masks)
            problems.push_back({.dtype = dtype, .pass = pass, .mask = mask, .n_q = n_q, .n_k = n, .d = d});
        }
      }
    }
  }
  return problems;
}

class CaseBuilder {
 public:
  CaseBuilder(std::vector<const Algorithm*> algorithms, const DeviceLimits& limits)
      : algorithms_(std::move(algorithms)), limits_(limits) {}

  /// Adds the problem for every algorithm and configuration, in the form that the algorithm supports. Leaves out shapes
  /// that an algorithm does not support on any device; configurations that only this device cannot run are kept and
  /// reported as skipped.
  template <class Configs>
  void add(const AttentionProblem& problem, InputKind inputs, const Configs& configs_of) {
    for (const Algorithm* algorithm : algorithms_) {
      // Sequence sharing is only defined for several GPUs.
      if (problem.gpus == 1 && algorithm->facts().is_multi_gpu()) continue;
      if (const auto form = supported_form(*algorithm, problem)) add_to(*algorithm, *form, inputs, configs_of);
    }
    ++source_;
  }
  void add(const AttentionProblem& problem, std::initializer_list<InputKind> inputs) {
    for (const InputKind kind : inputs) add(problem, kind, configs_for);
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

  template <class Configs>
  void add_to(const Algorithm& algorithm, const AttentionProblem& problem, InputKind inputs,
              const Configs& configs_of) {
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

  /// Adds plain problems with all batches and heads, then with all inputs, until `enough` returns true.
  template <class Enough>
  void add_plain(const Algorithm& algorithm, Pass pass, const Enough& enough) {
    if (enough()) return;
    constexpr std::size_t max_probes = 20'000;  // refused problems after which the pass counts as unsupported
    constexpr std::size_t step = 7919;  // a prime: visits every problem once, neighbors differ in all parameters
    const auto kinds = input_kinds();
    const std::vector<AttentionProblem> problems = plain_problems(algorithm.facts(), pass);
    std::vector<AttentionProblem> supported;
    const std::size_t total = problems.size() * plain_batches.size() * plain_heads.size();
    for (std::size_t i = 0; i < total; ++i) {
      if (enough() || (i == max_probes && supported.empty())) return;
      const std::size_t round = i / problems.size();
      AttentionProblem problem = problems[i * step % problems.size()];
      problem.batch = plain_batches[round % plain_batches.size()];
      problem.heads_q = problem.heads_kv = plain_heads[round % plain_heads.size()];
      if (algorithm.refusal(problem, algorithm.default_config(problem, limits_), limits_)) continue;
      add_to(algorithm, problem, kinds[supported.size() % kinds.size()], default_only);
      ++source_;
      supported.push_back(problem);
    }
    for (std::size_t turn = 1; turn < kinds.size(); ++turn) {
      for (std::size_t i = 0; i < supported.size(); ++i) {
        if (enough()) return;
        add_to(algorithm, supported[i], kinds[(i + turn) % kinds.size()], default_only);
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

using Shapes = std::initializer_list<std::pair<std::int64_t, std::int64_t>>;

/// Full and causal forward attention; all parameters crossed.
void add_forward(CaseBuilder& table) {
  for (const std::int64_t d : head_dims) {
    for (const DType dtype : dtypes) {
      for (const Mask& mask : {Mask::none, Mask::causal}) {
        for (const auto& [n_q, n_k] : shapes) {
          // Two batch entries and two query heads per K/V head, so that every layout index takes two values.
          const AttentionProblem problem{
              .dtype = dtype, .mask = mask, .batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = n_q, .n_k = n_k, .d = d};
          for (const InputKind inputs : input_kinds()) table.add(problem, inputs, configs_for);
        }
      }
    }
  }
}

void add_masks_and_dropout(CaseBuilder& table) {
  using enum InputKind;
  for (const std::int64_t d : sampled_head_dims) {
    for (const DType dtype : dtypes) {
      AttentionProblem problem{.dtype = dtype, .batch = 2, .heads_q = 2, .heads_kv = 1, .d = d};
      for (const auto& [n_q, n_k] : Shapes{{1, 1}, {113, 203}, {384, 256}, {799, 3}, {1023, 1024}}) {
        problem.n_q = n_q, problem.n_k = n_k;
        for (const Mask& mask : other_masks(n_k)) {
          problem.mask = mask;
          table.add(problem, {normal, large, ascending});
        }
      }
      problem.dropout = 0.1;
      for (const auto& [n_q, n_k] : Shapes{{113, 203}, {384, 256}, {1023, 1024}}) {
        problem.n_q = n_q, problem.n_k = n_k;
        for (const Mask& mask : {Mask::none, Mask::causal, mask_of("window:33:17")}) {
          problem.mask = mask;
          table.add(problem, {normal, large, all_equal});
        }
      }
    }
  }
}

void add_backward(CaseBuilder& table) {
  using enum InputKind;
  for (const std::int64_t d : head_dims) {
    const bool full_coverage = std::ranges::find(sampled_head_dims, d) != sampled_head_dims.end();
    for (const DType dtype : dtypes) {
      const AttentionProblem base{.dtype = dtype, .pass = Pass::bwd, .batch = 2, .heads_q = 2, .heads_kv = 1, .d = d};
      for (const auto& [n_q, n_k] : Shapes{{113, 203}, {384, 256}, {1023, 1024}, {1, 1}, {64, 128}, {799, 3}}) {
        AttentionProblem problem = base;
        problem.n_q = n_q, problem.n_k = n_k;
        const bool is_large_shape = n_q > 100 && n_k > 100;
        std::vector<Mask> masks{Mask::none, Mask::causal};
        if (full_coverage) std::ranges::move(other_masks(n_k), std::back_inserter(masks));
        for (const Mask& mask : masks) {
          problem.mask = mask;
          const bool plain = mask == Mask::none || mask == Mask::causal;
          if (!full_coverage) {
            if (is_large_shape) table.add(problem, {normal});
            continue;
          }
          for (const InputKind inputs : {normal, large, dominant_last_key}) {
            table.add(problem, inputs, configs_for);
            const bool whole_tiles = n_q == 384;
            if (!is_large_shape || inputs != normal || (!plain && !whole_tiles)) continue;
            // All three use the same reference.
            AttentionProblem other = problem;
            other.deterministic = true;
            table.add(other, inputs, configs_for);
            if (!plain) continue;
            other.deterministic = false;
            other.pass = Pass::fwd_bwd;
            table.add(other, inputs, configs_for);
          }
          if (!plain || !is_large_shape) continue;
          AttentionProblem dropped = problem;
          dropped.dropout = 0.1;
          table.add(dropped, {normal, large});
        }
      }
    }
  }
}

/// GQA groups of one and three query heads; all other cases use two.
void add_groups(CaseBuilder& table) {
  for (const std::int64_t d : {64, 128}) {
    for (const DType dtype : dtypes) {
      for (const Pass pass : {Pass::fwd, Pass::bwd}) {
        for (const Mask& mask : {Mask::none, Mask::causal, mask_of("causal+lengths:ramp")}) {
          for (const std::int64_t heads_q : {2, 6}) {
            for (const auto& [n_q, n_k] : Shapes{{113, 203}, {384, 256}, {203, 203}, {384, 384}}) {
              if (n_q == n_k && heads_q != 2) continue;  // square shapes for kernels that support no others
              table.add({.dtype = dtype,
                         .pass = pass,
                         .mask = mask,
                         .batch = 2,
                         .heads_q = heads_q,
                         .heads_kv = 2,
                         .n_q = n_q,
                         .n_k = n_k,
                         .d = d},
                        {InputKind::normal});
            }
          }
        }
      }
    }
  }
}

/// Two GPUs, with every assignment of tokens.
void add_shared(CaseBuilder& table) {
  using enum InputKind;
  for (const std::int64_t d : {64, 128}) {
    for (const DType dtype : dtypes) {
      for (const Mask& mask : {Mask::none, Mask::causal}) {
        for (const std::int64_t n : {256, 500, 2052}) {
          AttentionProblem problem{
              .dtype = dtype, .mask = mask, .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = n, .n_k = n, .d = d};
          problem.gpus = 2;
          for (const GpuOrder order : gpu_orders) {
            problem.gpu_order = order;
            for (const InputKind inputs : {normal, large, ascending, dominant_last_key, one_hot_v}) {
              table.add(problem, inputs, default_only);
            }
          }
        }
      }
    }
  }
}

/// Few queries with a contiguous or paged KV cache.
void add_decoding(CaseBuilder& table) {
  for (const std::int64_t d : {64, 80, 128, 256}) {
    for (const DType dtype : dtypes) {
      for (const auto& [n_q, n_k] :
           Shapes{{1, 1}, {1, 1000}, {1, 4099}, {5, 1}, {5, 1000}, {5, 4099}, {16, 1}, {16, 1000}, {16, 4099}}) {
        for (const Mask& mask : {Mask::none, Mask::causal, mask_with_empty_entry(n_k), mask_of("window:64:0")}) {
          for (const InputKind inputs : {InputKind::normal, InputKind::dominant_last_key}) {
            for (const std::int64_t page : {0, 64}) {
              table.add({.dtype = dtype,
                         .mask = mask,
                         .batch = 2,
                         .heads_q = 8,
                         .heads_kv = 2,
                         .n_q = n_q,
                         .n_k = n_k,
                         .d = d,
                         .page = page},
                        inputs, decode_configs_for);
            }
          }
        }
      }
    }
  }
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
  add_forward(table);
  add_masks_and_dropout(table);
  add_backward(table);
  add_groups(table);
  add_decoding(table);
  add_shared(table);
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
  summary.total = cases.size();
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
  device.prepare(specs, cancel, [&](std::size_t done, std::size_t total, const BuildReport& report) {
    if (observer.on_build) observer.on_build(done, total, report);
  });

  MeasureOptions once = options;
  once.verify = true;
  once.counters = false;
  once.min_samples = 1;
  once.max_samples = 1;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cancel.cancelled()) {
      summary.cancelled = true;
      return summary;
    }
    once.input_kind = cases[i].inputs;
    const PointRecord record = device.measure(cases[i].spec, once, cancel);
    if (record.disposition == Disposition::cancelled) {
      summary.cancelled = true;
      return summary;
    }
    const VerifyResult result = judge(record);
    ++(result.outcome == VerifyOutcome::pass   ? summary.pass
       : result.outcome == VerifyOutcome::fail ? summary.fail
                                               : summary.skip);
    if (observer.on_case) observer.on_case(i, cases[i], result);
    if (!device.usable()) {
      summary.stopped = make_reason("point.device_unusable", "The device is unusable after {}: {}", describe(cases[i]),
                                    record.reason);
      return summary;
    }
  }
  return summary;
}

}  // namespace attnscope
