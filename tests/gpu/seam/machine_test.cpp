// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/cupti.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace attnscope::gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class MachineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / (std::string("machine-") + info->name());
    fs::remove_all(root_);
    write("proc/version", "Linux version 6.1.0-30-amd64 (debian-kernel@lists.debian.org)");
    write("proc/1/cgroup", "0::/init.scope");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const char* file, const char* text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  [[nodiscard]] std::string fix() const { return text(counter_permission_fix(root_)); }

 private:
  fs::path root_;
};

TEST_F(MachineTest, BareMetal) {
  EXPECT_THAT(fix(), AllOf(HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), Not(HasSubstr("container"))));
}

TEST_F(MachineTest, Wsl) {
  write("proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2");
  EXPECT_THAT(fix(), AllOf(HasSubstr("NVIDIA"), Not(HasSubstr("NVreg_RestrictProfilingToAdminUsers"))));
}

TEST_F(MachineTest, Containers) {
  write(".dockerenv", "");
  EXPECT_THAT(fix(), HasSubstr("--cap-add=SYS_ADMIN"));
}

TEST_F(MachineTest, ContainerByControlGroup) {
  write("proc/1/cgroup", "0::/kubepods/besteffort/pod1234");
  EXPECT_THAT(fix(), HasSubstr("--cap-add=SYS_ADMIN"));
}

}  // namespace
}  // namespace attnscope::gpu
