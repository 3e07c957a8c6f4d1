// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/library_kernel.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

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

TEST(LibraryKernel, FilesAreCheckedWithoutLoading) {
  const auto content = [](const char* file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  };
  std::string library = content(ATTNSCOPE_ATTENTION_LIBRARY);
  EXPECT_EQ(library_file_error("a.so", library), Message());
  EXPECT_THAT(library_file_error("a.so", content(ATTNSCOPE_FAKE_GPU_LIBRARY)),
              test::IsReason("compile.no_interface", "a.so attnscope_kernel_v1"));
  EXPECT_EQ(library_file_error("a.so", std::string_view(library).substr(0, 60)).id, "compile.no_library");
  library[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(0xFF);
  EXPECT_EQ(library_file_error("a.so", library).id, "compile.no_library");
}

// Two copies of CUPTI would both claim the GPU's counters. The test library stands in for a second CUPTI.
TEST(LibraryKernel, RejectsSecondCupti) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "attnscope-two-cupti";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::filesystem::path ours = folder / "libcupti.so.98";
  const std::filesystem::path theirs = folder / "libcupti.so.99";
  for (const auto& file : {ours, theirs}) std::filesystem::copy_file(ATTNSCOPE_ATTENTION_LIBRARY, file);
  void* const loaded = ::dlopen(ours.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(loaded, nullptr) << ::dlerror();
  EXPECT_NO_THROW(LibraryKernel{ours}) << "the loaded CUPTI";
  try {
    const LibraryKernel kernel(theirs);
    FAIL() << "the library was accepted";
  } catch (const PointAbort& end) {
    EXPECT_EQ(end.disposition(), Disposition::compile_error);
    EXPECT_THAT(end.reason(), test::IsReason("point.two_cupti", "ATTNSCOPE_CUPTI_LIBRARY"));
    EXPECT_THAT(text(end.reason()), ::testing::HasSubstr(ours.filename().string()));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace attnscope::gpu
