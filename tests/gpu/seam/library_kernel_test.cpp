// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/library_kernel.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "profiler/measure/gpu/driver/cupti.h"
#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/measure/gpu/point_abort.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "tests/message_matchers.h"

namespace attnscope::gpu {
namespace {

TEST(LibraryKernel, ExposesLibraryFunctions) {
  const LibraryKernel kernel(ATTNSCOPE_ATTENTION_LIBRARY);
  EXPECT_EQ(kernel.name(), "attnscope_attention.so");
  EXPECT_EQ(kernel.functions().version, ATTNSCOPE_KERNEL_VERSION);
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "attnscope_kernel_v1"), nullptr) << "its symbols are not global";
}

/// Folder with copies of the test library in place of CUPTI.
class CuptiCopies {
 public:
  CuptiCopies() { std::filesystem::create_directories(folder_); }
  CuptiCopies(const CuptiCopies&) = delete;
  CuptiCopies& operator=(const CuptiCopies&) = delete;
  ~CuptiCopies() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path copy(const char* name) const {
    std::filesystem::copy_file(ATTNSCOPE_ATTENTION_LIBRARY, folder_ / name);
    return std::filesystem::canonical(folder_ / name);
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "attnscope-two-cupti";
};

/// Runs a test in a child process, because libraries that it loads stay loaded.
template <class Test>
void expect_passes_in_child(const Test& test) {
  EXPECT_EXIT(
      {
        test();
        std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

// Two copies of CUPTI would both claim the GPU's counters.
TEST(LibraryKernel, RejectsSecondCupti) {
  const CuptiCopies copies;
  const std::filesystem::path ours = copies.copy("libcupti.so.98");
  const std::filesystem::path theirs = copies.copy("libcupti.so.99");
  expect_passes_in_child([&] {
    ASSERT_NE(::dlopen(ours.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << ::dlerror();
    EXPECT_NO_THROW(LibraryKernel{ours}) << "the loaded CUPTI";
    try {
      const LibraryKernel kernel(theirs);
      FAIL() << "the library was accepted";
    } catch (const PointAbort& end) {
      EXPECT_EQ(end.disposition(), Disposition::compile_error);
      EXPECT_THAT(end.reason(), test::IsReason("point.two_cupti", "ATTNSCOPE_CUPTI_LIBRARY"));
      EXPECT_THAT(text(end.reason()), ::testing::HasSubstr(ours.filename().string()));
    }
  });
}

// PyTorch loads the CUPTI of its CUDA version.
TEST(Cupti, RejectsOtherVersionInTheProcess) {
  const CuptiCopies copies;
  const std::filesystem::path other = copies.copy("libcupti.so.12");
  const std::filesystem::path replacement = copies.copy("libcupti.so.13");
  expect_passes_in_child([&] {
    ::unsetenv("ATTNSCOPE_CUPTI_LIBRARY");
    ASSERT_NE(::dlopen(other.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << ::dlerror();
    const auto cupti = CuptiApi::load();
    ASSERT_FALSE(cupti.ok());
    EXPECT_THAT(text(cupti.error()),
                ::testing::AllOf(::testing::HasSubstr(other.string()), ::testing::HasSubstr("libcupti.so.13")));
    ::setenv("ATTNSCOPE_CUPTI_LIBRARY", replacement.c_str(), 1);
    const auto replaced = CuptiApi::load();
    ASSERT_FALSE(replaced.ok());
    EXPECT_THAT(text(replaced.error()),
                ::testing::AllOf(::testing::HasSubstr(other.string()), ::testing::HasSubstr(replacement.string())));
    EXPECT_EQ(loaded_library_files("libcupti.so").size(), 1U) << "no second one was loaded";
  });
}

}  // namespace
}  // namespace attnscope::gpu
