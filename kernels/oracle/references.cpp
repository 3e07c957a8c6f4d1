// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/references.h"

#include <algorithm>
#include <array>

namespace attnscope {

namespace {

constexpr std::array known_references{ReferenceKind{"softmax", reference_attention},
                                      ReferenceKind{"linear", reference_linear_attention}};

}  // namespace

std::span<const ReferenceKind> references() {
  return known_references;
}

const ReferenceKind* find_reference(std::string_view name) {
  const auto found = std::ranges::find(known_references, name, &ReferenceKind::name);
  return found == known_references.end() ? nullptr : &*found;
}

}  // namespace attnscope
