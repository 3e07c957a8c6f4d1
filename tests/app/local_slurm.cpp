// SPDX-License-Identifier: Apache-2.0
#include "tests/app/local_slurm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>
#include <utility>

#include "tests/app/loopback.h"

namespace attnscope::hosts {
namespace {

namespace fs = std::filesystem;
constexpr std::array daemons{"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"};

}  // namespace

LocalSlurm::LocalSlurm(fs::path folder) : folder_(std::move(folder)) {
  for (const char* daemon : daemons) {
    if (fs::exists(daemon)) continue;
    why_not_ = fmt::format("there is no {} (slurm-wlm, munge)", daemon);
    return;
  }
  if (::geteuid() != 0) {
    why_not_ = "Slurm's daemons start jobs for others, and want root";
    return;
  }
  for (const char* name : {"spool", "state", "munge", "log"}) fs::create_directories(folder_ / name);
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::others_exec | fs::perms::group_exec);
  fs::permissions(folder_ / "munge", fs::perms::owner_all);
  {
    std::ofstream key(folder_ / "munge/key", std::ios::binary);
    std::random_device random;
    for (int i = 0; i < 128; ++i) key.put(static_cast<char>(random()));
  }
  fs::permissions(folder_ / "munge/key", fs::perms::owner_read);
  start({daemons[0], "--foreground", "--force", "--key-file=" + path("munge/key"), "--socket=" + path("munge/socket"),
         "--pid-file=" + path("munge/pid"), "--log-file=" + path("munge/log"), "--seed-file=" + path("munge/seed")},
        "munge");
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  write_configuration(std::string(host.data()).substr(0, std::string(host.data()).find('.')));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto waiting = [&] { return std::chrono::steady_clock::now() < deadline; };
  while (!fs::exists(path("munge/socket")) && waiting()) {
  }
  start({daemons[1], "-D", "-c"}, "slurmctld");
  for (const char* node : {"n1", "n2"}) start({daemons[2], "-D", "-N", node}, node);
  while (say("sinfo --noheader --Node --format=%T") != "idle\nidle\n" && waiting()) {
  }
  if (!waiting()) why_not_ = "Slurm does not run here: " + say("tail -n 3 log/*");
}

LocalSlurm::~LocalSlurm() {
  for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
    ::kill(*daemon, SIGTERM);
    ::waitpid(*daemon, nullptr, 0);
  }
}

std::map<std::string, std::string> LocalSlurm::environment() const {
  return {{"SLURM_CONF", path("slurm.conf")}};
}

std::string LocalSlurm::say(const std::string& command) const {
  const std::string line =
      fmt::format("cd '{}' && SLURM_CONF='{}' {} 2>/dev/null", folder_.string(), path("slurm.conf"), command);
  std::string said;
  std::FILE* out = ::popen(line.c_str(), "r");
  for (int c = 0; out != nullptr && (c = std::fgetc(out)) != EOF;) said += static_cast<char>(c);
  if (out != nullptr) ::pclose(out);
  return said;
}

void LocalSlurm::start(const std::vector<std::string>& words, const std::string& log) {
  const pid_t child = ::fork();
  if (child > 0) return daemons_.push_back(child);
  const int file = ::open(path("log/" + log).c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::setenv("SLURM_CONF", path("slurm.conf").c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

void LocalSlurm::write_configuration(const std::string& host) const {
  std::ofstream(path("slurm.conf")) << fmt::format(
      R"conf(ClusterName=attnscope
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=2
MinJobAge=600
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=4 RealMemory=1000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=4 RealMemory=1000
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
)conf",
      fmt::arg("host", host), fmt::arg("folder", folder_.string()), fmt::arg("controller", find_free_port()),
      fmt::arg("first", find_free_port()), fmt::arg("second", find_free_port()));
}

}  // namespace attnscope::hosts
