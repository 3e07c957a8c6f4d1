// SPDX-License-Identifier: Apache-2.0
// Context-parallel attention: the GPUs of one machine share a sequence, forward pass. Each GPU owns its tokens of Q, K,
// V and O. Each runs a single-GPU algorithm; a scheme defines the launches and copies.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/ringattn/ringattn_combine.h"
#include "kernels/ringattn/ringattn_plan.h"
#include "kernels/tile_table.h"
#include "messages/ringattn.h"

namespace attnscope {

std::unique_ptr<const Algorithm> make_fa3();

namespace ringattn {
namespace {

/// Scheme by which the GPUs share a sequence.
struct Scheme {
  std::string name;
  std::string title;
  std::string short_title;
  int plot_variant;
  std::string source;
  std::int64_t (*link_bytes)(const AttentionProblem&);  ///< bytes over links, all GPUs, closed form
  bool overlaps_copies;
  std::vector<AlgorithmPreset> presets;
  /// Reason why the GPUs cannot share the problem with this scheme, if any.
  std::optional<Refusal> (*refusal)(const AttentionProblem&, std::string_view name);
  /// Distinct problems of the scheme's attention launches.
  std::vector<AttentionProblem> (*parts)(const AttentionProblem&);
  void (*add)(PlanBuilder&, const AttentionProblem&);
};

/// Algorithm that runs a scheme with an inner algorithm on each GPU, whose kernel takes Q, K and V as tensor maps.
class MultiGpuSequence final : public Algorithm {
 public:
  MultiGpuSequence(const Scheme& scheme, std::unique_ptr<const Algorithm> inner)
      : Algorithm(facts_of(scheme, inner->facts())), scheme_(scheme), inner_(std::move(inner)) {}

  /// Configuration of the whole problem for any number of GPUs, so that multi-GPU times compare with single-GPU times
  /// of the same tile.
  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return auto_config(*inner_, single_gpu_problem(p), device);
  }

  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    if (auto refused = check_shape(p, config.tile, facts())) return refused;
    if (auto refused = check_knobs(facts(), config.knobs)) return refused;
    if (auto refused = check_features(name(), p, config.tile, {.gpus = true}, false)) return refused;
    if (p.n_q != p.n_k)
      return make_shape_refusal(make_reason(
          "refusal.as_many_queries", "{} requires n_q = n_k, but n_q is {} and n_k is {}.", name(), p.n_q, p.n_k));
    if (auto refused = refuse_uneven_chunks(p, p.gpu_order == GpuOrder::zigzag ? 2 * p.gpus : p.gpus)) return refused;
    if (auto refused = scheme_.refusal(p, name())) return refused;
    for (const AttentionProblem& part : scheme_.parts(p)) {
      if (auto refused = inner_->refusal(part, config, device)) return refused;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return inner_->working_set_bytes(single_gpu_problem(p), config, device);
  }

  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    if (p.gpus == 1) return inner_->plan(single_gpu_problem(p), config, device);
    PlanBuilder maker(*inner_, p, config, device);
    maker.distribute_inputs();
    scheme_.add(maker, p);
    return maker.take();
  }

  /// Rejects N that cannot be divided into `pieces` equal parts.
  static std::optional<Refusal> refuse_uneven_chunks(const AttentionProblem& p, std::int64_t pieces) {
    if (p.n_k % pieces == 0) return std::nullopt;
    return make_shape_refusal(
        make_reason("refusal.unequal_pieces", "N {} cannot be divided into {} equal chunks.", p.n_k, pieces));
  }

 private:
  static Facts facts_of(const Scheme& scheme, Facts facts) {
    facts.name = scheme.name;
    facts.title = scheme.title;
    facts.short_title = scheme.short_title;
    facts.plot_slot = PlotSlot::pentagon;
    facts.plot_variant = scheme.plot_variant;
    facts.source = scheme.source;
    facts.link_bytes = scheme.link_bytes;
    facts.overlaps_copies = scheme.overlaps_copies;
    facts.power_law.reset();
    facts.paper_column.reset();
    facts.backward_side = TileSide::none;
    facts.groups.clear();
    facts.presets = scheme.presets;
    facts.dtypes = {DType::fp16, DType::bf16};
    facts.knobs = {raster_knob(), stages_knob()};
    return facts;
  }

