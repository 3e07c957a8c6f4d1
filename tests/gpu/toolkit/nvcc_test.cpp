// SPDX-License-Identifier: Apache-2.0
// Compilation with nvcc: a script stands in for it, and the real one is used if it is installed.
#include "profiler/measure/gpu/driver/nvcc.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>

#include "user_source_fixture.h"

namespace attnscope::gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Compiler = UserSource::Compiler;

class NvccTest : public UserSourceTest {
 protected:
  void SetUp() override {
    UserSourceTest::SetUp();
    if (!has_builder()) GTEST_SKIP() << "no NVRTC";
  }
  void TearDown() override { ::unsetenv("ATTNSCOPE_NVCC"); }

  /// A compiler that appends its arguments and its last input to calls.txt and writes ready.cubin.
  void use_script(const std::string& version, const std::string& compile) {
    write("nvcc",
          fmt::format("#!/bin/sh\nif [ \"$1\" = --version ]; then echo \"{0}\"; exit 0; fi\n"
                      "echo \"$@\" >> {1}/calls.txt\nfor last; do :; done\ncat \"$last\" >> {1}/calls.txt\n{2}\n",
                      version, folder_.path().string(), compile));
    ::chmod((folder_ / "nvcc").c_str(), 0700);
    ::setenv("ATTNSCOPE_NVCC", (folder_ / "nvcc").c_str(), 1);
  }
  [[nodiscard]] std::string copy() const { return fmt::format("cp {}/ready.cubin \"$3\"", folder_.path().string()); }
  [[nodiscard]] std::string calls() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "calls.txt").rdbuf();
    return text.str();
  }
  KernelLaunch launch_of(const std::string& text, const std::string& entry = "own",
                         std::vector<std::string> options = {}) {
    write("own.cu", text);
    UserSource own = *source(UserSource::Kind::cuda, "own.cu");
    own.compiler = Compiler::nvcc;
    own.options = std::move(options);
    KernelLaunch launch;
    launch.source = {.file = "own/own.cu",
                     .entry = entry,
                     .defines = {"ROWS=8"},
                     .user_source = std::make_shared<const UserSource>(std::move(own))};
    launch.arguments = {BufferArgument{"q"}};
    return launch;
  }
  BuiltKernel compile(const std::string& text, const std::string& entry = "own",
                      std::vector<std::string> options = {}) {
    const KernelLaunch launch = launch_of(text, entry, std::move(options));
    return KernelBuilder::open(folder_ / "cache").value()->build("sm_90a", launch);
  }
};

TEST_F(NvccTest, CompilesOnceAndCachesByVersion) {
  write("ready.cubin", build("extern \"C\" __global__ void own(int* x) { *x = 1; }\n").cubin);
  use_script("release 1", copy() +
                              "\necho \"ptxas info    : Compiling entry function 'own' for 'sm_90a'\"\n"
                              "echo 'ptxas info    : Used 42 registers'");
  const BuiltKernel built = compile("#include <vector>\n", "own", {"--expt-relaxed-constexpr", "--std=c++20"});
  EXPECT_EQ(english_text(built.report.error), "");
  EXPECT_EQ(built.report.registers, 42);
  EXPECT_EQ(built.symbol, "own");
  EXPECT_THAT(calls(), AllOf(HasSubstr("-cubin -o "),
                             HasSubstr("--gpu-architecture=sm_90a --ptxas-options=-v "
                                       "--expt-relaxed-constexpr --std=c++20 -DROWS=8 -I"),
                             HasSubstr((folder_ / "include").string()), HasSubstr("#include <vector>"),
                             Not(HasSubstr("default-execution-space"))));
  const std::string before = calls();
  EXPECT_TRUE(compile("#include <vector>\n", "own", {"--expt-relaxed-constexpr", "--std=c++20"}).report.cached);
  EXPECT_EQ(calls(), before);
  use_script("release 2", copy());
  EXPECT_FALSE(compile("#include <vector>\n", "own", {"--expt-relaxed-constexpr", "--std=c++20"}).report.cached);
}

