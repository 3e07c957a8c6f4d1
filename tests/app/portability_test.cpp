// SPDX-License-Identifier: Apache-2.0
// Requirements of the program file, and of the library for Python, on the systems to which they are copied.
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>

namespace attnscope::testing {
namespace {

/// Returns the output of objdump or nm; empty if it is missing.
std::string words_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string words;
  std::array<char, 4096> piece{};
  while (pipe && std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) words += piece.data();
  return words;
}
std::string dynamic_section(const std::string& file) {
  return words_of("objdump -p '" + file + "' 2>/dev/null");
}

using Version = std::pair<int, int>;

Version version_of(const std::string& major, const std::string& minor) {
  return {std::stoi(major), std::stoi(minor)};
}

constexpr std::array portable_files{
    ATTNSCOPE_PROGRAM,
#ifdef ATTNSCOPE_PYTHON_LIBRARY
    ATTNSCOPE_PYTHON_LIBRARY,
#endif
};

class Portability : public ::testing::TestWithParam<const char*> {};

std::string file_role(const ::testing::TestParamInfo<const char*>& file) {
  return file.index == 0 ? "program" : "library";
}

INSTANTIATE_TEST_SUITE_P(files, Portability, ::testing::ValuesIn(portable_files), file_role);

// Oldest supported systems: Ubuntu 22.04 (glibc 2.35, gcc 12) and RHEL 9 (glibc 2.34, gcc 11).
TEST_P(Portability, runs_with_glibc_2_34) {
  std::smatch here;
  const std::string own = ::gnu_get_libc_version();
  ASSERT_TRUE(std::regex_search(own, here, std::regex("^([0-9]+)\\.([0-9]+)")));
  if (version_of(here[1], here[2]) > Version(2, 36)) {
    GTEST_SKIP() << "built with glibc " << own << ": programs for other machines are built on Debian 12, with 2.36";
  }
  const std::string section = dynamic_section(GetParam());
  if (section.empty()) GTEST_SKIP() << "there is no objdump, which reads the versions of symbols (binutils)";
  std::set<Version> wanted;
  const std::regex version("GLIBC_([0-9]+)\\.([0-9]+)");
  for (std::sregex_iterator found(section.begin(), section.end(), version), end; found != end; ++found) {
    wanted.insert(version_of((*found)[1], (*found)[2]));
  }
  ASSERT_FALSE(wanted.empty()) << section;
  EXPECT_LE(*wanted.rbegin(), Version(2, 34)) << section;
  EXPECT_THAT(section, ::testing::Not(::testing::HasSubstr("GLIBCXX_"))) << "the C++ library is linked statically";
}

TEST_P(Portability, needs_c_and_compiler_libraries_only) {
  const std::string section = dynamic_section(GetParam());
  if (section.empty()) GTEST_SKIP() << "there is no objdump, which reads what libraries are needed (binutils)";
  std::set<std::string> needed;
  const std::regex line("NEEDED +([^ \n]+)");
  for (std::sregex_iterator found(section.begin(), section.end(), line), end; found != end; ++found) {
    needed.insert((*found)[1]);
  }
  const std::set<std::string> everywhere{"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"};
  EXPECT_THAT(everywhere, ::testing::IsSupersetOf(needed)) << section;
}

// A user's library brings its own C++ library, which must not bind to symbols of the program.
TEST(ProgramSymbols, exports_no_cpp_library_symbols) {
  const std::string symbols = words_of("nm -D --defined-only " ATTNSCOPE_PROGRAM " 2>/dev/null");
  if (symbols.empty()) GTEST_SKIP() << "there is no nm, which reads what is exported (binutils)";
  EXPECT_THAT(symbols, ::testing::HasSubstr("stdout")) << "symbols of the C library";
  for (const char* theirs : {" _Z", " __cxa_", " __gxx_"}) {
    EXPECT_THAT(symbols, ::testing::Not(::testing::HasSubstr(theirs)));
  }
}

#ifdef ATTNSCOPE_PYTHON_LIBRARY
// Exported symbols of libstdc++ would merge with those of PyTorch.
TEST(LibrarySymbols, exports_the_interface_only) {
  const std::string symbols = words_of("nm -D --defined-only " ATTNSCOPE_PYTHON_LIBRARY " 2>/dev/null");
  if (symbols.empty()) GTEST_SKIP() << "there is no nm, which reads what is exported (binutils)";
  std::set<std::string> exported;
  const std::regex line(" ([A-Za-z]) ([^ \n]+)\n");
  for (std::sregex_iterator found(symbols.begin(), symbols.end(), line), end; found != end; ++found) {
    EXPECT_EQ((*found)[1], "T") << (*found)[2] << ": not a function";
    exported.insert((*found)[2]);
  }
  EXPECT_THAT(exported, ::testing::Each(::testing::StartsWith("attnscope_")));
  const std::set<std::string> called{"attnscope_worker",      "attnscope_version",    "attnscope_malloc",
                                     "attnscope_free",        "attnscope_memory_tag", "attnscope_memory_release",
                                     "attnscope_memory_live", "attnscope_memory_peak"};
  EXPECT_THAT(exported, ::testing::IsSupersetOf(called));
}
#endif

}  // namespace
}  // namespace attnscope::testing