  Scheme scheme_;
  std::unique_ptr<const Algorithm> inner_;
};

bool causal(const AttentionProblem& p) {
  return p.mask.right == 0;
}

struct Part {
  std::string name;  ///< empty if there is nothing to compute
  AttentionProblem problem;
  std::int64_t first_row = 0;  ///< offset of its queries
};

/// Attention of n_q of the problem's queries with n_k keys; causal masks are aligned at the bottom right.
Part part_of(std::string name, const AttentionProblem& p, std::int64_t n_q, std::int64_t n_k, const Mask& mask,
             std::int64_t first_row = 0) {
  Part part{std::move(name), single_gpu_problem(p), first_row};
  part.problem.n_q = n_q;
  part.problem.n_k = n_k;
  part.problem.mask = mask;
  return part;
}

std::optional<Refusal> refuse_order(const AttentionProblem& p, std::string_view algorithm, GpuOrder most) {
  if (p.gpu_order <= most) return std::nullopt;
  return make_shape_refusal(
      make_reason("refusal.token_order", "{} does not support {} token order.", algorithm, to_string(p.gpu_order)));
}

std::int64_t element_bytes(const AttentionProblem& p) {
  return bytes_per_element(p.dtype);
}

/// Calls each(gpu, to) for all pairs; to == gpu last.
template <class Each>
void for_each_pair(const AttentionProblem& p, const Each& each) {
  for (int distance = 1; distance <= p.gpus; ++distance) {
    for (int gpu = 0; gpu < p.gpus; ++gpu) each(gpu, (gpu + distance) % p.gpus);
  }
}

// --- ring: K and V are passed around the ring ---

/// 2 (P - 1) N d h_kv elements per batch entry.
std::int64_t ring_link_bytes(const AttentionProblem& p) {
  return std::int64_t{2} * (p.gpus - 1) * p.kv_instances() * p.n_k * p.d * element_bytes(p);
}

/// Attention part of GPU `gpu` with the keys of GPU `of`.
Part ring_part(const AttentionProblem& p, int gpu, int of) {
  const std::int64_t n = p.n_k / p.gpus;
  if (!causal(p)) return part_of("attention", p, n, n, Mask::none);
  if (of == gpu) return part_of("diagonal", p, n, n, Mask::causal);
  switch (p.gpu_order) {
    case GpuOrder::contiguous:
      return of < gpu ? part_of("earlier", p, n, n, Mask::none) : Part{};
    case GpuOrder::zigzag:
      if (of < gpu) return part_of("earlier", p, n, n / 2, Mask::none);
      return part_of("later", p, n / 2, n, Mask::none, n / 2);
    case GpuOrder::striped:
      if (of < gpu) return part_of("diagonal", p, n, n, Mask::causal);
      return part_of("later", p, n - 1, n - 1, Mask::causal, 1);
  }
  return {};
}

/// Partial results of a GPU: parts with all rows first (in step order), then parts with the later rows only.
PartialResults parts_of_gpu(const AttentionProblem& p, int gpu) {
  PartialResults parts{.dtype = p.dtype, .d = p.d, .instances = p.instances(), .rows = p.n_k / p.gpus};
  for (int of = 0; of < p.gpus; ++of) {
    const Part part = ring_part(p, gpu, of);
    if (part.name.empty()) continue;
    ++(part.first_row == 0 ? parts.whole : parts.later);
    parts.first = std::max(parts.first, part.first_row);
  }
  return parts;
}

/// Schedule of the ring: at step s a GPU has the keys of the GPU s places before it and forwards them while it
/// computes.
class RingPlan {
 public:
  RingPlan(PlanBuilder& maker, const AttentionProblem& p)
      : plan_builder_(maker),
        p_(p),
        n_(maker.tokens()),
        arrived_(static_cast<std::size_t>(p.gpus)),
        computed_(arrived_.size()) {
    const std::int64_t kv = p.kv_instances() * n_ * p.d * element_bytes(p);
    for (const char* const each : {"k.in0", "k.in1", "v.in0", "v.in1"}) maker.add_buffer(each, kv);
    const PartialResults room{.instances = p.instances(), .rows = n_};
    maker.add_buffer("o.parts", p.gpus * room.part_stride() * p.d * output_bytes(p.dtype));
    maker.add_buffer("lse.parts", p.gpus * room.part_stride() * fp32_bytes);
    maker.add_buffer("o", p.instances() * n_ * p.d * output_bytes(p.dtype));
    maker.add_buffer("lse", p.instances() * n_ * fp32_bytes);
    for (int part = 0; part < p.gpus; ++part) {
      maker.add_view(fmt::format("o.part{}", part), "o.parts", part * room.part_stride() * p.d * output_bytes(p.dtype));
      maker.add_view(fmt::format("lse.part{}", part), "lse.parts", part * room.part_stride() * fp32_bytes);
    }
    const Part later = ring_part(p, 0, 1);
    maker.add_view("q.late", "q", later.first_row * p.d * element_bytes(p));
  }

