// SPDX-License-Identifier: Apache-2.0
// Sets of rows that were found of a device at one time: its ceilings, its noise. A set's uid is the digest of all that
// it says: equal sets are one, and one that is not what was written is known by it. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <string>

#include "storage/digest.h"
#include "storage/rows.h"

namespace attnscope {

/// The tables of one kind of set.
struct DeviceSets {
  const char* sets;         ///< table
  const char* set_kind;     ///< in its digest
  const char* set_columns;  ///< what it says beside its device, environment and time; "" or with a comma before each
  const char* rows;         ///< table
  const char* row_kind;
  const char* row_columns;
};
inline constexpr DeviceSets ceiling_sets{
    "ceiling_sets", "ceiling_set", "", "ceilings", "ceiling", "name, argument, value, q1, q3, unit, provenance"};
inline constexpr DeviceSets noise_sets{"noise_sets", "noise_set", ", s.recordings, s.rounds, s.provenance",
                                       "noise",      "noise",     "point, name, value"};

/// What the set says, as it stands there.
[[nodiscard]] Digest digest_of_set(SQLite::Database&, const DeviceSets&, std::int64_t set);

/// Gives a set that was just written its uid; takes it away where all that it says is there already. The uid.
std::string name_set(SQLite::Database&, const DeviceSets&, std::int64_t set);

/// What every set says of itself.
struct SetHeading {
  std::string uid;
  std::string device_uuid;
  std::string device_name;
  std::string measured_at;
  Environment environment;
};
/// Each set by device, the oldest first: `take` reads what DeviceSets::set_columns has, and the rows. What it throws as
/// a RowError, or what is not what was written, goes to `note`.
void read_sets(SQLite::Database&, const DeviceSets&,
               const std::function<void(SetHeading&&, std::int64_t set, Reader&)>& take,
               const std::function<void(std::int64_t set, const Message& why)>& note);

}  // namespace attnscope
