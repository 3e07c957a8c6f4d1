// SPDX-License-Identifier: Apache-2.0
#include "storage/check.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/collector_lock.h"
#include "storage/database.h"
#include "storage/run_digests.h"

namespace attnscope {

FileCheck check_file(const std::filesystem::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  FileCheck check;
  check.runs = store.runs(true).size();
  store.each_point(
      {}, 0, [&] { check.points = 0; }, [&](StoredPoint&&) { ++check.points; }, true);
  (void)store.statements(true);
  (void)store.ceilings();
  (void)store.noise();
  check.unchecked = store.unchecked_points();
  check.unchecked_rows = with_storage_errors(file, [&] {
    const bool written = CollectorLock::held(store.file()) || has_journal(store.file());
    const auto database = open_database(store.file(), written ? DatabaseAccess::read_only : DatabaseAccess::immutable);
    return unsigned_rows(*database).count();
  });
  check.bad_rows = store.bad_rows();
  check.damage = store.structural_damage();
  check.extras = store.extras();
  return check;
}

}  // namespace attnscope
