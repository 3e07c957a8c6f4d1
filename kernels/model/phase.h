// SPDX-License-Identifier: Apache-2.0
// The lines of an attention algorithm, as its paper has them: what a block does at some moment of its tile program.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/messages/message.h"

namespace attnscope {

/// A mask and dropout belong to the line that makes P, the softmax's scale to S, and to dQ and dK where they are
/// stored. m is a row's running maximum, l its running sum. A line that one algorithm alone has is an own_phase().
enum class Phase : std::uint8_t {
  unstated,

  // From global memory.
  take_tile,  ///< a row tile, by an atomic operation on the counter of them
  load_q,
  load_k,
  load_v,
  load_kv,  ///< a K tile with its V tile
  load_o,
  load_dout,
  load_s,
  load_p,
  load_dp,
  load_ds,
  load_state,       ///< FA1's fp32 O, with l and m
  load_statistics,  ///< what says of a row how P comes from S, and D
  load_dq,          ///< the fp32 accumulator of dQ
  load_partial,     ///< O and LSE of a split
  load_block_table,
  load_key_length,
  load_scales,

  // On chip, forward.
  clear_o,
  clear_statistics,
  denormalize,  ///< FA1's O, which lies in memory as O / l
  scores,
  row_maximum,
  exponentials,
  rescale,  ///< a kernel may leave it out while m has hardly risen
  values,
  normalize,
  merge,           ///< of warps that each worked on a share of the keys
  row_statistics,  ///< of whole rows
  softmax,
  combine,   ///< of the splits
  quantise,  ///< to 8 bits, rotated first where the rows are

  // On chip, backward.
  clear_dk,
  clear_dv,
  probabilities,
  value_gradients,
  probability_gradients,
  row_products,       ///< D out of dO and O
  row_products_of_p,  ///< D out of P and dP
  score_gradients,
  query_gradients,
  key_gradients,
  convert_dq,

  // To global memory.
  clear_state,  ///< FA1's fp32 O, with l and m
  clear_dq,
  store_o,
  store_lse,
  store_state,
  store_partial,
  store_s,
  store_p,
  store_dp,
  store_ds,
  store_delta,
  store_dq,
  add_dq,
  store_dk,
  store_dv,
  store_dkv,      ///< a dK tile with its dV tile
  store_operand,  ///< of 8 bits
  store_scale,
};
/// Another line, for a constant of the algorithm's folder: its words, and whether queries meet keys there.
[[nodiscard]] Phase own_phase(Message words, bool makes_pairs = false);

/// For a lesson: "load Q", "S = QK^T", "O += PV". Empty for a line that is none.
[[nodiscard]] Message message_of(Phase);
/// Whether queries meet keys there: S, P or dP of a tile comes of it.
[[nodiscard]] bool makes_pairs(Phase);
/// Its words, in the language in use.
[[nodiscard]] std::string to_string(Phase);

}  // namespace attnscope