  void add() {
    for (int step = 0; step < p_.gpus; ++step) {
      if (step + 1 < p_.gpus) forward_keys(step);
      for (int gpu = 0; gpu < p_.gpus; ++gpu) compute(gpu, step);
      arrived_ = std::exchange(sent_, std::vector<Copies>(arrived_.size()));
    }
    for (int gpu = 0; gpu < p_.gpus; ++gpu) {
      const PartialResults parts = parts_of_gpu(p_, gpu);
      const std::string name = parts.later == 0 && parts.whole == p_.gpus
                                   ? "combine"
                                   : fmt::format("combine {}+{}", parts.whole, parts.later);
      plan_builder_.launch({.kind = Operation::Kind::combine, .gpu = gpu}, name,
                           {{"o_parts", "o.parts"}, {"lse_parts", "lse.parts"}, {"o", "o"}, {"lse", "lse"}},
                           [&] { return combine_launch(parts, name); });
    }
  }

 private:
  using Copies = std::vector<std::size_t>;  ///< operation indices: K, then V

  static std::string held(const char* name, int step) {
    return step == 0 ? name : fmt::format("{}.in{}", name, (step - 1) % 2);
  }

  void forward_keys(int step) {
    sent_.assign(arrived_.size(), {});
    std::vector<Copies> forwarded = std::exchange(forwarding_, std::vector<Copies>(arrived_.size()));
    for (int gpu = 0; gpu < p_.gpus; ++gpu) {
      const int to = (gpu + 1) % p_.gpus;
      const auto receiver = static_cast<std::size_t>(to);
      const auto sender = static_cast<std::size_t>(gpu);
      for (std::size_t i = 0; i < 2; ++i) {
        const char* const name = i == 0 ? "k" : "v";
        const Matrix from = plan_builder_.matrix(held(name, step), gpu, p_.kv_instances(), n_);
        const Matrix next = plan_builder_.matrix(held(name, step + 1), to, p_.kv_instances(), n_);
        std::vector<std::size_t> after;
        if (step > 0) after.push_back(arrived_[sender][i]);
        if (step > 1) {  // the target buffer was used and forwarded by the receiver one step before
          after.insert(after.end(), computed_[receiver].begin(), computed_[receiver].end());
          after.push_back(forwarded[receiver][i]);
        }
        const std::size_t copy =
            plan_builder_.transfer(gpu, copy_rows(from, next, to, {.tokens = n_}), std::move(after));
        sent_[receiver].push_back(copy);
        forwarding_[sender].push_back(copy);
      }
    }
  }

  void compute(int gpu, int step) {
    const int of = (gpu - step + p_.gpus) % p_.gpus;
    const Part part = ring_part(p_, gpu, of);
    Copies& done = computed_[static_cast<std::size_t>(gpu)];
    done.clear();
    if (part.name.empty()) return;
    // Parts with all rows use keys of GPUs up to this one, which come in the first steps.
    const std::string slot = fmt::format("part{}", step);
    done.push_back(plan_builder_.attention({.gpu = gpu, .after = arrived_[static_cast<std::size_t>(gpu)]},
                                           {.name = part.name, .problem = part.problem, .q_rows = n_, .kv_rows = n_},
                                           {{"q", part.first_row > 0 ? "q.late" : "q"},
                                            {"k", held("k", step)},
                                            {"v", held("v", step)},
                                            {"o", "o." + slot},
                                            {"lse", "lse." + slot}}));
  }

