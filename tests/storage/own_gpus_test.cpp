// SPDX-License-Identifier: Apache-2.0
#include "storage/own_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kernels/model/device_rates.h"
#include "kernels/model/gpu_values.h"
#include "kernels/registry.h"
#include "profiler/measure/simulated_device.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view doubled_l2 =
    R"({"version": 1, "gpus": [{"name": "Fat H200", "from": "H200", "values": {"l2_mib": 120, "clock_ghz": 1.5}}]})";

std::string error_of(std::string_view text) {
  const auto read = parse_own_gpus(text, "gpus.json");
  EXPECT_FALSE(read) << text;
  return read ? std::string() : attnscope::text(read.error());
}

std::string with_gpu(const std::string& gpu) {
  return R"({"version": 1, "gpus": [)" + gpu + "]}";
}

std::string with_values(const std::string& values) {
  return with_gpu(R"({"name": "mine", "from": "H200", "values": {)" + values + "}}");
}

TEST(OwnGpus, WhatIsNotNamedIsThePublicOnes) {
  const auto gpus = parse_own_gpus(doubled_l2, "gpus.json");
  ASSERT_TRUE(gpus);
  ASSERT_THAT(*gpus, SizeIs(1));
  const DeviceLimits& gpu = gpus->front().limits;
  EXPECT_EQ(gpu.name, "Fat H200");
  EXPECT_EQ(gpus->front().from, "NVIDIA H200");
  EXPECT_EQ(gpu.l2_bytes, 120 * 1024 * 1024);
  EXPECT_EQ(gpu.boost_hz, 1.5e9);
  EXPECT_EQ(gpu.sm_count, 132);
  EXPECT_NEAR(gpu.tensor_flops, 4096 * 132 * 1.5e9, 1) << "the peak at that clock";
  EXPECT_EQ(find_own_gpu(*gpus, "fat h200"), gpus->data());
  EXPECT_EQ(find_own_gpu(*gpus, "fat"), nullptr);
}

// Frozen: the file with every value that it can have, and by which its GPU's runs know it.
TEST(OwnGpus, AFileOfBeforeLoadsAsTheSameDevice) {
  const auto gpus = parse_own_gpus(R"({"version": 1, "gpus": [{"name": "Mine", "from": "NVIDIA H200", "values": {
      "sm_count": 100, "clock_ghz": 1.5, "shared_kib_per_sm": 200, "shared_kib_per_block": 199,
      "registers_per_sm": 32768, "threads_per_sm": 1024, "blocks_per_sm": 16, "l2_mib": 120, "dram_gib": 100,
      "dram_gb_per_second": 5000, "l2_bytes_per_clock": 64, "tensor_flop_per_clock": 8192,
      "exponentials_per_clock": 32}}]})",
                                   "gpus.json");
  ASSERT_TRUE(gpus) << text(gpus.error());
  EXPECT_EQ(make_simulated_device(gpus->front().limits, built_in_algorithms())->info().uuid, "SIM-Mine-6d817d05");
  EXPECT_EQ(find_gpu_value("exponentials_per_clock")->get(gpus->front().limits), 32);
}

TEST(OwnGpus, ComeBackAsTheyWereWritten) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "deeper" / "gpus.json";
  EXPECT_THAT(read_own_gpus(file).value(), IsEmpty()) << "there is no file";
  std::vector<OwnGpu> gpus = parse_own_gpus(doubled_l2, "").value();
  gpus.push_back({.limits = own_gpu_like(*find_gpu("a100"), "wide \"A100\""), .from = "NVIDIA A100 80GB"});
  for (const GpuValue& value : gpu_values()) {
    if (!value.whole) value.set(gpus.back().limits, value.get(gpus.back().limits) * 1.1);
  }
  EXPECT_TRUE(write_own_gpus(file, gpus).empty());
  const auto again = read_own_gpus(file);
  ASSERT_TRUE(again) << text(again.error());
  ASSERT_THAT(*again, SizeIs(2));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    EXPECT_EQ((*again)[i].limits.name, gpus[i].limits.name);
    EXPECT_EQ((*again)[i].from, gpus[i].from);
    EXPECT_EQ(digest_of_values((*again)[i].limits), digest_of_values(gpus[i].limits));
  }
}

// Whoever opens a pipe waits for a writer.
TEST(OwnGpus, WhatIsNoFileIsNotOpened) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "gpus.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "device.json");
  for (const std::filesystem::path& file : {pipe, folder / "device.json"}) {
    const auto read = read_own_gpus(file);
    ASSERT_FALSE(read);
    EXPECT_THAT(text(read.error()), HasSubstr("no regular file"));
  }
}

