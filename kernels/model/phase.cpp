// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/phase.h"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/phase.h"

namespace attnscope {

Message message_of(Phase phase) {
  static const std::array<std::pair<Phase, Message>, phase_count> messages{{
      {Phase::unstated, say::phase::unstated{}},
      {Phase::take_tile, say::phase::take_tile{}},
      {Phase::load_q, say::phase::load_q{}},
      {Phase::load_k, say::phase::load_k{}},
      {Phase::load_v, say::phase::load_v{}},
      {Phase::load_kv, say::phase::load_kv{}},
      {Phase::load_o, say::phase::load_o{}},
      {Phase::load_dout, say::phase::load_dout{}},
      {Phase::load_s, say::phase::load_s{}},
      {Phase::load_p, say::phase::load_p{}},
      {Phase::load_dp, say::phase::load_dp{}},
      {Phase::load_ds, say::phase::load_ds{}},
      {Phase::load_state, say::phase::load_state{}},
      {Phase::load_statistics, say::phase::load_statistics{}},
      {Phase::load_dq, say::phase::load_dq{}},
      {Phase::load_partial, say::phase::load_partial{}},
      {Phase::load_block_table, say::phase::load_block_table{}},
      {Phase::load_key_length, say::phase::load_key_length{}},
      {Phase::load_kv_state, say::phase::load_kv_state{}},
      {Phase::load_scales, say::phase::load_scales{}},
      {Phase::clear_o, say::phase::clear_o{}},
      {Phase::clear_statistics, say::phase::clear_statistics{}},
      {Phase::denormalize, say::phase::denormalize{}},
      {Phase::scores, say::phase::scores{}},
      {Phase::row_maximum, say::phase::row_maximum{}},
      {Phase::exponentials, say::phase::exponentials{}},
      {Phase::rescale, say::phase::rescale{}},
      {Phase::values, say::phase::values{}},
      {Phase::normalize, say::phase::normalize{}},
      {Phase::merge, say::phase::merge{}},
      {Phase::row_statistics, say::phase::row_statistics{}},
      {Phase::softmax, say::phase::softmax{}},
      {Phase::combine, say::phase::combine{}},
      {Phase::clear_kv_state, say::phase::clear_kv_state{}},
      {Phase::add_to_kv_state, say::phase::add_to_kv_state{}},
      {Phase::clear_row_sums, say::phase::clear_row_sums{}},
      {Phase::values_of_kv_state, say::phase::values_of_kv_state{}},
      {Phase::feature_products, say::phase::feature_products{}},
      {Phase::row_sums, say::phase::row_sums{}},
      {Phase::quantise, say::phase::quantise{}},
      {Phase::clear_dk, say::phase::clear_dk{}},
      {Phase::clear_dv, say::phase::clear_dv{}},
      {Phase::probabilities, say::phase::probabilities{}},
      {Phase::value_gradients, say::phase::value_gradients{}},
      {Phase::probability_gradients, say::phase::probability_gradients{}},
      {Phase::row_products, say::phase::row_products{}},
      {Phase::row_products_of_p, say::phase::row_products_of_p{}},
      {Phase::score_gradients, say::phase::score_gradients{}},
      {Phase::query_gradients, say::phase::query_gradients{}},
      {Phase::key_gradients, say::phase::key_gradients{}},
      {Phase::convert_dq, say::phase::convert_dq{}},
      {Phase::clear_state, say::phase::clear_state{}},
      {Phase::clear_dq, say::phase::clear_dq{}},
      {Phase::store_o, say::phase::store_o{}},
      {Phase::store_lse, say::phase::store_lse{}},
      {Phase::store_state, say::phase::store_state{}},
      {Phase::store_partial, say::phase::store_partial{}},
      {Phase::store_s, say::phase::store_s{}},
      {Phase::store_p, say::phase::store_p{}},
      {Phase::store_dp, say::phase::store_dp{}},
      {Phase::store_ds, say::phase::store_ds{}},
      {Phase::store_delta, say::phase::store_delta{}},
      {Phase::store_dq, say::phase::store_dq{}},
      {Phase::add_dq, say::phase::add_dq{}},
      {Phase::store_dk, say::phase::store_dk{}},
      {Phase::store_dv, say::phase::store_dv{}},
      {Phase::store_dkv, say::phase::store_dkv{}},
      {Phase::store_kv_state, say::phase::store_kv_state{}},
      {Phase::store_operand, say::phase::store_operand{}},
      {Phase::store_scale, say::phase::store_scale{}},
  }};
  const auto found = std::ranges::find(messages, phase, [](const auto& each) { return each.first; });
  return found == messages.end() ? Message{} : found->second;
}

bool makes_pairs(Phase phase) {
  return phase == Phase::scores || phase == Phase::feature_products || phase == Phase::probabilities ||
         phase == Phase::probability_gradients;
}

std::string to_string(Phase phase) {
  return text(message_of(phase));
}

}  // namespace attnscope
