// SPDX-License-Identifier: Apache-2.0
#include "storage/check.h"

#include <algorithm>

namespace attnscope {

FileCheck check_file(const std::filesystem::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  FileCheck check;
  const std::vector<RunSummary> runs = store.runs(true);
  check.runs = runs.size();
  check.unverified =
      static_cast<std::size_t>(std::ranges::count(runs, RunIntegrity::unverified, &RunSummary::integrity));
  store.each_point(
      {}, 0, [&] { check.points = 0; }, [&](StoredPoint&&) { ++check.points; }, true);
  (void)store.statements(true);
  (void)store.ceilings();
  (void)store.noise();
  check.bad_rows = store.bad_rows();
  check.damage = store.structural_damage();
  check.extras = store.extras();
  return check;
}

}  // namespace attnscope
