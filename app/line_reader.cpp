// SPDX-License-Identifier: Apache-2.0
#include "app/line_reader.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace attnscope {

LineReader::LineReader(Listener listener, std::size_t longest, int descriptor)
    : listener_(std::move(listener)), longest_(longest), descriptor_(descriptor), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (stop_ < 0) throw std::system_error(errno, std::generic_category());
  thread_ = std::thread([this] { read(); });
}

LineReader::~LineReader() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(stop_);
}

void LineReader::read() {
  std::array<char, 16'384> buffer{};
  for (;;) {
    std::array<pollfd, 2> watched{{{descriptor_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return listener_.on_end();
    }
    if (watched[1].revents != 0) return;
    const ssize_t length = ::read(descriptor_, buffer.data(), buffer.size());
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (length <= 0) {
      if (!line_.empty() && !skipping_) listener_.on_line(std::exchange(line_, {}));
      return listener_.on_end();
    }
    consume({buffer.data(), static_cast<std::size_t>(length)});
  }
}

void LineReader::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (!skipping_) line_ += bytes.substr(0, end);
    if (line_.size() > longest_) {
      line_.clear();
      skipping_ = true;
    }
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, {});
    if (std::exchange(skipping_, false)) {
      listener_.on_long_line();
    } else {
      listener_.on_line(line);
    }
  }
}

}  // namespace attnscope
