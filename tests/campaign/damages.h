// SPDX-License-Identifier: Apache-2.0
// Random damage to measurement files: bytes, pages and rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "cases.h"

namespace attnscope::testing {

using Random = std::mt19937_64;

/// Uniform random number from 0 to bound - 1; 0 if bound is 0.
[[nodiscard]] inline std::size_t below(Random& random, std::size_t bound) {
  return bound == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

/// Generator for case `index`; independent of order and process.
[[nodiscard]] Random random_of_case(std::uint64_t seed, std::uint64_t index);

void write(const std::filesystem::path& file, const std::string& bytes);

/// Writes a file with three runs on two devices, including points with several kernels, knobs and clocks.
void write_whole(const std::filesystem::path& file);

void damage(const std::filesystem::path& file, const std::string& whole, Random& random);

/// Sets invalid values in a few rows; the file's checksums then do not match.
void change_rows(const std::filesystem::path& file, Random& random);

/// Adds a trigger, view, index or other unexpected definition. `canary`: a program that must not be run.
void change_schema(const std::filesystem::path& file, Random& random, const std::filesystem::path& canary);

}  // namespace attnscope::testing
