// SPDX-License-Identifier: Apache-2.0
// Records and files shared by the storage tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "storage/run_store.h"
#include "tests/temporary_folder.h"

namespace attnscope::testing {

/// Returns a header with all fields set to non-default values.
RunHeader full_header();
/// Returns a record with three kernels and their sum, clocks, errors and samples; all fields have non-default values.
PointRecord full_record();
/// Returns an ok fa2 point with sequence length n.
PointRecord simple_record(std::int64_t n);

/// Returns the plan indices of a run's points that are not cancelled.
inline std::vector<std::size_t> places_of(const RunStore& store, std::int64_t run) {
  std::vector<std::size_t> places;
  for (const MeasuredRounds& point : store.measured_rounds(run)) places.push_back(point.index);
  return places;
}
/// Reopens the last run.
inline std::int64_t reopened_run(RunStore& store) {
  const std::int64_t run = store.runs().back().id;
  store.reopen_run(run);
  return run;
}

std::vector<std::int64_t> lengths_in(const std::filesystem::path& file);

/// Returns the FileError that `action` throws; fails the test if it throws none.
template <class Action>
FileError storage_error_of(Action&& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error;
  }
  return {FileError::Kind::other, Message::verbatim("nothing was thrown")};
}

}  // namespace attnscope::testing
