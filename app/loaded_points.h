// SPDX-License-Identifier: Apache-2.0
// Loads the points that a command reads, and applies --filter (point_query.h).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/output.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/points/point_table.h"
#include "storage/loaded_runs.h"
#include "storage/run_store.h"

namespace attnscope {

/// Returns `given`, or the recorded `samples` if it is empty, with a note on stderr. Throws CommandError if there are
/// no samples.
[[nodiscard]] std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                                        const std::vector<std::string>& samples);
/// The same for one file.
[[nodiscard]] std::string file_or_sample(const std::string& given);

CLI::Option* add_filter_option(CLI::App& command, std::string& words);

/// Returns the matching rows in ascending order; all rows if `words` is empty. Throws CommandError for an invalid
/// filter (usage) or if no point matches.
[[nodiscard]] std::vector<analysis::Row> matching_rows(const std::string& words, const analysis::PointTable& table);

/// Returns a request that shows progress and reports skipped rows, which change `code`. Both must outlive it.
[[nodiscard]] LoadRequest load_request(StatusLine& status, ExitCode& code);

/// Adds --noise.
void add_noise_option(CLI::App& command, std::string& file);
/// Reads the noise floor of a file. Throws FileError, and CommandError if it has none.
[[nodiscard]] std::vector<StoredNoise> read_noise(const std::string& file, ExitCode& code);
/// Throws CommandError if the noise floor of `file`, given to load_runs(), belongs to none of the runs.
void require_noise(const LoadedRuns&, const std::string& file);

struct LoadedPoints : LoadedRuns {
  ExitCode code = ExitCode::ok;  ///< partial if damaged rows were skipped

  /// Point ids in the file, by row.
  [[nodiscard]] std::vector<std::int64_t> ids() const;
};

/// Throws FileError and CommandError.
[[nodiscard]] LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter = {},
                                       bool keep_points = false);

/// Returns the newest ceilings of a GPU with that name in the file. Throws CommandError (usage) if there are none.
[[nodiscard]] StoredCeilings load_rates(const std::filesystem::path&, const DeviceLimits&);

/// Converts measured ceilings to the form that make_simulated_device() takes.
[[nodiscard]] MeasuredCeilings measured_ceilings(const StoredCeilings&);

/// Returns a sentence that names the source of the rates: GPU, UUID and time.
[[nodiscard]] Message describe_rates(const StoredCeilings&, const DeviceLimits&);

/// Replaces a simulated device by one that uses the measured rates in the file `ceilings`. Throws CommandError (usage)
/// if the device is not simulated or the file has no rates of that GPU.
void predict_with_ceilings(OpenedDevice&, std::string_view word, const std::string& ceilings);

}  // namespace attnscope
