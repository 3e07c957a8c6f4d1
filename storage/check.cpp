// SPDX-License-Identifier: Apache-2.0
#include "storage/check.h"

namespace attnscope {

FileCheck check_file(const std::filesystem::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  FileCheck check;
  check.runs = store.runs().size();
  check.points = store.points().size();
  check.unchecked = store.unchecked_points();
  check.bad_rows = store.bad_rows();
  check.damage = store.structural_damage();
  check.extras = store.extras();
  return check;
}

}  // namespace attnscope
