// SPDX-License-Identifier: Apache-2.0
// Attention over a sequence that the GPUs of one machine share, forward pass: each has its tokens of Q, K and V and
// ends with those of O. Each computes with a single-GPU algorithm while K and V go round.
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

bool causal(const AttentionProblem& p) {
  return p.mask.right == 0;
}

/// What a GPU computes in one launch of attention.
struct Part {
  std::string name;  ///< empty: nothing
  AttentionProblem problem;
  std::int64_t first_row = 0;  ///< of its queries
};

/// So many of the problem's queries with so many keys; bottom-right aligned where the mask is causal.
Part part_of(std::string name, const AttentionProblem& p, std::int64_t n_q, std::int64_t n_k, const Mask& mask,
             std::int64_t first_row = 0) {
  Part part{std::move(name), on_one_gpu(p), first_row};
  part.problem.n_q = n_q;
  part.problem.n_k = n_k;
  part.problem.mask = mask;
  return part;
}

std::int64_t element_bytes(const AttentionProblem& p) {
  return bytes_per_element(p.dtype);
}

/// 2 (P - 1) N d h_kv elements for each batch entry.
std::int64_t ring_link_bytes(const AttentionProblem& p) {
  return std::int64_t{2} * (p.gpus - 1) * p.kv_instances() * p.n_k * p.d * element_bytes(p);
}

/// What a GPU computes with the keys of another one.
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
  }
  return {};
}

/// The parts of a GPU that have all rows come first, as its steps do; then those that have later rows alone.
Parts parts_of_gpu(const AttentionProblem& p, int gpu) {
  Parts parts{.dtype = p.dtype, .d = p.d, .instances = p.instances(), .rows = p.n_k / p.gpus};
  for (int of = 0; of < p.gpus; ++of) {
    const Part part = ring_part(p, gpu, of);
    if (part.name.empty()) continue;
    ++(part.first_row == 0 ? parts.whole : parts.later);
    parts.first = std::max(parts.first, part.first_row);
  }
  return parts;
}

/// Steps of the ring: at step s a GPU has the keys of the one s before it, and passes them on meanwhile.
class RingPlan {
 public:
  RingPlan(PlanMaker& maker, const AttentionProblem& p)
      : maker_(maker),
        p_(p),
        n_(maker.tokens()),
        arrived_(static_cast<std::size_t>(p.gpus)),
        computed_(arrived_.size()) {
    const std::int64_t kv = p.kv_instances() * n_ * p.d * element_bytes(p);
    for (const char* const each : {"k.in0", "k.in1", "v.in0", "v.in1"}) maker.add_buffer(each, kv);
    const Parts room{.instances = p.instances(), .rows = n_};
    maker.add_buffer("o.parts", p.gpus * room.part_step() * p.d * output_bytes(p.dtype));
    maker.add_buffer("lse.parts", p.gpus * room.part_step() * fp32_bytes);
    maker.add_buffer("o", p.instances() * n_ * p.d * output_bytes(p.dtype));
    maker.add_buffer("lse", p.instances() * n_ * fp32_bytes);
    for (int part = 0; part < p.gpus; ++part) {
      maker.add_part(fmt::format("o.part{}", part), "o.parts", part * room.part_step() * p.d * output_bytes(p.dtype));
      maker.add_part(fmt::format("lse.part{}", part), "lse.parts", part * room.part_step() * fp32_bytes);
    }
    const Part later = ring_part(p, 0, 1);
    maker.add_part("q.late", "q", later.first_row * p.d * element_bytes(p));
  }

  void add() {
    for (int step = 0; step < p_.gpus; ++step) {
      if (step + 1 < p_.gpus) pass_on(step);
      for (int gpu = 0; gpu < p_.gpus; ++gpu) compute(gpu, step);
      arrived_ = std::exchange(sent_, std::vector<Copies>(arrived_.size()));
    }
    for (int gpu = 0; gpu < p_.gpus; ++gpu) {
      const Parts parts = parts_of_gpu(p_, gpu);
      const std::string name = parts.later == 0 && parts.whole == p_.gpus
                                   ? "combine"
                                   : fmt::format("combine {}+{}", parts.whole, parts.later);
      maker_.launch({.kind = Operation::Kind::combine, .gpu = gpu}, name,
                    {{"o_parts", "o.parts"}, {"lse_parts", "lse.parts"}, {"o", "o"}, {"lse", "lse"}},
                    [&] { return combine_launch(parts, name); });
    }
  }

 private:
  using Copies = std::vector<std::size_t>;  ///< of K, then of V

  static std::string held(const char* name, int step) {
    return step == 0 ? name : fmt::format("{}.in{}", name, (step - 1) % 2);
  }