TEST(OwnGpus, ABadFileIsNamedInOneLine) {
  EXPECT_THAT(error_of(""), HasSubstr("gpus.json: no list of GPUs"));
  EXPECT_THAT(error_of("[1, 2"), HasSubstr("no list of GPUs"));
  EXPECT_THAT(error_of(R"({"version": "one", "gpus": []})"), HasSubstr("no list of GPUs"));
  EXPECT_THAT(error_of(R"({"version": 2, "gpus": []})"), HasSubstr("newer version"));
  EXPECT_THAT(error_of(with_gpu("7")), HasSubstr("GPU 1 is no object"));
  EXPECT_THAT(error_of(with_gpu(R"({"name": "mine", "from": 3, "values": {}})")), HasSubstr("GPU 1 is no object"));
  EXPECT_THAT(error_of(with_gpu(R"({"name": "mine", "from": "H2000", "values": {}})")), HasSubstr("no public GPU"));
  EXPECT_THAT(error_of(with_values(R"("sms": 3)")), HasSubstr("mine has a value sms"));
  EXPECT_THAT(error_of(with_values(R"("sm_count": "3")")), HasSubstr("sm_count of mine is no number"));
  EXPECT_THAT(error_of(with_values(R"("sm_count": 3.5)")), HasSubstr("sm_count of mine is no number"));
  EXPECT_THAT(error_of(with_values(R"("sm_count": -1)")), HasSubstr("mine: SMs is -1"));
  for (const char* ends : {R"("sm_count": 1)", R"("sm_count": 4096)"})
    EXPECT_TRUE(parse_own_gpus(with_values(ends), "gpus.json")) << ends;
  EXPECT_THAT(error_of(with_values(R"("l2_mib": 1e300)")), HasSubstr("mine: L2 is 1e+300"));
  EXPECT_THAT(error_of(with_values(R"("shared_kib_per_sm": 100)")), HasSubstr("A block has more shared memory"));
  EXPECT_THAT(error_of(with_gpu(R"({"name": "A100", "from": "H200", "values": {}})")), HasSubstr("public GPU"));
  const std::string one = R"({"name": "Mine", "from": "H200", "values": {}})";
  EXPECT_THAT(error_of(with_gpu(one + ", " + one)), HasSubstr("two GPUs are named Mine"));
  std::string many = one;
  for (std::size_t i = 0; i < most_own_gpus; ++i) many += ", " + one;
  EXPECT_THAT(error_of(with_gpu(many)), HasSubstr("more than 100 GPUs"));
  EXPECT_THAT(error_of(std::string(2U << 20U, ' ')), HasSubstr("larger than 1024 KiB"));
  EXPECT_THAT(error_of(std::string(100000, '[')), HasSubstr("no list of GPUs"));
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(read_own_gpus(folder.path())) << "a folder";
}

TEST(OwnGpus, AreDevicesOfTheirOwnOnceAValueHasChanged) {
  const auto gpus = parse_own_gpus(doubled_l2, "").value();
  OwnGpu other = gpus.front();
  find_gpu_value("l2_mib")->set(other.limits, 240);
  const auto uuid_of = [](const OwnGpu& gpu) {
    return make_simulated_device(gpu.limits, built_in_algorithms())->info().uuid;
  };
  EXPECT_THAT(uuid_of(gpus.front()), ::testing::StartsWith("SIM-Fat-H200-"));
  EXPECT_NE(uuid_of(gpus.front()), uuid_of(other));
  EXPECT_EQ(make_simulated_device(gpus.front().limits, built_in_algorithms())->info().l2_from, "NVIDIA H200");
}

TEST(OwnGpus, ARunKeepsWhatWasStatedOfItsGpu) {
  const attnscope::testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "own.attnscope";
  DeviceLimits own = own_gpu_like(known_gpus().front(), "Mine");
  find_gpu_value("tensor_flop_per_clock")->set(own, 12345);
  find_gpu_value("exponentials_per_clock")->set(own, 77);
  find_gpu_value("clock_ghz")->set(own, 3.25);
  CompleteRun run;
  run.header = attnscope::testing::full_header();
  run.header.device.simulated = true;
  run.header.device.limits = own;
  RunStore::open(file, RunStore::Mode::collect).add_complete_runs(std::vector{run});
  const std::vector<RunSummary> read = RunStore::open(file, RunStore::Mode::read_only).runs();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(digest_of_values(read[0].limits), digest_of_values(own));
  EXPECT_DOUBLE_EQ(device_rates(read[0].limits).boost_hz, 3.25e9);
  EXPECT_DOUBLE_EQ(device_rates(read[0].limits).per_cycle.exponential, 77);
}

}  // namespace
}  // namespace attnscope
