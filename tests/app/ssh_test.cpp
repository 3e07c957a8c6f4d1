// SPDX-License-Identifier: Apache-2.0
// --device ssh:HOST through a real sshd on the loopback, with keys, known hosts and configuration of the test's own.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sessions.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// How `words` ended; -1 where they cannot be run.
int ended(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += fmt::format("'{}' ", word);
  const int status = std::system((line + ">/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void write_file(const fs::path& file, const std::string& text, int mode = 0600) {
  std::ofstream(file) << text;
  ::chmod(file.c_str(), static_cast<mode_t>(mode));
}

/// A port that nobody listens at now.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(socket);
  return ntohs(address.sin_port);
}

bool listens(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool connected = ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return connected;
}

/// "gpubox" is this machine, by an sshd that lets one key in.
class Ssh : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(sshd) || ended({"ssh", "-V"}) != 0) GTEST_SKIP() << "there is no sshd (openssh-server)";
    ASSERT_EQ(ended({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path("host_key")}), 0);
    ASSERT_EQ(ended({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path("key")}), 0);
    ASSERT_EQ(ended({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path("other_key")}), 0);
    port = free_port();
    fs::copy_file(path("key.pub"), path("authorized_keys"));
    write_file(path("known_hosts"), fmt::format("[127.0.0.1]:{} {}", port, read(path("host_key.pub"))));
    write_file(
        path("sshd_config"),
        fmt::format("ListenAddress 127.0.0.1:{}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile {}\nStrictModes no\n"
                    "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nPermitRootLogin yes\n"
                    // What runs there has folders of its own, and this build's program in its PATH.
                    "SetEnv XDG_CACHE_HOME={} PATH={}:/usr/bin:/bin\n",
                    port, path("host_key"), path("authorized_keys"), path("sshd.pid"), path("there"), path("bin")));
    fs::create_directories(path("there"));
    fs::create_directories(path("bin"));
    use_key("key");
    // sshd wants its folder, which only root can make, and only root's sshd needs.
    if (::geteuid() == 0) fs::create_directories("/run/sshd");
    sshd_ = ::fork();
    if (sshd_ == 0) {
      ::execl(sshd, sshd, "-D", "-f", path("sshd_config").c_str(), "-E", path("sshd.log").c_str(), nullptr);
      ::_exit(127);
    }
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!listens(port) && ::waitpid(sshd_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < patience) {
    }
    if (!listens(port)) GTEST_SKIP() << "sshd does not run here: " << read(path("sshd.log"));
  }
  void TearDown() override {
    if (sshd_ <= 0) return;
    ::kill(sshd_, SIGTERM);
    ::waitpid(sshd_, nullptr, 0);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  static std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void use_key(const std::string& key) const {
    write_file(path("config"), fmt::format("Host gpubox\n HostName 127.0.0.1\n Port {}\n User {}\n IdentityFile {}\n"
                                           " IdentitiesOnly yes\n UserKnownHostsFile {}\n StrictHostKeyChecking yes\n",
                                           port, user(), path(key), path("known_hosts")));
  }
  static std::string user() {
    const passwd* entry = ::getpwuid(::geteuid());
    return entry == nullptr ? "root" : entry->pw_name;
  }
  /// This build's, which says which process it is.
  void install_program() const {
    write_file(path("bin/attnscope"),
               fmt::format("#!/bin/sh\necho $$ >'{}'\nexec '{}' \"$@\"\n", path("there/pid"), ATTNSCOPE_PROGRAM), 0755);
  }
  [[nodiscard]] Process::Options by_config() const {
    return {.environment = {{"ATTNSCOPE_SSH_CONFIG", path("config")}}};
  }
  [[nodiscard]] Outcome collect(const std::string& device, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{
        "collect", "-a", "N=[128,256,384]",     "-a", "d=64", "-a", "heads=2", "-a", "algorithm=fa2", "--device",
        device,    "-o", path("here.attnscope")};
    words.insert(words.end(), more.begin(), more.end());
    return run(folder, words, by_config());
  }

  static constexpr const char* sshd = "/usr/sbin/sshd";
  TemporaryFolder folder;
  int port = 0;

 private:
  pid_t sshd_ = -1;
};