  PlanBuilder& plan_builder_;
  const AttentionProblem& p_;
  std::int64_t n_;
  std::vector<Copies> arrived_;     ///< to each GPU in the previous step
  std::vector<Copies> sent_;        ///< to each GPU in this step
  std::vector<Copies> forwarding_;  ///< from each GPU in the latest step
  std::vector<Copies> computed_;    ///< launch of each GPU in the latest step
};

std::optional<Refusal> refuse_ring(const AttentionProblem& p, std::string_view /*name*/) {
  const bool too_short = p.gpu_order == GpuOrder::striped && p.gpus > 1 && p.n_k < std::int64_t{2} * p.gpus;
  return too_short ? MultiGpuSequence::refuse_uneven_chunks(p, std::int64_t{2} * p.gpus) : std::nullopt;
}

std::vector<AttentionProblem> ring_parts(const AttentionProblem& p) {
  std::vector<AttentionProblem> all;
  for (const int of : {0, p.gpus / 2, p.gpus - 1}) {
    for (const int gpu : {0, p.gpus - 1}) {
      const Part part = ring_part(p, gpu, of);
      if (!part.name.empty() && std::ranges::find(all, part.problem) == all.end()) all.push_back(part.problem);
    }
  }
  return all;
}

void add_ring(PlanBuilder& maker, const AttentionProblem& p) {
  RingPlan(maker, p).add();
  maker.gather_outputs({"o"}, {"lse"});
}

// --- all-gather: every GPU first receives all of K and V; same link bytes as ring, without overlap ---

/// Attention parts of a GPU after the all-gather: each stretch of its queries with the keys up to its last token.
std::vector<Part> gathered_parts(const AttentionProblem& p, int gpu) {
  std::vector<Part> all;
  std::int64_t row = 0;
  for (const TokenRange& stretch : gpu_tokens(p, gpu)) {
    const std::int64_t end = stretch.token + stretch.tokens;
    all.push_back(causal(p) ? part_of(fmt::format("to key {}", end), p, stretch.tokens, end, Mask::causal, row)
                            : part_of("attention", p, stretch.tokens, p.n_k, Mask::none, row));
    row += stretch.tokens;
  }
  return all;
}

std::optional<Refusal> refuse_all_gather(const AttentionProblem& p, std::string_view name) {
  return refuse_order(p, name, GpuOrder::zigzag);
}

std::vector<AttentionProblem> all_gather_parts(const AttentionProblem& p) {
  std::vector<AttentionProblem> all;
  for (const int gpu : {0, p.gpus - 1}) {
    for (Part& part : gathered_parts(p, gpu)) all.push_back(std::move(part.problem));
  }
  return all;
}

void add_all_gather(PlanBuilder& maker, const AttentionProblem& p) {
  const std::int64_t n = maker.tokens();
  for (const char* const name : {"k.all", "v.all"}) {
    maker.add_buffer(name, p.kv_instances() * p.n_k * p.d * element_bytes(p));
  }
  std::vector<std::string> o;
  std::vector<std::string> lse;
  for (const Part& part : gathered_parts(p, 0)) {
    const std::size_t place = o.size();
    o.push_back(fmt::format("o.{}", place));
    lse.push_back(fmt::format("lse.{}", place));
    maker.add_buffer(o.back(), p.instances() * part.problem.n_q * p.d * output_bytes(p.dtype));
    maker.add_buffer(lse.back(), p.instances() * part.problem.n_q * fp32_bytes);
    maker.add_view(fmt::format("q.{}", place), "q", part.first_row * p.d * element_bytes(p));
  }
  std::vector<std::vector<std::size_t>> arrived(static_cast<std::size_t>(p.gpus));
  for_each_pair(p, [&](int gpu, int to) {
    for (const char* const name : {"k", "v"}) {
      const Matrix own = maker.matrix(name, gpu, p.kv_instances(), n);
      const Matrix all = maker.matrix(fmt::format("{}.all", name), to, p.kv_instances(), p.n_k);
      std::int64_t from = 0;
      for (const TokenRange& stretch : gpu_tokens(p, gpu)) {
        const Rows rows{.from = from, .to = stretch.token, .tokens = stretch.tokens};
        arrived[static_cast<std::size_t>(to)].push_back(maker.transfer(gpu, copy_rows(own, all, to, rows), {}));
        from += stretch.tokens;
      }
    }
  });
  for (int gpu = 0; gpu < p.gpus; ++gpu) {
    const std::vector<Part> parts = gathered_parts(p, gpu);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      maker.attention({.gpu = gpu, .after = arrived[static_cast<std::size_t>(gpu)]},
                      {.name = parts[i].name, .problem = parts[i].problem, .q_rows = n, .kv_rows = p.n_k},
                      {{"q", fmt::format("q.{}", i)}, {"k", "k.all"}, {"v", "v.all"}, {"o", o[i]}, {"lse", lse[i]}});
    }
  }
  maker.gather_outputs(o, lse);
}

