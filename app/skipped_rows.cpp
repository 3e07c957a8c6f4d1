// SPDX-License-Identifier: Apache-2.0
#include "app/skipped_rows.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "profiler/plan/text.h"

namespace attnscope {

ExitCode with_skipped_rows(const RunStore& store, ExitCode code) {
  const std::vector<BadRow> rows = store.bad_rows();
  if (rows.empty()) return code;
  spdlog::warn("{} row{} of {} skipped: {}: {}{}", rows.size(), rows.size() == 1 ? "" : "s",
               printable(store.file().string()), printable(rows.front().where), printable(rows.front().why),
               rows.size() == 1 ? "" : "; `attnscope info` lists them all");
  return code == ExitCode::ok ? ExitCode::partial : code;
}

}  // namespace attnscope
