// SPDX-License-Identifier: Apache-2.0
// Manifest and sources recorded with the points of a user-defined kernel, on a fake GPU (fake/fake_gpu.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/registry.h"
#include "kernels/user/new_kernel.h"
#include "kernels/user/user_kernel.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/metrics/manifest.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

class UserKernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : libraries) setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    setenv("ATTNSCOPE_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    const auto begun = user::write_new_kernel("mine", folder_.path());
    ASSERT_TRUE(begun) << begun.error();
    manifest_ = *begun;
    source_ = manifest_.parent_path() / "mine.cu";
    options_.counters = false;
    options_.verify = false;
    options_.min_samples = options_.max_samples = 2;
  }
  void TearDown() override {
    for (const char* variable : libraries) unsetenv(variable);
    unsetenv("ATTNSCOPE_CACHE_DIR");
    unsetenv("ATTNSCOPE_FAKE_GPU");
  }

  /// Measures with newly loaded files, as a new process would.
  PointRecord measure(std::int64_t n = 64, DType dtype = DType::fp16) const {
    Registry registry;
    auto kernel = user::load_kernel(manifest_);
    EXPECT_TRUE(kernel) << kernel.error();
    registry.add(std::move(kernel).value());
    return measure_with(registry, n, dtype);
  }
  PointRecord measure_with(const Registry& registry, std::int64_t n = 64, DType dtype = DType::fp16) const {
    auto device = open_gpu_device({}, registry);
    EXPECT_TRUE(device) << device.error().message();
    PointSpec spec{.algorithm = "mine", .problem = {}, .tile = {.br = 64, .bc = 64}};
    spec.problem = {.dtype = dtype, .batch = 1, .heads_q = 2, .heads_kv = 2, .n_q = n, .n_k = n, .d = 64};
    return (*device)->measure(spec, options_, {});
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  const testing::TemporaryFolder folder_;
  fs::path manifest_;
  fs::path source_;
  MeasureOptions options_;
};

TEST_F(UserKernelTest, ArgumentsMustMatchTheParameters) {
  setenv("ATTNSCOPE_FAKE_GPU", "parameters=3", 1);
  const PointRecord other_count = measure();
  EXPECT_EQ(other_count.disposition, Disposition::compile_error);
  EXPECT_EQ(other_count.reason.id, "compile.argument_count");
  const auto listed = nlohmann::json::parse(testing::content(manifest_)).at("launches").at(0).at("arguments").size();
  setenv("ATTNSCOPE_FAKE_GPU", ("parameters=" + std::to_string(listed)).c_str(), 1);
  EXPECT_EQ(measure().reason.id, "compile.argument_bytes") << "integers have 4 bytes";
}

TEST_F(UserKernelTest, RecordsManifestAndSources) {
  write(source_.parent_path() / "mine.cuh", "// one\n#include \"deep/mine.cuh\"\n");
  write(source_.parent_path() / "deep/mine.cuh", "// another\n");
  write(source_, "#include \"mine.cuh\"\n#include \"mine.cuh\"\n" + testing::content(source_));
  const PointRecord record = measure();
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  ASSERT_NE(record.manifest, nullptr);
  EXPECT_EQ(record.manifest->text, testing::content(manifest_));
  EXPECT_FALSE(record.manifest->host_code);
  std::vector<std::string> names;
  for (const ManifestSource& source : record.manifest->sources) {
    names.push_back(source.name);
    EXPECT_EQ(source.content, std::nullopt) << source.name;
  }
  EXPECT_THAT(names, ElementsAre("deep/mine.cuh", "mine.cu", "mine.cuh"));
  EXPECT_EQ(record.manifest->sources[0].digest, uuid_of("// another\n"));

  options_.keep_sources = true;
  const PointRecord kept = measure();
  EXPECT_EQ(kept.manifest->sources[0].content, "// another\n");
  EXPECT_EQ(kept.manifest->sources[1].content, testing::content(source_));
  EXPECT_EQ(digest_of(*kept.manifest), digest_of(*record.manifest)) << "kept sources do not change the digest";
}

TEST_F(UserKernelTest, ListsSameNamedFilesOfTwoFolders) {
  write(source_.parent_path() / "a/part.cuh", "#include \"same.cuh\"\n");
  write(source_.parent_path() / "a/same.cuh", "// a\n");
  write(source_.parent_path() / "same.cuh", "// top\n");
  write(source_, "#include \"a/part.cuh\"\n#include \"same.cuh\"\n" + testing::content(source_));
  const PointRecord record = measure();
  ASSERT_NE(record.manifest, nullptr);
  std::vector<std::string> names;
  for (const ManifestSource& source : record.manifest->sources) names.push_back(source.name);
  EXPECT_THAT(names, ElementsAre("a/part.cuh", "mine.cu", "same.cuh", "same.cuh (2)"));
}

