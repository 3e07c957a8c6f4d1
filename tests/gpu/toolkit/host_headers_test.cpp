// SPDX-License-Identifier: Apache-2.0
// User-defined sources that were written for nvcc, compiled with the real NVRTC.
#include "profiler/measure/gpu/user/user_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "user_source_fixture.h"

namespace attnscope::gpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostHeadersTest : public UserSourceTest {
 protected:
  void SetUp() override {
    UserSourceTest::SetUp();
    if (!has_builder()) GTEST_SKIP() << "no NVRTC";
  }
  [[nodiscard]] std::string error(const std::string& headers, const std::string& statements) {
    return english_text(
        build(headers + "\nextern \"C\" __global__ void own(float* x) {\n" + statements + "\n}\n").report.error);
  }
};

TEST_F(HostHeadersTest, StandInsCompile) {
  std::string all = "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n";
  for (const EmbeddedSource& header : host_headers())
    all += fmt::format("#include <{0}>\n#include <{0}>\n", header.path);
  EXPECT_EQ(error(all, R"(
  static_assert(sizeof(std::uint32_t) == 4 && sizeof(int64_t) == 8 && UINT32_MAX == 4294967295u, "");
  static_assert(std::is_same_v<std::conditional_t<true, float, int>, float>, "");
  static_assert(std::numeric_limits<int>::max() == INT_MAX && FLT_MAX > 3e38f && FLT_MIN < 2e-38f, "");
  static_assert(std::is_same_v<decltype(std::exp(1.0f)), float>, "");
  constexpr float lowest = -INFINITY;
  assert(x[0] == x[0]);
  printf("%f", x[0]);
  std::size_t n = sizeof(nullptr_t);
  x[1] = std::max(std::sqrt(x[1]), lowest) + std::min(n, std::size_t{3}) + NAN + M_PI;)"),
            "");
  EXPECT_EQ(error("using namespace std;\n#include <cmath>\n#include <algorithm>\n#include <utility>\n",
                  "x[0] = max(sqrt(x[1]), min(x[2], abs(x[3]))); x[4] = std::move(x[1]);"),
            "");
}

// nvcc includes cuda_runtime.h, and thus these, in each file.
TEST_F(HostHeadersTest, TypesAndMathNeedNoInclude) {
  EXPECT_EQ(error("", "uint32_t n = 3; x[0] = n + INFINITY + std::fabs(x[1]);"), "");
}

TEST_F(HostHeadersTest, UserFilesReplaceStandIns) {
  write("math.h", "#define VALUE_OF_USER 1\n");
  write("include/cfloat", "#define OTHER_OF_USER 2\n");
  EXPECT_EQ(error("#include \"math.h\"\n#include <cfloat>\n", "x[0] = VALUE_OF_USER + OTHER_OF_USER + INFINITY;"), "");
  const std::string before = digest();
  write("math.h", "#define VALUE_OF_USER 2\n");
  EXPECT_NE(digest(), before);
}

TEST_F(HostHeadersTest, SourcesMayDeclareNamesThatTheyDoNotInclude) {
  EXPECT_EQ(error("constexpr float M_LOG2E = 1.5f;\nenum { CHAR_BIT = 8, INT_MAX = 4 };\n",
                  "x[0] = M_LOG2E + CHAR_BIT + INT_MAX + INFINITY; int16_t y = 2; x[1] = y;"),
            "");
  EXPECT_EQ(error("typedef unsigned long uint64_t;\n", "uint64_t n = 3; x[0] = n;"), "");
  EXPECT_THAT(error("typedef unsigned long uint64_t;\ntypedef int uint64_t;\n", ""), HasSubstr("uint64_t"));
}

// NVRTC prefers stand-ins to files for both forms of #include.
TEST_F(HostHeadersTest, FilesIncludedByQuotesDoNotReplaceSystemHeaders) {
  std::filesystem::create_directory(folder_ / "utils");
  write("utils/math.h", "#define VALUE_OF_USER 1\n");
  write("utils/all.h", "#include \"math.h\"\n");
  EXPECT_EQ(error("#include \"utils/all.h\"\n#include <math.h>\n", "x[0] = VALUE_OF_USER + M_PI;"), "");
}

TEST_F(HostHeadersTest, CcclIsFound) {
  EXPECT_EQ(error("#include <cuda/std/limits>\n", "x[0] = cuda::std::numeric_limits<float>::max();"), "");
}

TEST_F(HostHeadersTest, EntriesInstantiateTemplates) {
  const std::string text =
      "#include <cstdint>\nnamespace ns { template <int BR, int D, bool causal, typename T>\n"
      "__global__ void kernel(T* x) { __shared__ float s[BR * D]; s[threadIdx.x] = causal; x[0] = s[0]; }\n}\n";
  const std::string entry = "ns::kernel<ROWS, HEAD, true, float>";
  const BuiltKernel built = build(text, entry, {"ROWS=16", "HEAD=32"});
  EXPECT_EQ(english_text(built.report.error), "");
  EXPECT_EQ(built.symbol, "_ZN2ns6kernelILi16ELi32ELb1EfEEvPT2_");
  EXPECT_EQ(built.report.static_shared_bytes, 16 * 32 * 4) << "figures of the instance";
  const BuiltKernel again = build(text, entry, {"ROWS=16", "HEAD=32"});
  EXPECT_TRUE(again.report.cached);
  EXPECT_EQ(again.symbol, built.symbol) << "from the cache";
  EXPECT_NE(build(text, entry, {"ROWS=32", "HEAD=32"}).symbol, built.symbol);
  EXPECT_THAT(english_text(build(text, "ns::kernel<ROWS>", {"ROWS=16"}).report.error), HasSubstr("ns::kernel"));
}

TEST_F(HostHeadersTest, EntriesMayBeMangled) {
  const std::string text =
      "namespace ns { __global__ void kernel(float* x) { x[0] = 1; } }\n"
      "static __global__ void hidden(float* x) { x[0] = 1; }\n"
      "__global__ void two(float* x) { x[0] = 1; }\n__global__ void two(int* x) { x[0] = 1; }\n";
  EXPECT_EQ(build(text, "ns::kernel").symbol, "_ZN2ns6kernelEPf");
  EXPECT_EQ(build(text, "_ZN2ns6kernelEPf").symbol, "_ZN2ns6kernelEPf");
  EXPECT_EQ(build(text, "hidden").report.error, Message());
  EXPECT_THAT(english_text(build(text, "two").report.error), AllOf(HasSubstr("_Z3twoPf"), HasSubstr("_Z3twoPi")));
}

TEST_F(HostHeadersTest, OptionsArePassedOnce) {
  EXPECT_EQ(
      english_text(build("extern \"C\" __global__ void own(float* x) { static_assert(__cplusplus > 201703L && N == "
                         "4, \"\"); x[0] = 1; }\n",
                         "own", {"N=4"}, {"--std=c++20", "-DN=5", "-DN=4", "--use_fast_math", "--use_fast_math"})
                       .report.error),
      "");
  UserSource own = *source();
  own.options = {"--std=c++20", "-DN=5", "--ftz=true", "--ftz=false"};
  const KernelSource kernel{.file = "own/kernel.cu",
                            .entry = "own",
                            .defines = {"N=4"},
                            .user_source = std::make_shared<const UserSource>(std::move(own))};
  EXPECT_THAT(compile_options(kernel, "sm_80"),
              ElementsAre("--gpu-architecture=sm_80", "--device-as-default-execution-space", "--ptxas-options=-v",
                          "--std=c++20", "--ftz=false", "-DN=4"));
}

}  // namespace
}  // namespace attnscope::gpu