  void pass_on(int step) {
    sent_.assign(arrived_.size(), {});
    std::vector<Copies> forwarded = std::exchange(forwarding_, std::vector<Copies>(arrived_.size()));
    for (int gpu = 0; gpu < p_.gpus; ++gpu) {
      const int to = (gpu + 1) % p_.gpus;
      const auto receiver = static_cast<std::size_t>(to);
      const auto sender = static_cast<std::size_t>(gpu);
      for (std::size_t i = 0; i < 2; ++i) {
        const char* const name = i == 0 ? "k" : "v";
        const Matrix from = maker_.matrix(held(name, step), gpu, p_.kv_instances(), n_);
        const Matrix next = maker_.matrix(held(name, step + 1), to, p_.kv_instances(), n_);
        std::vector<std::size_t> after;
        if (step > 0) after.push_back(arrived_[sender][i]);
        if (step > 1) {  // there lies what the receiver computed with, and passed on, a step before
          after.insert(after.end(), computed_[receiver].begin(), computed_[receiver].end());
          after.push_back(forwarded[receiver][i]);
        }
        const std::size_t copy = maker_.transfer(gpu, copy_rows(from, next, to, {.tokens = n_}), std::move(after));
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
    // What has all rows is computed with the keys of GPUs up to this one: the first steps.
    const std::string slot = fmt::format("part{}", step);
    done.push_back(maker_.attention({.gpu = gpu, .after = arrived_[static_cast<std::size_t>(gpu)]},
                                    {.name = part.name, .problem = part.problem, .q_rows = n_, .kv_rows = n_},
                                    {{"q", part.first_row > 0 ? "q.late" : "q"},
                                     {"k", held("k", step)},
                                     {"v", held("v", step)},
                                     {"o", "o." + slot},
                                     {"lse", "lse." + slot}}));
  }

  PlanMaker& maker_;
  const AttentionProblem& p_;
  std::int64_t n_;
  std::vector<Copies> arrived_;     ///< to each GPU, in the step before
  std::vector<Copies> sent_;        ///< to each, in this one
  std::vector<Copies> forwarding_;  ///< from each, in the latest
  std::vector<Copies> computed_;    ///< the launch of each in the latest step
};

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

/// Communication hides behind attention from some N on; causal work is equal by zigzag order alone.
StatedPreset preset() {
  return {.name = "gpus",
          .description = say::ringattn::preset{},
          .grids = {{{"d=128", "heads=16", "N[pow2]=[12:17]", "gpus=[1,2,4,8]"}},
                    {{"d=128", "heads=16", "N[pow2]=[12:17]", "gpus=[1,2,4,8]", "mask=causal"}},
                    {{"d=128", "heads=16", "N[pow2]=[12:17]", "gpus=[2,4,8]", "mask=causal", "gpu_order=zigzag"}}}};
}

/// The schedule over the algorithm that each GPU runs: one whose kernel takes Q, K and V by tensor maps.
class RingAttention final : public Algorithm {
 public:
  explicit RingAttention(std::unique_ptr<const Algorithm> inner)
      : Algorithm(facts_of(inner->facts())), inner_(std::move(inner)) {}

  /// The whole problem's, whatever the number of GPUs: times of several are then laid beside one of the same tile.
  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return auto_config(*inner_, on_one_gpu(p), device);
  }

  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    if (auto refused = refuse_shape(p, config.tile, facts())) return refused;
    if (auto refused = refuse_knobs(facts(), config.knobs)) return refused;
    if (auto refused = refuse_features(name(), p, config.tile, {.gpus = true}, false)) return refused;
    if (p.n_q != p.n_k)
      return shape_refusal(make_reason("refusal.as_many_queries", "{} shares one sequence: n_q {} and n_k {} differ.",
                                       name(), p.n_q, p.n_k));
    const std::int64_t pieces = p.gpu_order == GpuOrder::zigzag ? 2 * p.gpus : p.gpus;
    if (p.n_k % pieces != 0)
      return shape_refusal(make_reason("refusal.unequal_pieces",
                                       "N {} is no multiple of the {} pieces that the GPUs share.", p.n_k, pieces));
    for (const AttentionProblem& part : ring_parts(p)) {
      if (auto refused = inner_->refusal(part, config, device)) return refused;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return inner_->working_set_bytes(on_one_gpu(p), config, device);
  }

  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    if (p.gpus == 1) return inner_->plan(on_one_gpu(p), config, device);
    PlanMaker maker(*inner_, p, config, device);
    maker.share_inputs();
    RingPlan(maker, p).add();
    maker.gather_outputs();
    return maker.take();
  }

 private:
  static Facts facts_of(Facts facts) {
    facts.name = "ring";
    facts.title = "Ring attention";
    facts.short_title = "Ring";
    facts.source =
        "H. Liu et al., Ring Attention (arXiv 2310.01889), Algorithm 1; zigzag: Z. Zhu, ring-flash-attention";
    facts.link_bytes = ring_link_bytes;
    facts.power_law.reset();
    facts.paper_column.reset();
    facts.backward_side = TileSide::none;
    facts.groups.clear();
    facts.presets = {preset()};
    facts.dtypes = {DType::fp16, DType::bf16};
    facts.knobs = {raster_knob(), stages_knob()};
    return facts;
  }

  std::unique_ptr<const Algorithm> inner_;
};

}  // namespace
}  // namespace ringattn

std::unique_ptr<const Algorithm> make_ring() {
  return std::make_unique<ringattn::RingAttention>(make_fa3());
}

}  // namespace attnscope
