// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/impossible_values.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/metrics/metrics.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

/// Imported point of one head, N 1024, d 64, with its time and DRAM bytes; 0: unknown.
PointRecord imported(double ns, double read, double write) {
  PointRecord record = fixtures::imported_point("theirs", {.n_q = 1024, .n_k = 1024, .d = 64}, ns);
  for (const auto& [key, bytes] :
       {std::pair(metric_key::dram_read_bytes, read), std::pair(metric_key::dram_write_bytes, write)}) {
    if (bytes > 0) record.kernels[0].metrics.push_back({std::string(key), bytes, "byte", Provenance::imported});
  }
  return record;
}

// Q, K, V and O have 4 x 131,072 bytes, of which an L2 of 24,288 bytes may hold some: 500,000 pass at least, 368,928 of
// them as reads.
TEST(ImpossibleValue, BoundsThemselvesArePossible) {
  DeviceLimits gpu = fixtures::h200();
  gpu.dram_bytes_per_second = 1e12;
  gpu.tensor_flops = 1e15;
  gpu.l2_bytes = 24'288;
  struct {
    double ns, read, write;
    std::optional<BrokenLimit> broken;
  } const cases[] = {{1e6, 400'000, 100'000, std::nullopt},
                     {1e6, 400'000, 99'999, BrokenLimit::compulsory_bytes},
                     {1e6, 368'928, 200'000, std::nullopt},
                     {1e6, 368'927, 200'000, BrokenLimit::compulsory_bytes},
                     {1e6, 368'928, 0, std::nullopt},
                     {1e6, 368'927, 0, BrokenLimit::compulsory_bytes},
                     {1e6, 0, 0, std::nullopt},
                     {1e6, 1.04e9, 0.5e6, std::nullopt},
                     {1e6, 1.04e9, 20e6, BrokenLimit::dram_rate},
                     {1e6, 1.06e9, 0, BrokenLimit::dram_rate},  // reads alone
                     {269, 0, 0, std::nullopt},                 // 268,435,456 FLOPs
                     {268, 0, 0, BrokenLimit::flop_rate}};
  for (const auto& [ns, read, write, broken] : cases) {
    const PointRecord record = imported(ns, read, write);
    const auto found = impossible_value(record, gpu);
    ASSERT_EQ(found.has_value(), broken.has_value()) << ns << ' ' << read << ' ' << write;
    if (found) {
      EXPECT_EQ(found->limit, *broken) << ns << ' ' << read << ' ' << write;
    }
  }
  PointRecord measured = imported(268, 0, 0);
  measured.provenance = Provenance::measured;
  EXPECT_FALSE(impossible_value(measured, gpu));
}

TEST(ImpossibleValue, GpusShareTheReads) {
  DeviceLimits gpu = fixtures::h200();
  gpu.dram_bytes_per_second = 1e12;
  // In 1 ms, each of two GPUs reads 0.6 or 1.1 of the 1e9 bytes that it can.
  PointRecord record = imported(1e6, 1.2e9, 0);
  record.spec.problem.gpus = 2;
  EXPECT_FALSE(impossible_value(record, gpu));
  record = imported(1e6, 2.2e9, 0);
  record.spec.problem.gpus = 2;
  const auto found = impossible_value(record, gpu);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->limit, BrokenLimit::dram_rate);
  EXPECT_DOUBLE_EQ(found->ratio(), 1.1);
}

TEST(ImpossibleValue, UnknownLimitsAreTheLargestOfTheArchitecture) {
  DeviceLimits gpu = fixtures::h200();
  gpu.dram_bytes_per_second = 0;
  double largest = 0;
  double of_all = 0;
  for (const DeviceLimits& known : known_gpus()) {
    of_all = std::max(of_all, known.dram_bytes_per_second);
    if (known.compute_major == gpu.compute_major && known.compute_minor == gpu.compute_minor) {
      largest = std::max(largest, known.dram_bytes_per_second);
    }
  }
  const auto found = impossible_value(imported(1e6, 1e11, 0), gpu);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bound, largest);
  gpu.compute_major = 0;
  EXPECT_EQ(impossible_value(imported(1e6, 1e11, 0), gpu)->bound, 2 * of_all);
}

TEST(ImpossibleValue, AFactorAboveAHundredIsAUnitError) {
  for (const auto& [value, likely] :
       {std::pair(100.0, false), std::pair(101.0, true), std::pair(1 / 64.0, false), std::pair(1 / 128.0, true)}) {
    EXPECT_EQ((ImpossibleValue{.value = value, .bound = 1}.is_likely_unit_error()), likely) << value;
  }
}

}  // namespace
}  // namespace attnscope::analysis
