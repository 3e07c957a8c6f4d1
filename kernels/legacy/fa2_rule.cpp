// SPDX-License-Identifier: Apache-2.0
#include "kernels/legacy/fa2_rule.h"

namespace attnscope::legacy {
namespace {

constexpr std::int64_t shared_limit = 232'448;  // Hopper's 227 KiB

std::int64_t forward_shared_bytes(const Fa2Run& run, std::int64_t d, int stages) {
  return 2 * ((d + 63) / 64 * 64) * (run.br + 2LL * stages * run.bc) + 32LL * stages;
}

bool forward_on_wgmma(const AttentionProblem& p, const Fa2Run& run) {
  if (p.d < 16 || p.d > 256 || p.d % 16 != 0 || run.bc < 16 || run.bc > 256 || run.bc % 16 != 0) return false;
  if (run.br != 64 && run.br != 128 && run.br != 192) return false;
  if (run.shared_bytes_per_block < shared_limit) return false;
  const std::int64_t registers = p.d / 2 + run.bc / 2 + run.bc / 4 + (p.d > 192 ? 36 : 28);
  if (registers > (run.br == 64 ? 208 : run.br == 128 ? 224 : 160)) return false;
  if (run.warps != 0 && run.warps * 16 != run.br) return false;
  // Two stages where they fit beside a second block (64 rows) or alone, else one.
  const std::int64_t share = (shared_limit + 1024) / (run.br == 64 ? 2 : 1) - 1024;
  const int own_stages = forward_shared_bytes(run, p.d, 2) <= share ? 2 : 1;
  if (forward_shared_bytes(run, p.d, own_stages) > shared_limit) return false;
  return run.stages <= 3 && forward_shared_bytes(run, p.d, run.stages > 0 ? run.stages : own_stages) <= shared_limit;
}

bool backward_on_wgmma(const AttentionProblem& p, const Fa2Run& run) {
  if (p.mask.sparse() || p.dropout > 0 || !run.q_fastest || run.bc != 128) return false;
  if (!(p.d == 64 && run.br == 128) && !(p.d == 128 && run.br == 64)) return false;
  // K and V; two stages of Q and dO with LSE and D; two of dS; two of dQ in fp32; 112 bytes of barriers.
  const std::int64_t shared_bytes =
      4 * p.d * run.bc + 2 * 4LL * run.br * (p.d + 2) + 2 * 2LL * run.br * run.bc + 2 * 4LL * run.br * p.d + 112;
  return shared_bytes <= run.shared_bytes_per_block;
}

}  // namespace

bool ran_on_wgmma(const AttentionProblem& p, const Fa2Run& run) {
  if (run.compute_major != 9 || run.compute_minor != 0) return false;
  return (p.pass != Pass::bwd && forward_on_wgmma(p, run)) || (p.pass != Pass::fwd && backward_on_wgmma(p, run));
}

std::string shown_algorithm(std::string_view algorithm, const AttentionProblem& p, const Fa2Run& run) {
  return std::string(algorithm == "fa2" && ran_on_wgmma(p, run) ? fa2_on_wgmma : algorithm);
}

}  // namespace attnscope::legacy
