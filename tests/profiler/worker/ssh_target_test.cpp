// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/worker/ssh.h"
#include "tests/message_matchers.h"

namespace attnscope::worker {
namespace {

using test::HasWords;
using ::testing::HasSubstr;

TEST(SshTarget, HostAndDevice) {
  const auto plain = parse_ssh_target("ssh:gpubox");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host, "gpubox");
  EXPECT_EQ(plain->device, "");
  const auto whole = parse_ssh_target("ssh:ada@gpu-7.lab.example/simulated:A100 80GB");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->host, "ada@gpu-7.lab.example");
  EXPECT_EQ(whole->device, "simulated:A100 80GB");
}

// Options of ssh, shell syntax, nested targets or empty names.
TEST(SshTarget, RejectsInvalidTargets) {
  for (const char* word :
       {"ssh:", "ssh:-oProxyCommand=touch", "ssh:a b", "ssh:a;reboot", "ssh:a$(reboot)", "ssh:a/", "ssh:a/0;reboot",
        "ssh:a/\"", "ssh:a/$HOME", "ssh:a/--output=x", "ssh:a/ssh:b", "ssh:a'b", "ssh:a\nb", "ssh:a/0`id`"}) {
    EXPECT_FALSE(parse_ssh_target(word).ok()) << word;
  }
  EXPECT_TRUE(parse_ssh_target("ssh:" + std::string(508, 'a')).ok()) << "512 bytes";
  EXPECT_FALSE(parse_ssh_target("ssh:" + std::string(509, 'a')).ok());
}

TEST(SshFailure, ExplainsEachFailure) {
  const SshTarget target{.host = "gpubox", .device = {}};
  const auto explained = [&](int code, const std::string& words) {
    OpenFailure failure;
    failure.end = {.exit_code = code, .stderr_tail = words};
    return text(explain(target, failure, "0.3"));
  };
  EXPECT_THAT(explained(255, "ada@gpubox: Permission denied (publickey,password).\r\n"),
              HasWords("ssh-copy-id gpubox"));
  EXPECT_THAT(explained(255, "No ED25519 host key is known for gpubox\nHost key verification failed.\r\n"),
              HasSubstr("'ssh gpubox'"));
  EXPECT_THAT(explained(255, "ssh: Could not resolve hostname gpubox: Name or service not known\r\n"),
              HasSubstr("ssh: Could not resolve hostname gpubox"));
  EXPECT_THAT(explained(127, "sh: 1: exec: attnscope: not found\n"), HasWords("PATH gpubox scp"));
  EXPECT_THAT(
      explained(127,
                "attnscope: error while loading shared libraries: libgcc_s.so.1: cannot open shared object file\n"),
      HasWords("gpubox glibc libgcc_s.so.1"));
  EXPECT_THAT(explained(126, "sh: 1: attnscope: Exec format error\n"), HasWords("gpubox Exec format error"));
  EXPECT_THAT(explained(126, "sh: 1: attnscope: Permission denied\n"), HasWords("PATH gpubox scp"));
  EXPECT_THAT(explained(1, "attnscope: version `GLIBC_2.34' not found\n"), HasSubstr("x86-64"));
  EXPECT_THAT(explained(1, "attnscope: out of luck\n"), HasWords("gpubox 1 attnscope out of luck"));
  EXPECT_THAT(explained(2, "attnscope: invalid format\n"), HasWords("gpubox 2 attnscope invalid format"));
  for (const int ssh_ended : {255, -1}) {
    EXPECT_THAT(explained(ssh_ended, "a\nREMOTE HOST IDENTIFICATION HAS CHANGED\n"), HasSubstr("'ssh gpubox'"));
    EXPECT_THAT(explained(ssh_ended, "Too many authentication failures\n"), HasWords("ssh-copy-id gpubox"));
  }
  OpenFailure late{.end = {.exit_code = 255, .stderr_tail = "words"}};
  late.silent = true;
  EXPECT_THAT(text(explain(target, late, "0.3")), HasWords("gpubox 90 s"));
  OpenFailure foreign{.kind = OpenFailure::Kind::other_version};
  foreign.words = "0.2";
  EXPECT_THAT(text(explain(target, foreign, "0.3")), HasWords("gpubox 0.2 0.3"));
  OpenFailure none{.kind = OpenFailure::Kind::no_device};
  none.reason = Message::verbatim("no driver");
  EXPECT_THAT(text(explain(target, none, "0.3")), HasWords("gpubox no driver"));
}

}  // namespace
}  // namespace attnscope::worker