TEST_F(Ssh, ASweepThereIsAFileHere) {
  install_program();
  const Outcome outcome = collect("ssh:gpubox/simulated:H200");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("on gpubox"));
  const Outcome local = run(folder, {"collect", "-a", "N=[128,256,384]", "-a", "d=64", "-a", "heads=2", "-a",
                                     "algorithm=fa2", "--device", "simulated:H200", "-o", path("local.attnscope")});
  ASSERT_EQ(local.exit_code, 0);
  const RunStore here = RunStore::open(path("here.attnscope"), RunStore::Mode::read_only);
  const RunStore beside = RunStore::open(path("local.attnscope"), RunStore::Mode::read_only);
  const auto points = here.points();
  const auto same = beside.points();
  ASSERT_EQ(points.size(), 3U);
  ASSERT_EQ(same.size(), 3U);
  for (std::size_t i = 0; i < points.size(); ++i) {  // the same simulation, here and there
    EXPECT_EQ(points[i].record.spec, same[i].record.spec);
    ASSERT_EQ(points[i].record.kernels.size(), same[i].record.kernels.size());
    for (std::size_t k = 0; k < same[i].record.kernels.size(); ++k) {
      EXPECT_EQ(points[i].record.kernels[k].metrics, same[i].record.kernels[k].metrics);
      EXPECT_EQ(points[i].record.kernels[k].samples_ns, same[i].record.kernels[k].samples_ns);
    }
  }
  EXPECT_EQ(here.runs().front().device_uuid, beside.runs().front().device_uuid);
  EXPECT_FALSE(fs::exists(path("there/attnscope/runs")));
}

TEST_F(Ssh, AMissingProgramIsCopied) {
  const Outcome missing = collect("ssh:gpubox/simulated:H200");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("there is no attnscope on gpubox: 'attnscope remote --copy-to gpubox'"));
  EXPECT_FALSE(fs::exists(path("here.attnscope")));
  const Outcome copied = run(folder, {"remote", "--copy-to", "gpubox"}, by_config());
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_THAT(copied.out, HasSubstr(path("there/attnscope/programs/")));
  const Outcome outcome = collect("ssh:gpubox/simulated:H200");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(Ssh, AnOlderProgramIsNamed) {
  write_file(path("bin/attnscope"), "#!/bin/sh\necho \"attnscope: unknown command 'remote'\" >&2\nexit 2\n", 0755);
  const Outcome outcome = collect("ssh:gpubox");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("attnscope on gpubox is older than this one"));
}

TEST_F(Ssh, AKeyThatIsNotLetInIsNamed) {
  install_program();
  use_key("other_key");
  const Outcome outcome = collect("ssh:gpubox/simulated:H200");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("ssh-copy-id gpubox"));
}

TEST_F(Ssh, AHostThatIsNotKnownIsNamed) {
  install_program();
  write_file(path("known_hosts"), "");
  const Outcome outcome = collect("ssh:gpubox/simulated:H200");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("run 'ssh gpubox' once"));
}

TEST_F(Ssh, ADeviceThatIsNotThereIsNamed) {
  install_program();
  const Outcome outcome = collect("ssh:gpubox/simulated:Abacus");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("gpubox: "));
  EXPECT_THAT(outcome.err, HasSubstr("Abacus"));
  EXPECT_EQ(collect("ssh:gpu box").exit_code, 2);
}

// The connection is cut under a session; it goes on by another, and what was asked is answered.
TEST_F(Ssh, ALostConnectionIsMadeAnew) {
  install_program();
  SessionClient client(folder,
                       {"collect", "--serve", "--device", "ssh:gpubox/simulated:H200", "-o", path("here.attnscope")},
                       by_config());
  client.until<PlanEvent>();
  client.ask(asks_for("a", 256));
  EXPECT_EQ(client.until<PointEvent>().id, "a");
  ASSERT_EQ(::kill(std::stoi(read(path("there/pid"))), SIGKILL), 0);
  client.ask(asks_for("b", 512));
  EXPECT_EQ(client.until<PointEvent>().id, "b");
  client.ask(end_line() + "\n");
  client.end();
  EXPECT_THAT(client.answers(), ::testing::ElementsAre("point a", "point b"));
  const RunStore here = RunStore::open(path("here.attnscope"), RunStore::Mode::read_only);
  EXPECT_EQ(here.points().size(), 2U);
}

}  // namespace
}  // namespace attnscope::testing
