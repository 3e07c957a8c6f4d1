// SPDX-License-Identifier: Apache-2.0
// Imported values that the named GPU cannot have produced.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/exchange/tables.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Import on(const char* device, const std::string& rows) {
  return imported("algorithm,N,heads,d,time_ms,dram_read_bytes,dram_write_bytes\n" + rows, ImportFormat::csv,
                  {.device_name = device});
}

std::string reason_of(const Import& import, std::size_t point = 0) {
  return text(import.devices.at(0).points.at(point).reason);
}

TEST(ImpossibleValues, AboveTheDramRoof) {
  const Import import = on("A100 40GB", "a,32768,32,128,300,1e12,1e6\na,32768,32,128,1000,1e12,1e6\n");
  EXPECT_THAT(reason_of(import), HasSubstr("impossible: 214% of the DRAM rate"));
  EXPECT_EQ(reason_of(import, 1), "");
  ASSERT_FALSE(import.notes.empty());
  EXPECT_THAT(text(import.notes.front()), AllOf(HasSubstr("N 32768"), HasSubstr("214% of the DRAM rate")));
  EXPECT_TRUE(on("Some GPU", "a,32768,32,128,300,1e12,1e6\n").notes.empty()) << "its roof is not known";
  EXPECT_THAT(reason_of(on("Some GPU", "a,32768,32,128,0.3,1e12,1e6\n")), HasSubstr("a unit off by 1,000 is likely"));
}

TEST(ImpossibleValues, AboveTheFlopPeak) {
  const Import import = on("H200", "a,4096,32,128,0.1,1e8,1e6\n");
  EXPECT_THAT(reason_of(import), AllOf(HasSubstr("of the FLOP rate"), Not(HasSubstr("1,000"))));
  EXPECT_THAT(reason_of(on("H200", "a,4096,32,128,0.0007,,\n")), HasSubstr("a unit off by 1,000 is likely"))
      << "0.7 µs for 0.7 ms";
}

// Nominal 1,187 and 1,286 TFLOP/s of 989: a backward pass that stores P executes 8 of the 10 nominal d per pair.
TEST(ImpossibleValues, BackwardMayExecuteFewerFlopsThanNominal) {
  const auto reason = [](const std::string& row) {
    return reason_of(imported("algorithm,pass,N,heads,d,time_ms\n" + row, ImportFormat::csv, {.device_name = "H200"}));
  };
  EXPECT_EQ(reason("a,bwd,4096,32,128,0.579\n"), "");
  EXPECT_THAT(reason("a,bwd,4096,32,128,0.534\n"), HasSubstr("104% of the FLOP rate"));
  EXPECT_THAT(reason("a,fwd,4096,32,128,0.2316\n"), HasSubstr("120% of the FLOP rate"));
}

// 32 heads of 4096 rows of 128 values: O has 33.6 MB.
TEST(HalfFilledSectors, AreNotedForTheFirstPoint) {
  const std::string header = "algorithm,N,heads,d,time_ms,sm_to_l2_bytes\n";
  const std::string twice = "a,4096,32,128,1,67108864\n";
  const auto notes = [&](const std::string& rows) {
    std::string all;
    for (const Message& note : imported(header + rows, ImportFormat::csv, {.device_name = "H200"}).notes)
      all += text(note) + "\n";
    return all;
  };
  EXPECT_THAT(notes(twice), AllOf(HasSubstr("N 4096"), HasSubstr("2.00 times"), HasSubstr("32-byte sectors")));
  EXPECT_THAT(notes(twice + "b,4096,32,128,1,67108864\n"), HasSubstr("2 points"));
  EXPECT_THAT(notes("a,4096,32,128,1,33554432\n"), Not(HasSubstr("sectors")));
}

TEST(ImpossibleValues, FewerBytesThanCompulsory) {
  // Q, K, V and O of 64 heads: 537 MB; the L2 of an H200 holds 50 MiB.
  EXPECT_THAT(reason_of(on("H200", "a,8192,64,128,10,4e8,1e6\n")), HasSubstr("401 MB of DRAM traffic"));
  EXPECT_EQ(reason_of(on("H200", "a,8192,64,128,10,5e8,1e6\n")), "");
  EXPECT_THAT(reason_of(on("H200", "a,8192,64,128,10,5e5,1e3\n")), HasSubstr("a unit off by 1,000 is likely"));
}

TEST(ImpossibleValues, FewerReadsThanCompulsory) {
  // Q, K and V of 64 heads: 403 MB. Writes are unknown.
  EXPECT_THAT(reason_of(on("H200", "a,8192,64,128,10,3e8,\n")), HasSubstr("300 MB of DRAM traffic"));
  EXPECT_EQ(reason_of(on("H200", "a,8192,64,128,10,3.6e8,\n")), "");
  const Import rate = imported("algorithm,N,heads,d,time_ms,DRAM (GB/s)\na,8192,64,128,10,4\na,8192,64,128,10,50\n",
                               ImportFormat::csv, {.device_name = "H200"});
  EXPECT_THAT(reason_of(rate), HasSubstr("40 MB of DRAM traffic"));
  EXPECT_EQ(reason_of(rate, 1), "");
}

TEST(ImpossibleValues, StateOfTheL2IsUnknownUnlessStated) {
  const auto cache_of = [](const Import& import) { return import.devices.at(0).points.at(0).spec.cache; };
  const Import none = imported("algorithm,N,heads,d,time_ns\na,64,1,64,5\n");
  EXPECT_TRUE(none.l2_unknown);
  EXPECT_EQ(cache_of(none), CacheState::unknown);
  const Import empty = imported("algorithm,N,heads,d,cache,time_ns\na,64,1,64,,5\na,128,1,64,cold,5\n");
  EXPECT_EQ(cache_of(empty), CacheState::unknown);
  const Import warm = imported("algorithm,N,heads,d,cache,time_ns\na,64,1,64,warm,5\n");
  EXPECT_FALSE(warm.l2_unknown);
  EXPECT_EQ(cache_of(warm), CacheState::warm);
  const Import cold =
      imported("algorithm,N,heads,d,time_ns\na,64,1,64,5\n", ImportFormat::csv, {.given = {{"cache", "cold"}}});
  EXPECT_FALSE(cold.l2_unknown);
  EXPECT_EQ(cache_of(cold), CacheState::cold);
}

}  // namespace
}  // namespace attnscope::testing
