// SPDX-License-Identifier: Apache-2.0
// What the users' kernels of a file were stated by, as rows. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/metrics/point.h"

namespace attnscope {

struct StatementRow {
  std::string digest;                                ///< as the row says it: points are known by it
  std::string algorithm;                             ///< of the points
  std::shared_ptr<const KernelStatement> statement;  ///< null where it is not what was written
};

/// Whether points of that algorithm may refer to it. Two that `ab` compares may be of one statement: "mine", "mine.2".
[[nodiscard]] bool is_of(const StatementRow&, std::string_view algorithm);

/// By id. `select` prepares a query. `contents`: of sources that were kept, too; else
/// nobody looks whether these are what was written. `note` is told what is wrong with one.
[[nodiscard]] std::unordered_map<std::int64_t, StatementRow> read_statements(
    const std::function<SQLite::Statement&(std::string_view)>& select, bool contents,
    const std::function<void(std::int64_t id, const Message& why)>& note);

}  // namespace attnscope