TEST_F(NvccTest, TemplatesAreInstantiated) {
  write("ready.cubin", build("template <int R> __global__ void own(int* x) { *x = R; }\n"
                             "template __global__ void own<8>(int*); template __global__ void own<4>(int*);\n"
                             "template <class F, F* entry> __global__ void attnscope_entry() {}\n"
                             "template __global__ void attnscope_entry<decltype(own<8>), own<8>>();\n",
                             "own<4>")
                           .cubin);
  use_script("release 1", copy());
  EXPECT_EQ(compile("// a template\n", "own<ROWS>").symbol, "_Z3ownILi8EEvPi");
  EXPECT_THAT(calls(), AllOf(HasSubstr(fmt::format("#include \"{}\"", (folder_ / "own.cu").string())),
                             HasSubstr("<decltype(own<8>), own<8>>();")));
  EXPECT_EQ(compile("// a template\n", "own<Alias>").symbol, "_Z3ownILi8EEvPi") << "the instance names the symbol";
}

TEST_F(NvccTest, FailuresHaveReasons) {
  use_script("release 1", "echo 'own.cu(7): warning #1-D: odd'\necho 'own.cu(9): error: wrong' >&2\nexit 2");
  EXPECT_EQ(english_text(compile("").report.error),
            "nvcc ended with exit code 2\nown.cu(9): error: wrong\nown.cu(7): warning #1-D: odd\n");
  write("ready.cubin", build("extern \"C\" __global__ void other(int* x) { *x = 1; }\n", "other").cubin);
  use_script("release 2", copy());
  EXPECT_THAT(english_text(compile("").report.error), HasSubstr("its kernels: other"));
  ::setenv("ATTNSCOPE_NVCC", (folder_ / "nowhere").c_str(), 1);
  EXPECT_THAT(english_text(compile("").report.error), AllOf(HasSubstr("nowhere"), HasSubstr("ATTNSCOPE_NVCC")));
}

TEST_F(NvccTest, ChildrenEndAtTheTimeout) {
  use_script("release 1", "sleep 1000");
  const ChildOutput output =
      run_child({(folder_ / "nvcc").string(), "x"}, folder_.path(), std::chrono::milliseconds(50));
  EXPECT_TRUE(output.timed_out);
  EXPECT_EQ(output.exit_code, -1);
  const ChildOutput long_text = run_child({"/bin/sh", "-c", "head -c 3000000 /dev/zero; echo $TMPDIR >&2; exit 3"},
                                          folder_.path(), std::chrono::minutes(1));
  EXPECT_EQ(long_text.exit_code, 3);
  EXPECT_EQ(long_text.text.size(), std::size_t{1} << 20U);
  EXPECT_EQ(run_child({"/bin/sh", "-c", "echo $TMPDIR"}, folder_.path(), std::chrono::minutes(1)).text,
            folder_.path().string() + "\n");
}

TEST_F(NvccTest, ChildrenEndWhenCancelled) {
  use_script("release 1", "sleep 1000");
  CancelToken cancel;
  cancel.cancel();
  const ChildOutput output =
      run_child({(folder_ / "nvcc").string(), "x"}, folder_.path(), std::chrono::minutes(10), cancel);
  EXPECT_TRUE(output.cancelled);
  EXPECT_FALSE(output.timed_out);
  EXPECT_EQ(english_text(Nvcc::find()->compile(launch_of("").source, {}, cancel).error()), "nvcc was cancelled.");
  const auto builder = KernelBuilder::open(folder_ / "cache").value();
  EXPECT_EQ(builder->build("sm_90a", launch_of(""), cancel).report.error.id, "compile.cancelled");
  use_script("release 1", "exit 3");
  EXPECT_THAT(english_text(builder->build("sm_90a", launch_of("")).report.error), HasSubstr("exit code 3"))
      << "a cancelled build is no failure";
}

