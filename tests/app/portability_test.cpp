// SPDX-License-Identifier: Apache-2.0
// Requirements of the program file on the systems to which it is copied.
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
std::string words_of(const char* command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command, "r"), ::pclose);
  std::string words;
  std::array<char, 4096> piece{};
  while (pipe && std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) words += piece.data();
  return words;
}
std::string dynamic_section() {
  return words_of("objdump -p " ATTNSCOPE_PROGRAM " 2>/dev/null");
}

using Version = std::pair<int, int>;

Version version_of(const std::string& major, const std::string& minor) {
  return {std::stoi(major), std::stoi(minor)};
}

// Oldest supported systems: Ubuntu 22.04 (glibc 2.35, gcc 12) and RHEL 9 (glibc 2.34, gcc 11).
TEST(Portability, the_program_runs_with_glibc_2_34) {
  std::smatch here;
  const std::string own = ::gnu_get_libc_version();
  ASSERT_TRUE(std::regex_search(own, here, std::regex("^([0-9]+)\\.([0-9]+)")));
  if (version_of(here[1], here[2]) > Version(2, 36)) {
    GTEST_SKIP() << "built with glibc " << own << ": programs for other machines are built on Debian 12, with 2.36";
  }
  const std::string section = dynamic_section();
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

TEST(Portability, needs_c_and_compiler_libraries_only) {
  const std::string section = dynamic_section();
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
TEST(Portability, exports_no_cpp_library_symbols) {
  const std::string symbols = words_of("nm -D --defined-only " ATTNSCOPE_PROGRAM " 2>/dev/null");
  if (symbols.empty()) GTEST_SKIP() << "there is no nm, which reads what is exported (binutils)";
  EXPECT_THAT(symbols, ::testing::HasSubstr("stdout")) << "symbols of the C library";
  for (const char* theirs : {" _Z", " __cxa_", " __gxx_"}) {
    EXPECT_THAT(symbols, ::testing::Not(::testing::HasSubstr(theirs)));
  }
}

}  // namespace
}  // namespace attnscope::testing
