// SPDX-License-Identifier: Apache-2.0
// Attention over a sequence that the GPUs of one machine share, forward pass: each has its tokens of Q, K and V and
// ends with those of O. What each computes is FlashAttention-3's forward kernel.
#pragma once

#include "kernels/algorithm.h"
#include "kernels/fa3/fa3.h"

namespace attnscope {

/// What the three have in common: they run the same kernel, and say by a plan which launches and copies there are.
class SharedSequence : public Algorithm {
 public:
  [[nodiscard]] Config default_config(const AttentionProblem&, const DeviceLimits&) const override;
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override;

 protected:
  using Algorithm::Algorithm;
  [[nodiscard]] std::vector<KernelModel> kernels(const AttentionProblem&, const Config&,
                                                 const DeviceLimits&) const override;
  void add_kernels(AttentionModel&, const AttentionProblem&, const Config&, const DeviceLimits&) const override;
  [[nodiscard]] const FlashAttention3& inner() const { return inner_; }
  /// Why the GPUs cannot share the problem so.
  [[nodiscard]] virtual std::optional<Refusal> refuse_sharing(const AttentionProblem&) const = 0;
  /// The problems that its launches of attention solve, each once.
  [[nodiscard]] virtual std::vector<AttentionProblem> parts(const AttentionProblem&) const = 0;

 private:
  FlashAttention3 inner_;
};

/// K and V go round: each GPU passes on what it has, P - 1 times, while it computes with it; P partial results are
/// joined by their LSE. 2 (P - 1) N d h_kv elements cross links for each batch entry.
class RingAttention final : public SharedSequence {
 public:
  RingAttention();
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override;

 protected:
  [[nodiscard]] std::optional<Refusal> refuse_sharing(const AttentionProblem&) const override;
  [[nodiscard]] std::vector<AttentionProblem> parts(const AttentionProblem&) const override;
};

/// Every GPU first gets all of K and V: as many elements cross links, and nothing hides it.
class AllGatherAttention final : public SharedSequence {
 public:
  AllGatherAttention();
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override;

 protected:
  [[nodiscard]] std::optional<Refusal> refuse_sharing(const AttentionProblem&) const override;
  [[nodiscard]] std::vector<AttentionProblem> parts(const AttentionProblem&) const override;
};

/// Every GPU gets all tokens of its P-th of the heads, and gives O back: 2 (P - 1) / P N d (h_q + h_kv) elements cross
/// links for each batch entry.
class UlyssesAttention final : public SharedSequence {
 public:
  UlyssesAttention();
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override;

 protected:
  [[nodiscard]] std::optional<Refusal> refuse_sharing(const AttentionProblem&) const override;
  [[nodiscard]] std::vector<AttentionProblem> parts(const AttentionProblem&) const override;
};

/// Bytes that cross links by each algorithm's formula, of all GPUs together: sums over no schedule.
[[nodiscard]] std::int64_t ring_link_bytes(const AttentionProblem&);
[[nodiscard]] std::int64_t ulysses_link_bytes(const AttentionProblem&);

}  // namespace attnscope
