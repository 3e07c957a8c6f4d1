// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/dynamic_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <fstream>

namespace attnscope::gpu {
namespace {

using ::testing::HasSubstr;

LibrarySearch search_for(std::string name) {
  return {
      .title = "The library", .override_variable = "ATTNSCOPE_TEST_LIBRARY", .names = {std::move(name)}, .folders = {}};
}

class DynamicLibraryTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("ATTNSCOPE_TEST_LIBRARY"); }
};

TEST_F(DynamicLibraryTest, FindsLibraryAndBindsSymbols) {
  const auto library = DynamicLibrary::open(search_for("libm.so.6"));
  ASSERT_TRUE(library.ok()) << library.error().what;
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->bind(cosine, "cos"));
  EXPECT_EQ(cosine(0), 1);
  EXPECT_FALSE(library->bind(cosine, "no_such_function"));
  EXPECT_TRUE(library->path().is_absolute()) << library->path();
}

TEST_F(DynamicLibraryTest, ReportsMissingLibrary) {
  const auto library = DynamicLibrary::open(search_for("libattnscope-nothing.so.7"));
  ASSERT_FALSE(library.ok());
  EXPECT_TRUE(library.error().absent);
  EXPECT_THAT(text(library.error().what), HasSubstr("libattnscope-nothing.so.7"));
}

TEST_F(DynamicLibraryTest, OverrideReplacesTheSearch) {
  setenv("ATTNSCOPE_TEST_LIBRARY", "/nonexistent/libm.so.6", 1);
  const auto missing = DynamicLibrary::open(search_for("libm.so.6"));
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(missing.error().absent);
  EXPECT_THAT(text(missing.error().what), HasSubstr("ATTNSCOPE_TEST_LIBRARY=/nonexistent/libm.so.6"));

  setenv("ATTNSCOPE_TEST_LIBRARY", ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
  const auto replaced = DynamicLibrary::open(search_for("libm.so.6"));
  ASSERT_TRUE(replaced.ok()) << replaced.error().what;
  int (*init)(unsigned) = nullptr;
  EXPECT_TRUE(replaced->bind(init, "cuInit"));
}

TEST_F(DynamicLibraryTest, DistinguishesBrokenFromMissing) {
  const std::filesystem::path folder = ::testing::TempDir();
  std::ofstream(folder / "libattnscope-broken.so.1") << "no library";
  LibrarySearch search = search_for("libattnscope-broken.so.1");
  search.folders = {folder};
  const auto library = DynamicLibrary::open(search);
  ASSERT_FALSE(library.ok());
  EXPECT_FALSE(library.error().absent);
  EXPECT_THAT(text(library.error().what), HasSubstr("libattnscope-broken.so.1"));
}

TEST_F(DynamicLibraryTest, InvalidOverrideIsReportedAsBroken) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "libattnscope-text.so.1";
  std::ofstream(file) << "no library";
  setenv("ATTNSCOPE_TEST_LIBRARY", file.c_str(), 1);
  const auto library = DynamicLibrary::open(search_for("libm.so.6"));
  ASSERT_FALSE(library.ok());
  EXPECT_FALSE(library.error().absent);
}

}  // namespace
}  // namespace attnscope::gpu