TEST_F(UserKernelTest, KeepsAtMost16MiBOfSources) {
  write(source_.parent_path() / "large.cuh", "//" + std::string(max_stored_source_bytes - 2, 'x'));
  write(source_, testing::content(source_) + "#include \"large.cuh\"\n");
  options_.keep_sources = true;
  const PointRecord record = measure();
  ASSERT_EQ(record.manifest->sources.size(), 2U);
  EXPECT_FALSE(record.manifest->sources[0].content.has_value());
  EXPECT_TRUE(record.manifest->sources[1].content.has_value());
}

TEST_F(UserKernelTest, DigestChangesWithAnyFile) {
  const fs::path header = source_.parent_path() / "mine.cuh";
  write(header, "// one\n");
  write(source_, "#include \"mine.cuh\"\n" + testing::content(source_));
  std::set<std::string> launches;
  std::set<std::string> statements;
  const auto look = [&] {
    const PointRecord record = measure();
    ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
    ASSERT_TRUE(record.kernels.at(0).launch || record.kernels.size() > 1);
    for (const KernelRecord& kernel : record.kernels) {
      if (kernel.launch) launches.insert(kernel.launch->digest);
    }
    statements.insert(digest_of(*record.manifest));
  };
  look();
  look();
  EXPECT_EQ(launches.size(), 1U) << "the same files";
  write(header, "// two\n");
  look();
  write(source_, testing::content(source_) + "// more\n");
  look();
  write(manifest_, testing::content(manifest_) + "\n");
  look();
  EXPECT_EQ(launches.size(), 4U);
  EXPECT_EQ(statements.size(), 4U);
}

TEST_F(UserKernelTest, CountsTilesThatShareOneFunction) {
  std::string text = testing::content(manifest_);
  const std::string tile_defines = R"("TILE_BR": "br", "TILE_BC": "bc", )";
  ASSERT_NE(text.find(tile_defines), std::string::npos);
  write(manifest_, text.erase(text.find(tile_defines), tile_defines.size()));
  setenv("ATTNSCOPE_FAKE_GPU", "dirty=200000", 1);
  Registry registry;
  registry.add(user::load_kernel(manifest_).value());
  auto device = open_gpu_device({}, registry);
  ASSERT_TRUE(device) << device.error().message();
  options_.counters = true;
  std::vector<PointRecord> records;
  for (const int bc : {128, 64}) {  // 64 KiB of shared memory, then 32 KiB
    PointSpec spec{.algorithm = "mine", .problem = {}, .tile = {.br = 64, .bc = bc}};
    spec.problem = {.n_q = 128, .n_k = 128, .d = 128};
    records.push_back((*device)->measure_deferred(spec, options_, {}).record);
  }
  ASSERT_EQ(records[0].kernel("all")->launch->digest, records[1].kernel("all")->launch->digest);
  const std::vector both{&records[0], &records[1]};
  (void)(*device)->count(both, options_, {});
  for (const PointRecord& record : records) EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
}

TEST_F(UserKernelTest, VariantsShareOneManifestDigest) {
  std::string text = testing::content(manifest_);
  const std::size_t begin = text.find('{', text.find("\"launches\""));
  const std::size_t end = text.rfind('}', text.rfind(']')) + 1;
  std::string short_variant = text.substr(begin, end - begin);
  const std::string long_variant = short_variant;
  short_variant.insert(1, R"( "source": "short.cu", "when": "n_q < 128",)");
  write(source_.parent_path() / "short.cu", testing::content(source_) + "// short\n");
  text.replace(begin, end - begin,
               short_variant + ", " + std::string(long_variant).insert(1, R"( "when": "n_q >= 128",)"));
  write(manifest_, text);
  const PointRecord of_short = measure(64);
  const PointRecord of_long = measure(128);
  ASSERT_EQ(of_short.disposition, Disposition::ok) << of_short.reason;
  ASSERT_EQ(of_long.disposition, Disposition::ok) << of_long.reason;
  EXPECT_NE(of_short.kernels.at(0).launch->digest, of_long.kernels.at(0).launch->digest);
  EXPECT_EQ(digest_of(*of_short.manifest), digest_of(*of_long.manifest));
}

