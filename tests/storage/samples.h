// SPDX-License-Identifier: Apache-2.0
// Records and files that the storage tests share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "storage/run_store.h"
#include "tests/temporary_folder.h"

namespace attnscope::testing {

/// Every field set, none to its default.
RunHeader full_header();
/// Three kernels and their sum, clocks, errors, samples; every field set, none to its default.
PointRecord full_record();
/// An ok fa2 point of length n.
PointRecord simple_record(std::int64_t n);

/// Places of a run's points that are not cancelled.
inline std::vector<std::size_t> places_of(const RunStore& store, std::int64_t run) {
  std::vector<std::size_t> places;
  for (const MeasuredRounds& point : store.measured_rounds(run)) places.push_back(point.index);
  return places;
}
/// The last run, which is continued.
inline std::int64_t reopened_run(RunStore& store) {
  const std::int64_t run = store.runs().back().id;
  store.reopen_run(run);
  return run;
}

/// N of a file's points.
std::vector<std::int64_t> lengths_in(const std::filesystem::path& file);

/// The failure that `action` throws; a test failure when it throws none.
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
