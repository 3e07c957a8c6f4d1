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
  [[nodiscard]] HostProperties machine() const { return host_properties(root_); }

 private:
  fs::path root_;
};

TEST_F(MachineTest, BareMetal) {
  write("proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
  EXPECT_FALSE(machine().wsl);
  EXPECT_FALSE(machine().container);
  EXPECT_TRUE(machine().counters_admin_only);
  EXPECT_THAT(text(counter_permission_fix(machine())), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST_F(MachineTest, DriverOpenToAllUsers) {
  write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_FALSE(machine().counters_admin_only);
}

TEST_F(MachineTest, Wsl) {
  write("proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2");
  EXPECT_TRUE(machine().wsl);
  const std::string fix = text(counter_permission_fix(machine()));
  EXPECT_THAT(fix, AllOf(HasSubstr("NVIDIA"), Not(HasSubstr("NVreg_RestrictProfilingToAdminUsers"))));
}

TEST_F(MachineTest, Containers) {
  write(".dockerenv", "");
  EXPECT_TRUE(machine().container);
  EXPECT_THAT(text(counter_permission_fix(machine())), HasSubstr("--cap-add=SYS_ADMIN"));
}

TEST_F(MachineTest, ContainerByControlGroup) {
  write("proc/1/cgroup", "0::/kubepods/besteffort/pod1234");
  EXPECT_TRUE(machine().container);
}

}  // namespace
}  // namespace attnscope::gpu
