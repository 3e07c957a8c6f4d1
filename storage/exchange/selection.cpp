// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/selection.h"

#include <algorithm>
#include <unordered_set>

namespace attnscope::exchange {

Selection select(const RunStore& store, std::span<const std::int64_t> wanted) {
  Selection selection{store.runs(), store.points(wanted)};
  for (const std::int64_t id : wanted) {
    const bool known =
        std::any_of(selection.runs.begin(), selection.runs.end(), [&](const RunSummary& run) { return run.id == id; });
    if (!known) {
      throw FileError(FileError::Kind::other, "{} has no run {}; `attnscope info` lists its runs",
                      store.file().string(), id);
    }
  }
  if (!wanted.empty()) {
    std::erase_if(selection.runs, [&](const RunSummary& run) {
      return std::find(wanted.begin(), wanted.end(), run.id) == wanted.end();
    });
  }
  return selection;
}

void keep_points(Selection& selection, std::span<const std::int64_t> ids) {
  const std::unordered_set<std::int64_t> kept(ids.begin(), ids.end());
  std::erase_if(selection.points, [&](const StoredPoint& point) { return !kept.contains(point.id); });
}

}  // namespace attnscope::exchange
