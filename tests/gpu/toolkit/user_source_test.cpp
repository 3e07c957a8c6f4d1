// SPDX-License-Identifier: Apache-2.0
// User-defined sources and their digests, with the real NVRTC.
#include "profiler/measure/gpu/user/user_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>

#include "profiler/measure/gpu/kernel_builder.h"
#include "tests/message_matchers.h"
#include "tests/temporary_folder.h"
#include "user_source_fixture.h"

namespace attnscope::gpu {
namespace {

namespace fs = std::filesystem;
using test::HasWords;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(UserSourceTest, DigestCoversAllFiles) {
  std::string before = digest();
  for (const char* name : {"kernel.cu", "one.h", "include/two.h", "include/three.h"}) {
    std::ofstream(folder_ / name, std::ios::app) << "// changed\n";
    const std::string now = digest();
    EXPECT_NE(now, before) << name;
    before = now;
  }
  write("unread.h", "#define FOUR 4\n");
  EXPECT_EQ(digest(), before);
  UserSource other = *source();
  other.manifest = "another";
  EXPECT_NE(read_user_source(other, {})->digest, before) << "the manifest determines the launch";
}

TEST_F(UserSourceTest, DigestIgnoresLocation) {
  const testing::TemporaryFolder elsewhere;
  fs::copy(folder_ / ".", elsewhere / ".", fs::copy_options::recursive);
  UserSource moved = *source();
  moved.file = elsewhere / "kernel.cu";
  moved.include_folders = {elsewhere / "include"};
  EXPECT_EQ(read_user_source(moved, {})->digest, digest());
}

TEST_F(UserSourceTest, SourceIsReadOncePerProcess) {
  const UserSources sources;
  const auto own = source();
  ASSERT_TRUE(sources.read(own, {}).ok());
  ASSERT_TRUE(sources.read(own, {}).ok());
  write("one.h", "#define ONE 2\n");
  EXPECT_EQ(sources.read(own, {}).error().id, "compile.own_changed");
  EXPECT_TRUE(sources.read(source(), {}).ok()) << "a reloaded source may differ";
}

TEST_F(UserSourceTest, FindsHeadersOfAllIncludeForms) {
  for (const char* form : {"/* x */ #include \"h.h\"", "#/**/include \"h.h\"", "%:include \"h.h\"",
                           "#inc\\\nlude <h.h>", "\f#include \"h.h\"", "/*\n*/ #include \"h.h\"",
                           "#if __has_include(\"h.h\")\n#endif", "# include_next <h.h>"}) {
    write("kernel.cu", std::string(form) + "\nextern \"C\" __global__ void own(int* x) {}\n");
    write("h.h", "#define ONE 1\n");
    const std::string before = digest();
    write("h.h", "#define ONE 2\n");
    EXPECT_NE(digest(), before) << form;
  }
  write("kernel.cu", "// #include \"h.h\"\nconst char* s = R\"(\n#include \"h.h\"\n)\";\n");
  EXPECT_EQ(read_user_source(*source(), {})->files.size(), 2U)
      << "#include in a raw literal counts, in a comment it does not";
}

// Conditions are not evaluated, so that all definitions of a macro count.
TEST_F(UserSourceTest, FollowsIncludesNamedByMacros) {
  fs::create_directories(folder_ / "x");
  for (const char* text : {"#define H \"x/h.h\"\n#include H\n", "#include H\n#define G \"x/h.h\"\n#define H G\n",
                           "#define IN(name) <x/name>\n#include IN(h.h)\n", "#define S(a) #a\n#include S(x/h.h)\n",
                           "#if A\n#define H <none.h>\n#else\n#define H <x/h.h>\n#endif\n#include H\n"}) {
    write("kernel.cu", text);
    write("x/h.h", "#define ONE 1\n");
    const std::string before = digest();
    write("x/h.h", "#define ONE 2\n");
    EXPECT_NE(digest(), before) << text;
  }
  write("kernel.cu", "#include H\n");
  UserSource own = *source();
  own.options = {"-DH=\"x/h.h\""};
  EXPECT_EQ(read_user_source(own, {})->files.size(), 2U);
  EXPECT_TRUE(read_user_source(*source(), {}).ok()) << "an undefined macro is in an inactive condition";
  write("kernel.cu", "#define JOIN(a, b) a##b\n#define H JOIN(<x/h, .h>)\n#include H\n#define L L\n#include L\n");
  EXPECT_EQ(read_user_source(*source(), {}).error().id, "compile.own_by_macro");
}

TEST_F(UserSourceTest, RejectsTooManyIncludes) {
  write("kernel.cu", "#include \"0.h\"\n");
  for (int i = 0; i < 300; ++i) write(std::to_string(i) + ".h", "#include \"" + std::to_string(i + 1) + ".h\"\n");
  EXPECT_EQ(read_user_source(*source(), {}).error().id, "compile.own_too_much");
  fs::create_directory_symlink(".", folder_ / "s");
  fs::create_directory_symlink(".", folder_ / "t");
  write("kernel.cu", "#pragma once\n#include \"s/kernel.cu\"\n#include \"t/kernel.cu\"\n");
  EXPECT_EQ(read_user_source(*source(), {})->files.size(), 1U);
}

TEST_F(UserSourceTest, RejectsTooManyMacroExpansions) {
  std::string text = "#include M0\n";
  for (int depth = 0; depth < 7; ++depth) {
    for (int i = 0; i < 16; ++i) text += fmt::format("#define M{} M{} // {}\n", depth, depth + 1, i);
  }
  write("kernel.cu", text + "#define M7 <none.h>\n");
  EXPECT_EQ(read_user_source(*source(), {}).error().id, "compile.own_too_much");
}

TEST_F(UserSourceTest, RejectsIncludesThatAreNoRegularFiles) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe.h").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder_ / "include/zero.h");
  fs::create_symlink("loop.h", folder_ / "loop.h");
  std::ofstream(folder_ / "huge.h") << "";
  fs::resize_file(folder_ / "huge.h", std::uintmax_t{1} << 36U);
  fs::create_directory(folder_ / "folder.h");
  for (const char* name : {"pipe.h", "zero.h", "loop.h", "huge.h"}) {
    for (const char* form : {"#include \"{}\"\n", "#if __has_include(\"{}\")\n#endif\n"}) {
      write("one.h", fmt::format(fmt::runtime(form), name));
      const auto read = read_user_source(*source(), {});
      ASSERT_FALSE(read.ok()) << name;
      EXPECT_EQ(read.error().id, "compile.own_unreadable");
      EXPECT_THAT(read.error().words, AllOf(HasSubstr((folder_ / "one.h").string()), HasSubstr(name)));
    }
    EXPECT_EQ(read_user_source(*source(UserSource::Kind::ptx, name), {}).ok(), false) << name;
  }
  write("one.h", "#include \"folder.h\"\n");
  EXPECT_TRUE(read_user_source(*source(), {}).ok()) << "compilers skip folders";
}

TEST_F(UserSourceTest, CompilesWithIncludesAndIsCached) {
  const auto builder = KernelBuilder::open(folder_ / "cache");
  if (!builder) GTEST_SKIP() << builder.error().message();
  KernelLaunch launch;
  launch.name = "fwd";
  launch.source = {.file = "own/kernel.cu", .entry = "own", .defines = {"N=1"}, .user_source = source()};
  launch.arguments = {BufferArgument{"q"}};
  const BuiltKernel built = (*builder)->build("sm_90a", launch);
  EXPECT_EQ(built.report.error, Message());
  EXPECT_FALSE(built.cubin.empty());
  EXPECT_FALSE(built.report.cached);
  const BuiltKernel again = (*builder)->build("sm_90a", launch);
  EXPECT_TRUE(again.report.cached);
  EXPECT_EQ(again.cubin, built.cubin);
  launch.source.defines = {"N=2"};
  EXPECT_NE((*builder)->build("sm_90a", launch).report.digest, built.report.digest);
}

TEST_F(UserSourceTest, ErrorsHaveFileAndLine) {
  const auto builder = KernelBuilder::open(folder_ / "cache");
  if (!builder) GTEST_SKIP() << builder.error().message();
  write("one.h", "#define ONE nothing\n");
  KernelLaunch launch;
  launch.name = "fwd";
  launch.source = {.file = "own/kernel.cu", .entry = "own", .defines = {}, .user_source = source()};
  EXPECT_THAT(english_text((*builder)->build("sm_90a", launch).report.error),
              AllOf(HasSubstr((folder_ / "kernel.cu").string() + "(3): error"), HasSubstr("nothing")));
}

TEST_F(UserSourceTest, PtxAndCubinsAreLoadedUnchanged) {
  const auto builder = KernelBuilder::open(folder_ / "cache");
  if (!builder) GTEST_SKIP() << builder.error().message();
  const std::string ptx = ".version 8.7\n.visible .entry own()\n{ ret; }\n";
  write("kernel.ptx", ptx);
  KernelLaunch launch;
  launch.name = "fwd";
  launch.source = {.file = "own/kernel.ptx",
                   .entry = "own",
                   .defines = {},
                   .user_source = source(UserSource::Kind::ptx, "kernel.ptx")};
  const BuiltKernel built = (*builder)->build("sm_90a", launch);
  EXPECT_EQ(built.cubin, ptx);
  EXPECT_EQ(built.symbol, "own");
  EXPECT_FALSE(built.report.digest.empty());
  launch.source.user_source = source(UserSource::Kind::ptx, "gone.ptx");
  EXPECT_THAT(english_text((*builder)->build("sm_90a", launch).report.error), HasSubstr("gone.ptx"));
}

}  // namespace
}  // namespace attnscope::gpu
