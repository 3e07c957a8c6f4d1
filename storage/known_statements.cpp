// SPDX-License-Identifier: Apache-2.0
#include "storage/known_statements.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/user/known_kernels.h"
#include "profiler/metrics/statement.h"

namespace attnscope {

std::vector<Message> known_statements(const RunStore& store) {
  const auto statements = store.statements();
  std::vector<std::string_view> texts;
  texts.reserve(statements.size());
  for (const auto& each : statements) texts.emplace_back(each->text);
  std::optional<std::map<std::string, std::vector<std::string>>> algorithms;  // all points are read for it
  return user::know_from_file(texts, store.file(), [&](std::size_t i) {
    if (!algorithms) algorithms = store.algorithms_by_statement();
    return (*algorithms)[digest_of(*statements[i])];
  });
}

}  // namespace attnscope
