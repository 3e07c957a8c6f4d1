// SPDX-License-Identifier: Apache-2.0
#include "app/skipped_rows.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "messages/command.h"
#include "profiler/plan/text.h"

namespace attnscope {

ExitCode with_skipped_rows(const RunStore& store, ExitCode code) {
  const std::vector<BadRow> rows = store.bad_rows();
  const std::string file = printable(store.file().string());
  if (const std::size_t unchecked = store.unchecked_points(); unchecked > 0) {
    spdlog::warn("{}", text(say::command::points_unchecked{.file = file, .points = unchecked}));
  }
  if (rows.empty()) return code;
  const std::string where = printable(text(rows.front().where));
  const std::string why = printable(text(rows.front().why));
  if (rows.size() == 1) {
    spdlog::warn("{}", text(say::command::row_skipped{.file = file, .where = where, .why = why}));
  } else {
    spdlog::warn("{}", text(say::command::rows_skipped{.rows = rows.size(), .file = file, .where = where, .why = why}));
  }
  return code == ExitCode::ok ? ExitCode::partial : code;
}

}  // namespace attnscope