TEST_F(NvccTest, VersionIsReadOncePerBuilder) {
  use_script("release 1", "exit 3");
  const auto builder = KernelBuilder::open(folder_ / "cache").value();
  const std::string before = builder->build("sm_90a", launch_of("")).report.digest;
  use_script("release 2", "exit 3");
  EXPECT_EQ(builder->build("sm_90a", launch_of("")).report.digest, before);
}

TEST_F(NvccTest, VariablesOfCompilersAreDropped) {
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH"}) {
    ::setenv(name, "value", 1);
    EXPECT_EQ(run_child({"/bin/sh", "-c", fmt::format("echo ${}", name)}, folder_.path(), std::chrono::minutes(1)).text,
              "\n")
        << name;
    ::unsetenv(name);
  }
}

TEST_F(NvccTest, SourcesThatChangeWhileCompilingAreRejected) {
  write("ready.cubin", build("extern \"C\" __global__ void own(int* x) { *x = 1; }\n").cubin);
  use_script("release 1", copy() + "\necho '// new' >> " + (folder_ / "own.cu").string());
  EXPECT_EQ(compile("").report.error.id, "compile.own_changed");
  use_script("release 1", copy());
  EXPECT_FALSE(compile("").report.cached);
}

TEST_F(NvccTest, ShellCharactersAreRejected) {
  use_script("release 1", "exit 3");
  for (const char* value : {"$(touch F)", "`touch F`", "\"", "\\", "a;b", "a&b", "a|b", "a<b", "a>b", "(1)", "a\nb"}) {
    EXPECT_EQ(compile("", "own", {std::string("-DX=") + value}).report.error.id, "compile.shell_characters") << value;
  }
  KernelLaunch launch = launch_of("");
  UserSource own = *launch.source.user_source;
  own.file = folder_ / "k$(touch F).cu";
  write("k$(touch F).cu", "");
  launch.source.user_source = std::make_shared<const UserSource>(own);
  EXPECT_EQ(KernelBuilder::open(folder_ / "cache").value()->build("sm_90a", launch).report.error.id,
            "compile.shell_characters");
  EXPECT_EQ(calls(), "") << "nvcc was not started";
}

TEST_F(NvccTest, NeedsATemporaryFolder) {
  use_script("release 1", "exit 3");
  const char* const before = std::getenv("TMPDIR");
  const std::string restored = before != nullptr ? before : "";
  for (const char* folder : {"/proc", "/nowhere"}) {
    ::setenv("TMPDIR", folder, 1);
    EXPECT_EQ(compile("", "own<8>").report.error.id, "compile.no_temporary_folder") << folder;
  }
  before != nullptr ? ::setenv("TMPDIR", restored.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_EQ(calls(), "");
}

TEST_F(NvccTest, RealCompilerTakesHostCodeAndTemplates) {
  if (const auto nvcc = Nvcc::find(); !nvcc) GTEST_SKIP() << text(nvcc.error());
  const std::string text =
      "#include <vector>\n#include <cmath>\n#define HEADER(name) #name\n#include HEADER(one.h)\n"
      "constexpr int twice(int n) { return 2 * n; }\n"
      "using Number = int;\n"
      "template <typename T, int R> __global__ void own(T* x) { __shared__ T s[R]; s[threadIdx.x] = twice(R) + ONE; *x "
      "= s[0]; }\n"
      "void launch(int* x) { std::vector<int> sizes{1}; own<int, 4><<<sizes[0], 32>>>(x); own<int, 8><<<1, 8>>>(x); "
      "}\n";
  const BuiltKernel built = compile(text, "own<Number, ROWS>", {"--expt-relaxed-constexpr", "-DUNUSED='a b'"});
  const std::string error = english_text(built.report.error);
  if (error.find("gcc") != std::string::npos) GTEST_SKIP() << error;  // no host compiler
  EXPECT_EQ(error, "");
  EXPECT_EQ(built.symbol, "_Z3ownIiLi8EEvPT_");
  EXPECT_EQ(built.report.static_shared_bytes, 8 * 4);
  EXPECT_THAT(english_text(compile("#include \"gone.h\"\n").report.error), HasSubstr("\"include\": [...]"));
}

}  // namespace
}  // namespace attnscope::gpu
