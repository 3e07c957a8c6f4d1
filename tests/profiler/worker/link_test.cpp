// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/link.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace attnscope::worker {
namespace {

// The cause of a failure is in the last line.
TEST(WorkerLink, KeepsTheEndOfStderr) {
  const auto link = start_child({"sh", "-c", "printf '%05000d\\nboom\\n' 0 >&2"});
  ASSERT_TRUE(link.ok());
  std::string line;
  while ((*link)->receive(line, std::chrono::seconds(1)) != Link::ReceiveStatus::end) {
  }
  // 5,006 bytes were written; the last 4,096 are kept.
  EXPECT_EQ((*link)->end().stderr_tail, std::string(4090, '0') + "\nboom\n");
}

/// Two pipes: the link's ends and the peer's.
struct Pipes {
  std::array<int, 2> to_peer{-1, -1};
  std::array<int, 2> from_peer{-1, -1};

  Pipes() {
    EXPECT_EQ(::pipe(to_peer.data()), 0);
    EXPECT_EQ(::pipe(from_peer.data()), 0);
  }
};

TEST(WorkerLink, ConnectsToPipes) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipes pipes;
  const auto link = connect_descriptors(pipes.from_peer[0], pipes.to_peer[1]);
  ASSERT_TRUE(link.ok());
  std::string line;
  EXPECT_EQ((*link)->receive(line, std::chrono::milliseconds(0)), Link::ReceiveStatus::nothing);
  EXPECT_TRUE((*link)->send("question"));
  std::array<char, 9> request{};
  EXPECT_EQ(::read(pipes.to_peer[0], request.data(), request.size()), 9);
  EXPECT_EQ(std::string_view(request.data(), request.size()), "question\n");
  EXPECT_EQ(::write(pipes.from_peer[1], "answer\n", 7), 7);
  EXPECT_EQ((*link)->receive(line, std::chrono::seconds(10)), Link::ReceiveStatus::line);
  EXPECT_EQ(line, "answer");

  // More than a pipe holds: receive() sends the rest as the peer reads.
  const std::string most(std::size_t{1} << 20U, 'x');
  EXPECT_TRUE((*link)->send(most));
  std::thread peer([&] {
    std::vector<char> buffer(65'536);
    for (std::size_t left = most.size() + 1; left > 0;) {
      left -= static_cast<std::size_t>(::read(pipes.to_peer[0], buffer.data(), std::min(left, buffer.size())));
    }
    EXPECT_EQ(::write(pipes.from_peer[1], "all\n", 4), 4);
  });
  EXPECT_EQ((*link)->receive(line, std::chrono::seconds(10)), Link::ReceiveStatus::line);
  peer.join();

  ::close(pipes.to_peer[0]);
  EXPECT_FALSE((*link)->send("lost")) << "the peer has closed its end";
  ::close(pipes.from_peer[1]);
  EXPECT_EQ((*link)->receive(line, std::chrono::seconds(10)), Link::ReceiveStatus::end);
  EXPECT_EQ((*link)->end().exit_code, -1);
}

TEST(WorkerLink, KillingAPeerClosesItsDescriptors) {
  std::array<int, 2> sockets{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const auto link = connect_descriptors(sockets[0], sockets[0]);
  ASSERT_TRUE(link.ok());
  EXPECT_TRUE((*link)->send("x"));
  (*link)->kill_peer();
  std::string line;
  EXPECT_EQ((*link)->receive(line, std::chrono::seconds(10)), Link::ReceiveStatus::end);
  std::array<char, 8> buffer{};
  EXPECT_EQ(::read(sockets[1], buffer.data(), buffer.size()), 2);
  EXPECT_EQ(::read(sockets[1], buffer.data(), buffer.size()), 0) << "end of the input";
  ::close(sockets[1]);
}

TEST(WorkerLink, RejectsClosedDescriptors) {
  const auto link = connect_descriptors(1'000'000, 1'000'001);
  ASSERT_FALSE(link.ok());
  EXPECT_EQ(link.error(), "Bad file descriptor");
}

}  // namespace
}  // namespace attnscope::worker
