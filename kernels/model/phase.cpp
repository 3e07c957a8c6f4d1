// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/phase.h"

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "messages/phase.h"

namespace attnscope {
namespace {

struct PhaseWords {
  Message words;
  bool makes_pairs = false;
};

/// In the order of the enumerators.
constexpr Saying known_phases[] = {said<say::phase::unstated>,
                                   said<say::phase::take_tile>,
                                   said<say::phase::load_q>,
                                   said<say::phase::load_k>,
                                   said<say::phase::load_v>,
                                   said<say::phase::load_kv>,
                                   said<say::phase::load_o>,
                                   said<say::phase::load_dout>,
                                   said<say::phase::load_s>,
                                   said<say::phase::load_p>,
                                   said<say::phase::load_dp>,
                                   said<say::phase::load_ds>,
                                   said<say::phase::load_state>,
                                   said<say::phase::load_statistics>,
                                   said<say::phase::load_dq>,
                                   said<say::phase::load_partial>,
                                   said<say::phase::load_block_table>,
                                   said<say::phase::load_key_length>,
                                   said<say::phase::load_scales>,
                                   said<say::phase::clear_o>,
                                   said<say::phase::clear_statistics>,
                                   said<say::phase::denormalize>,
                                   said<say::phase::scores>,
                                   said<say::phase::row_maximum>,
                                   said<say::phase::exponentials>,
                                   said<say::phase::rescale>,
                                   said<say::phase::values>,
                                   said<say::phase::normalize>,
                                   said<say::phase::merge>,
                                   said<say::phase::row_statistics>,
                                   said<say::phase::softmax>,
                                   said<say::phase::combine>,
                                   said<say::phase::quantise>,
                                   said<say::phase::clear_dk>,
                                   said<say::phase::clear_dv>,
                                   said<say::phase::probabilities>,
                                   said<say::phase::value_gradients>,
                                   said<say::phase::probability_gradients>,
                                   said<say::phase::row_products>,
                                   said<say::phase::row_products_of_p>,
                                   said<say::phase::score_gradients>,
                                   said<say::phase::query_gradients>,
                                   said<say::phase::key_gradients>,
                                   said<say::phase::convert_dq>,
                                   said<say::phase::clear_state>,
                                   said<say::phase::clear_dq>,
                                   said<say::phase::store_o>,
                                   said<say::phase::store_lse>,
                                   said<say::phase::store_state>,
                                   said<say::phase::store_partial>,
                                   said<say::phase::store_s>,
                                   said<say::phase::store_p>,
                                   said<say::phase::store_dp>,
                                   said<say::phase::store_ds>,
                                   said<say::phase::store_delta>,
                                   said<say::phase::store_dq>,
                                   said<say::phase::add_dq>,
                                   said<say::phase::store_dk>,
                                   said<say::phase::store_dv>,
                                   said<say::phase::store_dkv>,
                                   said<say::phase::store_operand>,
                                   said<say::phase::store_scale>};
static_assert(std::size(known_phases) == static_cast<std::size_t>(Phase::store_scale) + 1);

/// By the phase.
std::vector<PhaseWords>& all_phases() {
  static std::vector<PhaseWords> all = [] {
    std::vector<PhaseWords> known;
    for (const Saying words : known_phases) known.push_back({.words = words()});
    for (const Phase phase : {Phase::scores, Phase::probabilities, Phase::probability_gradients}) {
      known[static_cast<std::size_t>(phase)].makes_pairs = true;
    }
    return known;
  }();
  return all;
}

}  // namespace

Phase own_phase(Message words, bool makes_pairs) {
  all_phases().push_back({std::move(words), makes_pairs});
  return static_cast<Phase>(all_phases().size() - 1);
}

Message message_of(Phase phase) {
  const auto place = static_cast<std::size_t>(phase);
  return place < all_phases().size() ? all_phases()[place].words : Message{};
}

bool makes_pairs(Phase phase) {
  const auto place = static_cast<std::size_t>(phase);
  return place < all_phases().size() && all_phases()[place].makes_pairs;
}

std::string to_string(Phase phase) {
  return text(message_of(phase));
}

}  // namespace attnscope
