// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "kernels/algorithm.h"
#include "kernels/fa1/fa1.h"
#include "kernels/fa2/fa2.h"
#include "kernels/fa3/fa3.h"
#include "kernels/naive/naive.h"
#include "kernels/splitkv/splitkv.h"

namespace attnscope {

std::span<const Algorithm* const> algorithms() {
  static const NaiveAttention naive;
  static const FlashAttention1 fa1;
  static const FlashAttention2 fa2;
  static const SplitKv splitkv;
  static const FlashAttention3 fa3;
  static const std::array<const Algorithm*, 5> all{&naive, &fa1, &fa2, &splitkv, &fa3};
  return all;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto all = algorithms();
  const auto found = std::ranges::find(all, name, &Algorithm::name);
  return found == all.end() ? nullptr : *found;
}

}  // namespace attnscope
