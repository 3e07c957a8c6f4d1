// SPDX-License-Identifier: Apache-2.0
#include "storage/known_statements.h"

#include <utility>

#include "kernels/user/known_kernels.h"

namespace attnscope {

std::vector<Message> known_statements(const RunStore& store) {
  std::vector<Message> not_taken;
  for (const auto& statement : store.statements()) {
    Message why = user::know_from_file(statement->text, store.file());
    if (!why.empty()) not_taken.push_back(std::move(why));
  }
  return not_taken;
}

}  // namespace attnscope
