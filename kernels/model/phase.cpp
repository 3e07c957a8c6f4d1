// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/phase.h"

#include <array>
#include <cstddef>
#include <utility>

namespace attnscope {
namespace {

constexpr std::array<std::pair<Phase, std::string_view>, phase_count> words{{
    {Phase::unstated, "unstated"},
    {Phase::load_q, "load Q"},
    {Phase::load_k, "load K"},
    {Phase::load_v, "load V"},
    {Phase::load_kv, "load K and V"},
    {Phase::load_o, "load O"},
    {Phase::load_dout, "load dO"},
    {Phase::load_s, "load S"},
    {Phase::load_p, "load P"},
    {Phase::load_dp, "load dP"},
    {Phase::load_ds, "load dS"},
    {Phase::load_state, "load O, l and m"},
    {Phase::load_statistics, "load row statistics"},
    {Phase::load_dq, "load dQ"},
    {Phase::load_partial, "load partial O and LSE"},
    {Phase::load_block_table, "load block table"},
    {Phase::clear_o, "O = 0"},
    {Phase::clear_statistics, "l = 0, m = -inf"},
    {Phase::denormalize, "O = O l"},
    {Phase::scores, "S = QK^T"},
    {Phase::row_maximum, "m = max(m, rowmax(S))"},
    {Phase::exponentials, "P = exp(S - m)"},
    {Phase::rescale, "rescale O and l by exp(m_old - m), l += rowsum(P)"},
    {Phase::values, "O += PV"},
    {Phase::normalize, "O = O / l"},
    {Phase::merge, "add up the warps' sums"},
    {Phase::row_statistics, "m = rowmax(S), l = rowsum(exp(S - m))"},
    {Phase::softmax, "P = exp(S - m) / l"},
    {Phase::combine, "O = sum of exp(LSE_s - LSE) O_s"},
    {Phase::clear_dk, "dK = 0"},
    {Phase::clear_dv, "dV = 0"},
    {Phase::probabilities, "P = exp(S - LSE)"},
    {Phase::value_gradients, "dV += P^T dO"},
    {Phase::probability_gradients, "dP = dO V^T"},
    {Phase::row_products, "D = rowsum(dO o O)"},
    {Phase::row_products_of_p, "D = rowsum(P o dP)"},
    {Phase::score_gradients, "dS = P o (dP - D)"},
    {Phase::query_gradients, "dQ += dS K"},
    {Phase::key_gradients, "dK += dS^T Q"},
    {Phase::convert_dq, "dQ in 16 bits"},
    {Phase::clear_state, "clear O, l and m"},
    {Phase::clear_dq, "clear dQ"},
    {Phase::store_o, "store O"},
    {Phase::store_lse, "store LSE"},
    {Phase::store_state, "store O, l and m"},
    {Phase::store_partial, "store partial O and LSE"},
    {Phase::store_s, "store S"},
    {Phase::store_p, "store P"},
    {Phase::store_dp, "store dP"},
    {Phase::store_ds, "store dS"},
    {Phase::store_delta, "store D"},
    {Phase::store_dq, "store dQ"},
    {Phase::add_dq, "add to dQ"},
    {Phase::store_dk, "store dK"},
    {Phase::store_dv, "store dV"},
    {Phase::store_dkv, "store dK and dV"},
}};

constexpr bool every_phase_is_at_its_place() {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (static_cast<std::size_t>(words[i].first) != i) return false;
  }
  return true;
}
static_assert(every_phase_is_at_its_place());

}  // namespace

std::string_view to_string(Phase phase) {
  return words.at(static_cast<std::size_t>(phase)).second;
}

}  // namespace attnscope