// --- all-to-all by heads: every GPU receives all tokens of 1/P of the heads, and sends O back ---

/// 2 (P - 1) / P N d (h_q + h_kv) elements per batch entry.
std::int64_t ulysses_link_bytes(const AttentionProblem& p) {
  return 2 * (p.instances() + p.kv_instances()) * p.n_k / p.gpus * (p.gpus - 1) * p.d * element_bytes(p);
}

std::optional<Refusal> refuse_ulysses(const AttentionProblem& p, std::string_view name) {
  if (p.heads_kv % p.gpus != 0) {
    return make_shape_refusal(make_reason("refusal.heads_of_gpus", "{} on {} GPUs cannot divide {} K/V heads equally.",
                                          name, p.gpus, p.heads_kv));
  }
  return refuse_order(p, name, GpuOrder::contiguous);
}

std::vector<AttentionProblem> ulysses_parts(const AttentionProblem& p) {
  AttentionProblem part = single_gpu_problem(p);
  part.heads_q /= p.gpus;
  part.heads_kv /= p.gpus;
  return {part};
}

void add_ulysses(PlanBuilder& maker, const AttentionProblem& p) {
  const std::int64_t n = maker.tokens();
  const AttentionProblem part = ulysses_parts(p).front();
  maker.add_buffer("o", p.instances() * n * p.d * output_bytes(p.dtype));
  for (const auto& [name, instances] : {std::pair{"q.all", part.instances()},
                                        {"k.all", part.kv_instances()},
                                        {"v.all", part.kv_instances()},
                                        {"o.all", part.instances()}}) {
    maker.add_buffer(name, instances * p.n_k * p.d * element_bytes(p));
  }
  maker.add_buffer("lse.all", part.instances() * p.n_k * fp32_bytes);

  // Per batch entry: the heads of GPU `of` in the tokens of GPU `from`, and the tokens of GPU `from` in the heads of
  // GPU `of`.
  struct ExchangeEnds {
    Matrix tokens;
    std::int64_t tokens_from = 0;
    Matrix heads;
    std::int64_t heads_from = 0;
  };
  const auto ends = [&](std::string_view name, std::int64_t entry, int from, int of) {
    const bool of_keys = name == "k" || name == "v";
    const std::int64_t heads = of_keys ? part.heads_kv : part.heads_q;
    ExchangeEnds both{.tokens = maker.matrix(name, from, heads, n),
                      .tokens_from = (entry * p.gpus + of) * heads * n,
                      .heads = maker.matrix(fmt::format("{}.all", name), of, heads, p.n_k),
                      .heads_from = entry * heads * p.n_k + from * n};
    return both;
  };
  std::vector<std::vector<std::size_t>> arrived(static_cast<std::size_t>(p.gpus));
  for_each_pair(p, [&](int gpu, int to) {
    for (const char* const name : {"q", "k", "v"}) {
      for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        const ExchangeEnds both = ends(name, entry, gpu, to);
        arrived[static_cast<std::size_t>(to)].push_back(maker.transfer(
            gpu, copy_rows(both.tokens, both.heads, to, {.from = both.tokens_from, .to = both.heads_from, .tokens = n}),
            {}));
      }
    }
  });
  std::vector<std::size_t> computed;
  computed.reserve(static_cast<std::size_t>(p.gpus));
  for (int gpu = 0; gpu < p.gpus; ++gpu) {
    computed.push_back(
        maker.attention({.gpu = gpu, .after = arrived[static_cast<std::size_t>(gpu)]},
                        {.name = "attention", .problem = part, .q_rows = p.n_k, .kv_rows = p.n_k},
                        {{"q", "q.all"}, {"k", "k.all"}, {"v", "v.all"}, {"o", "o.all"}, {"lse", "lse.all"}}));
  }
  for_each_pair(p, [&](int gpu, int to) {
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
      const ExchangeEnds both = ends("o", entry, to, gpu);
      Transfer copy =
          copy_rows(both.heads, both.tokens, to, {.from = both.heads_from, .to = both.tokens_from, .tokens = n});
      maker.transfer(gpu, std::move(copy), {computed[static_cast<std::size_t>(gpu)]});
    }
  });
  maker.gather_outputs({"o"}, {});
  // LSE stays with its heads, where a backward pass needs it.
  for (int gpu = 0; gpu < p.gpus; ++gpu) {
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
      Matrix whole = maker.matrix("lse", 0, part.heads_q, p.n_k, fp32_bytes);
      whole.buffer = "lse";
      maker.gather(gpu, copy_rows(maker.matrix("lse.all", gpu, part.heads_q, p.n_k, fp32_bytes), whole, 0,
                                  {.from = entry * part.heads_q * p.n_k,
                                   .to = (entry * p.gpus + gpu) * part.heads_q * p.n_k,
                                   .tokens = p.n_k}));
    }
  }
}

