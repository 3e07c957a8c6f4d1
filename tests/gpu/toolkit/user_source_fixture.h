// SPDX-License-Identifier: Apache-2.0
// A folder with the source of a user-defined kernel.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/user/user_source.h"
#include "tests/temporary_folder.h"

namespace attnscope::gpu {

class UserSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "include");
    write("kernel.cu",
          "#include \"one.h\"\n#include <two.h>\nextern \"C\" __global__ void own(int* x) { *x = ONE + TWO; }\n");
    write("one.h", "#define ONE 1\n");
    write("include/two.h", "#pragma once\n#  include \"three.h\"\n#define TWO THREE\n");
    write("include/three.h", "#define THREE 3\n");
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  [[nodiscard]] std::shared_ptr<const UserSource> source(UserSource::Kind kind = UserSource::Kind::cuda,
                                                         const std::string& name = "kernel.cu") const {
    return std::make_shared<const UserSource>(UserSource{.kind = kind,
                                                         .name = name,
                                                         .file = folder_ / name,
                                                         .include_folders = {folder_ / "include"},
                                                         .options = {},
                                                         .manifest = "a statement"});
  }
  [[nodiscard]] std::string digest() const { return read_user_source(*source(), {})->digest; }

  /// Compiles kernel.cu. Pre: has_builder().
  [[nodiscard]] BuiltKernel build(const std::string& text, const std::string& entry = "own",
                                  std::vector<std::string> defines = {}, std::vector<std::string> options = {}) {
    write("kernel.cu", text);
    UserSource own = *source();
    own.options = std::move(options);
    KernelLaunch launch;
    launch.name = "fwd";
    launch.source = {.file = "own/kernel.cu",
                     .entry = entry,
                     .defines = std::move(defines),
                     .user_source = std::make_shared<const UserSource>(std::move(own))};
    launch.arguments = {BufferArgument{"q"}};
    return KernelBuilder::open(folder_ / "cache").value()->build("sm_90a", launch);
  }
  [[nodiscard]] bool has_builder() const { return KernelBuilder::open(folder_ / "cache").ok(); }

  testing::TemporaryFolder folder_;
};

}  // namespace attnscope::gpu
