// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/gpu_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "kernels/model/device_rates.h"
#include "kernels/model/gpu_values.h"
#include "kernels/registry.h"
#include "profiler/measure/simulated_device.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/samples.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using test::HasWords;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string with_values(const std::string& values) {
  return fmt::format(R"({{"name": "Fat H200", "from": "H200", "values": {{{}}}}})", values);
}

std::string uuid_of(const DeviceLimits& gpu) {
  return make_simulated_device(gpu, built_in_algorithms())->info().uuid;
}

TEST(GpuFile, MissingValuesComeFromThePublicGpu) {
  const auto gpu = parse_gpu(with_values(R"("l2_mib": 120, "clock_ghz": 1.5)"), "gpu.json");
  ASSERT_TRUE(gpu) << gpu.error();
  EXPECT_EQ(gpu->name, "Fat H200");
  EXPECT_EQ(gpu->l2_bytes, 120 * 1024 * 1024);
  EXPECT_EQ(gpu->boost_hz, 1.5e9);
  EXPECT_EQ(gpu->sm_count, 132);
  EXPECT_NEAR(gpu->tensor_flops, 4096 * 132 * 1.5e9, 1) << "the peak at that clock";
  EXPECT_EQ(make_simulated_device(*gpu, built_in_algorithms())->info().l2_source, "NVIDIA H200");
}

TEST(GpuFile, DifferentValuesMakeADifferentDevice) {
  const std::string uuid = uuid_of(*parse_gpu(with_values(R"("l2_mib": 120)"), ""));
  EXPECT_THAT(uuid, StartsWith("SIM-Fat-H200-"));
  EXPECT_NE(uuid, uuid_of(*parse_gpu(with_values(R"("l2_mib": 240)"), "")));
}

TEST(GpuFile, PrintedGpuRoundTrip) {
  for (const DeviceLimits& known : known_gpus()) {
    const auto gpu = parse_gpu(gpu_text(known), "gpu.json");
    ASSERT_TRUE(gpu) << gpu.error();
    EXPECT_EQ(gpu->name, "My " + known.name);
    EXPECT_EQ(gpu_values_digest(*gpu), gpu_values_digest(make_custom_gpu(known, "")));
    const auto again = parse_gpu(gpu_text(*gpu), "gpu.json");
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(uuid_of(*again), uuid_of(*gpu));
  }
}

TEST(GpuFile, ErrorsAreOneLine) {
  const std::pair<std::string, const char*> cases[] = {
      {"", ""},
      {"[1, 2", ""},
      {std::string(50000, '['), ""},
      {R"({"name": "mine", "from": 3, "values": {}})", ""},
      {R"({"name": "mine", "from": "H200"})", ""},
      {R"({"name": "mine", "from": "H200", "values": {}, "l2_mib": 3})", ""},
      {R"({"name": "mine", "from": "H2000", "values": {}})", "H2000"},
      {R"({"name": "A100", "from": "H200", "values": {}})", "A100"},
      {with_values(R"("sms": 3)"), "sms"},
      {with_values(R"("sm_count": "3")"), "sm_count"},
      {with_values(R"("sm_count": 3.5)"), "sm_count"},
      {with_values(R"("sm_count": -1)"), "sm_count -1 1 4096"},
      {with_values(R"("l2_mib": 1e300)"), "l2_mib 1e+300"},
      {with_values(R"("shared_kib_per_sm": 100)"), "shared_kib_per_block 1 KiB shared_kib_per_sm"},
  };
  for (const auto& [text, words] : cases) {
    const auto gpu = parse_gpu(text, "gpu.json");
    ASSERT_FALSE(gpu) << text;
    EXPECT_THAT(gpu.error(), HasWords(std::string("gpu.json ") + words)) << text;
    EXPECT_EQ(gpu.error().find('\n'), std::string::npos) << text;
  }
  for (const char* ends : {R"("sm_count": 1)", R"("sm_count": 4096)"}) {
    EXPECT_TRUE(parse_gpu(with_values(ends), "gpu.json")) << ends;
  }
}

TEST(GpuFile, NamesADuplicateKey) {
  EXPECT_THAT(parse_gpu(with_values(R"("l2_mib": 120, "l2_mib": 60)"), "gpu.json").error(),
              HasWords("duplicate l2_mib"));
}

// Opening a pipe would block.
TEST(GpuFile, RejectsSpecialAndLargeFiles) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "device.json");
  for (const char* name : {"pipe.json", "device.json", "."}) {
    EXPECT_THAT(read_gpu(folder / name).error(), HasSubstr((folder / name).string())) << name;
  }
  EXPECT_THAT(read_gpu(folder / "missing.json").error(), HasSubstr("missing.json"));
  const std::filesystem::path file = folder / "gpu.json";
  std::ofstream(file) << with_values("") << std::string(65536, ' ');
  EXPECT_THAT(read_gpu(file).error(), HasWords("64 KiB"));
  std::ofstream(file) << with_values("");
  EXPECT_TRUE(read_gpu(file));
}

TEST(GpuFile, RunKeepsHypotheticalGpuRates) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "own.attnscope";
  DeviceLimits own = make_custom_gpu(known_gpus().front(), "Mine");
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
  EXPECT_EQ(gpu_values_digest(read[0].limits), gpu_values_digest(own));
  EXPECT_DOUBLE_EQ(device_rates(read[0].limits).boost_hz, 3.25e9);
  EXPECT_DOUBLE_EQ(device_rates(read[0].limits).per_cycle.exponential, 77);
}

}  // namespace
}  // namespace attnscope