/// Shows from which N communication is hidden behind attention, and that causal work is balanced only in zigzag order.
AlgorithmPreset all_schemes_preset() {
  const std::vector<std::string> others{"allgather", "ulysses"};
  return {
      .name = "gpus",
      .description = msg::ringattn::preset{},
      .grids = {{{"d=128", "heads=16", "N[pow2]=[12:17]", "gpus=[1,2,4,8]"}, others},
                {{"d=128", "heads=16", "N[pow2]=[12:17]", "gpus=[1,2,4,8]", "mask=causal"}, others},
                {{"d=128", "heads=16", "N[pow2]=[12:17]", "gpus=[2,4,8]", "mask=causal", "gpu_order=zigzag"}, others}}};
}

}  // namespace
}  // namespace ringattn

using ringattn::MultiGpuSequence;

std::unique_ptr<const Algorithm> make_ring() {
  return std::make_unique<MultiGpuSequence>(
      ringattn::Scheme{"ring",
                       "Ring attention",
                       "Ring",
                       0,
                       "H. Liu et al., Ring Attention (arXiv 2310.01889), Algorithm 1; striped: W. Brandon et al. "
                       "(arXiv 2311.09431); zigzag: Z. Zhu, ring-flash-attention",
                       ringattn::ring_link_bytes,
                       true,
                       {ringattn::all_schemes_preset()},
                       ringattn::refuse_ring,
                       ringattn::ring_parts,
                       ringattn::add_ring},
      make_fa3());
}

std::unique_ptr<const Algorithm> make_allgather() {
  return std::make_unique<MultiGpuSequence>(
      ringattn::Scheme{"allgather",
                       "All-gather attention",
                       "All-gather",
                       1,
                       "The Llama 3 herd of models (arXiv 2407.21783), section 3.3.2: context parallelism",
                       ringattn::ring_link_bytes,
                       false,
                       {},
                       ringattn::refuse_all_gather,
                       ringattn::all_gather_parts,
                       ringattn::add_all_gather},
      make_fa3());
}

std::unique_ptr<const Algorithm> make_ulysses() {
  return std::make_unique<MultiGpuSequence>(
      ringattn::Scheme{"ulysses",
                       "All-to-all attention (Ulysses)",
                       "Ulysses",
                       2,
                       "S. Jacobs et al., DeepSpeed Ulysses (arXiv 2309.14509), section 3",
                       ringattn::ulysses_link_bytes,
                       false,
                       {},
                       ringattn::refuse_ulysses,
                       ringattn::ulysses_parts,
                       ringattn::add_ulysses},
      make_fa3());
}

}  // namespace attnscope
