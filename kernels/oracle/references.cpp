// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/references.h"

#include <algorithm>
#include <array>

namespace attnscope {

namespace {

constexpr std::array reference_table{ReferenceKind{"softmax", reference_attention},
                                     ReferenceKind{"linear", reference_linear_attention}};

}  // namespace

std::span<const ReferenceKind> references() {
  return reference_table;
}

const ReferenceKind* find_reference(std::string_view name) {
  const auto found = std::ranges::find(reference_table, name, &ReferenceKind::name);
  return found == reference_table.end() ? nullptr : &*found;
}

}  // namespace attnscope
