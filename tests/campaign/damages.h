// SPDX-License-Identifier: Apache-2.0
// What a bad day does to a file of measurements: to its bytes, its pages and its rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "cases.h"

namespace attnscope::testing {

using Random = std::mt19937_64;

/// Evenly from 0 to bound - 1; 0 of none.
[[nodiscard]] inline std::size_t below(Random& random, std::size_t bound) {
  return bound == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

/// Of case number `index` of a campaign; the same in any order and in any process.
[[nodiscard]] Random random_of_case(std::uint64_t seed, std::uint64_t index);

void write(const std::filesystem::path& file, const std::string& bytes);

/// A file with three runs on two devices, of points with several kernels, knobs and clocks among them.
void write_whole(const std::filesystem::path& file);

/// Writes what one of the damages makes of the bytes of a whole file.
void damage(const std::filesystem::path& file, const std::string& whole, Random& random);

/// Sets values in a few rows that nothing of ours writes; the file's digests then tell.
void change_rows(const std::filesystem::path& file, Random& random);

/// Adds a trigger, view, index or other definition that nothing of ours writes; `canary`: a program that may not run.
void change_schema(const std::filesystem::path& file, Random& random, const std::filesystem::path& canary);

}  // namespace attnscope::testing