TEST_F(UserKernelTest, UnreadableVariantKeepsTheManifest) {
  std::string text = testing::content(manifest_);
  const std::size_t begin = text.find('{', text.find("\"launches\""));
  const std::size_t end = text.rfind('}', text.rfind(']')) + 1;
  const std::string launch = text.substr(begin, end - begin);
  text.replace(begin, end - begin,
               std::string(launch).insert(1, R"( "source": "gone.cu", "when": "n_q > 4096",)") + ", " +
                   std::string(launch).insert(1, R"( "when": "n_q <= 4096",)"));
  write(manifest_, text);
  write(source_.parent_path() / "gone.cu", testing::content(source_));
  Registry registry;
  auto kernel = user::load_kernel(manifest_);
  ASSERT_TRUE(kernel) << kernel.error();
  registry.add(std::move(kernel).value());
  fs::remove(source_.parent_path() / "gone.cu");
  const PointRecord record = measure_with(registry);
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  ASSERT_NE(record.manifest, nullptr);
  ASSERT_EQ(record.manifest->sources.size(), 2U);
  EXPECT_EQ(record.manifest->sources[0], (ManifestSource{.name = "gone.cu", .digest = ""}));
  EXPECT_EQ(record.manifest->sources[1].digest, uuid_of(testing::content(source_)));
}

TEST_F(UserKernelTest, KernelFromResultFileIsNotMeasured) {
  auto parsed = user::parse_manifest(testing::content(manifest_), std::nullopt);
  ASSERT_TRUE(parsed) << parsed.error();
  Registry registry;
  registry.add(std::make_unique<user::UserKernel>(std::move(parsed).value()));
  const fs::path before = fs::current_path();
  fs::current_path(source_.parent_path());  // a file of the recorded name exists here
  const PointRecord record = measure_with(registry);
  fs::current_path(before);
  EXPECT_EQ(record.disposition, Disposition::compile_error);
  EXPECT_THAT(text(record.reason), HasSubstr("--kernel"));
  EXPECT_EQ(record.manifest, nullptr);
}

TEST_F(UserKernelTest, Fp32KernelsAreVerified) {
  write(manifest_, R"json({ "attnscope_kernel": 1, "name": "mine", "source": "mine.cu",
    "supports": { "dtype": ["fp32"], "d": [64] }, "tile": { "br": [64], "bc": [64] },
    "launches": [ { "entry": "attn_fa2_forward", "defines": { "ATTN_D": "d", "ATTN_FP32": "fp32" }, "grid": ["1"],
      "block": ["128"], "arguments": ["q", "k", "v", "o", "lse", "int heads", "int 1", "int n_q", "int n_k",
        "float 1 / sqrt(d)", "int heads", "int -1", "int -1", "q", "q", "int 0", "int 256", "int 0"] } ],
    "law": { "like": "fa2" } })json");
  options_.verify = true;
  const auto measured = [&](const char* faults) {
    setenv("ATTNSCOPE_FAKE_GPU", faults, 1);
    PointRecord record = measure(64, DType::fp32);
    unsetenv("ATTNSCOPE_FAKE_GPU");
    return record;
  };
  const PointRecord right = measured("compute-output");
  EXPECT_EQ(right.disposition, Disposition::ok) << right.reason;
  EXPECT_GT(right.error_bound.value(), 0);
  EXPECT_LT(right.error_bound.value(), 1e-4) << "a bound for fp32";
  EXPECT_LT(right.max_abs_error.value(), 1e-6);
  const PointRecord unwritten = measured("");
  EXPECT_EQ(unwritten.disposition, Disposition::incorrect);
  EXPECT_THAT(text(unwritten.reason), HasSubstr("8192 of 8192"));
  const PointRecord overrun = measured("compute-output,overrun=fa2");
  EXPECT_EQ(overrun.disposition, Disposition::incorrect);
}

TEST_F(UserKernelTest, BuiltInKernelHasNoManifest) {
  auto device = open_gpu_device({}, built_in_algorithms());
  ASSERT_TRUE(device) << device.error().message();
  PointSpec spec{.algorithm = "fa2", .problem = {.n_q = 64, .n_k = 64, .d = 64}, .tile = {.br = 64, .bc = 64}};
  EXPECT_EQ((*device)->measure(spec, options_, {}).manifest, nullptr);
}

}  // namespace
}  // namespace attnscope
