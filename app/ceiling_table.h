// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "app/table.h"
#include "kernels/model/ceilings.h"

namespace attnscope {

/// A row a ceiling. For people: what they are called, in units of their size, the clock that the SMs held beside it,
/// and curves as a table of their own, a row a size; for other programs in base units, as they are stored.
void print_ceilings(std::span<const Ceiling> ceilings, TableFormat format, std::ostream& out);

/// The same of several devices or times, for other programs: whose, and when, in columns of their own.
struct CeilingsOf {
  std::string device_uuid;
  std::string measured_at;  ///< empty: never
  std::vector<Ceiling> ceilings;
};
void print_ceilings_of(std::span<const CeilingsOf> sets, TableFormat format, std::ostream& out);

}  // namespace attnscope
