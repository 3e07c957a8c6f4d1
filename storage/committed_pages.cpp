// SPDX-License-Identifier: Apache-2.0
// The formats are SQLite's (https://www.sqlite.org/fileformat2.html, sections 1.3 and 4.1), which it promises to keep.
#include "storage/committed_pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>

namespace attnscope {
namespace {

constexpr std::size_t frame_header_size = 24;

std::uint32_t big_endian(std::span<const unsigned char> bytes) {
  std::uint32_t value = 0;
  for (const unsigned char byte : bytes.first(4)) value = value << 8U | byte;
  return value;
}

bool begins_a_log(std::span<const unsigned char> header) {
  return (big_endian(header) | 1U) == 0x377f0683U;
}

bool read_at(int descriptor, void* bytes, std::size_t size, std::size_t offset) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got =
        ::pread(descriptor, static_cast<char*>(bytes) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

/// What is larger is not kept in memory, and not rescued where it is written over.
constexpr std::size_t most_bytes = std::size_t{1} << 30U;

}  // namespace

CommittedPages::CommittedPages(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)),
      log_(::open((file.string() + "-wal").c_str(), O_RDONLY | O_CLOEXEC)) {
  std::array<unsigned char, 18> head{};
  whole_ = log_ >= 0 && read_at(file_, head.data(), head.size(), 0);
  if (!whole_) return;
  const std::size_t size = std::size_t{head[16]} << 8U | head[17];
  page_size_ = size == 1 ? 65'536 : size;
  seen_ = state();
  whole_ = page_size_ >= 512 && static_cast<std::size_t>(seen_.size) <= most_bytes;
  if (whole_) pages_.resize(static_cast<std::size_t>(seen_.size) / page_size_);
  for (std::size_t i = 0; i < pages_.size() && whole_; ++i) {
    pages_[i].resize(page_size_);
    whole_ = read_at(file_, pages_[i].data(), page_size_, i * page_size_);
  }
  count_ = pages_.size();
}

CommittedPages::~CommittedPages() {
  if (file_ >= 0) ::close(file_);
  if (log_ >= 0) ::close(log_);
}

CommittedPages::State CommittedPages::state() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) return {};
  return {.size = status.st_size, .modified_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
}

CommittedPages::LogHeader CommittedPages::log_header() const {
  LogHeader header{};
  if (!read_at(log_, header.data(), header.size(), 0)) header.fill(0);
  return header;
}

void CommittedPages::take(int frames) {
  if (!whole_) return;
  // SQLite begins the log anew, with other salts, once all of it is in the file.
  if (const LogHeader header = log_header(); header != header_) {
    taken_ = 0;
    header_ = header;
  }
  const auto salts = std::span(header_).subspan(16, 8);
  const std::size_t frame_size = frame_header_size + page_size_;
  std::string frame(frame_size, '\0');
  for (; taken_ < frames && whole_; ++taken_) {
    whole_ = read_at(log_, frame.data(), frame_size, header_.size() + static_cast<std::size_t>(taken_) * frame_size);
    const std::span<const unsigned char> head(reinterpret_cast<const unsigned char*>(frame.data()), frame_header_size);
    const std::size_t number = big_endian(head);
    whole_ = whole_ && number > 0 && std::ranges::equal(salts, head.subspan(8, 8));
    if (!whole_) return;
    if (number * page_size_ > most_bytes) return give_up();
    if (pages_.size() < number) pages_.resize(number);
    std::string& page = pages_[number - 1];
    before_.try_emplace(number - 1, std::hash<std::string>()(page));
    page.assign(frame, frame_header_size);
    if (const std::uint32_t count = big_endian(head.subspan(4)); count > 0) count_ = count;
    if (pages_.size() < count_) pages_.resize(count_);  // SQLite writes none that is free
  }
}

void CommittedPages::give_up() {
  whole_ = false;
  pages_ = {};
}

void CommittedPages::written_back(bool complete) {
  seen_ = state();
  if (complete) before_.clear();
}

bool CommittedPages::file_is_ours() {
  const State now = state();
  if (!whole_ || now == seen_) return true;
  if (now.size < seen_.size) return false;
  // Another program may have written back what the log has.
  std::string page(page_size_, '\0');
  for (std::size_t i = 0; i < count_; ++i) {
    if (pages_[i].empty() || !read_at(file_, page.data(), page_size_, i * page_size_)) continue;
    const auto earlier = before_.find(i);
    if (page != pages_[i] && (earlier == before_.end() || std::hash<std::string>()(page) != earlier->second)) {
      return false;
    }
  }
  seen_ = now;
  return true;
}

bool CommittedPages::log_is_ours(int frames) const {
  struct stat status {};
  if (!whole_ || frames == 0) return true;
  const std::size_t least = header_.size() + static_cast<std::size_t>(frames) * (frame_header_size + page_size_);
  return ::fstat(log_, &status) == 0 && static_cast<std::size_t>(status.st_size) >= least && begins_a_log(log_header());
}

void CommittedPages::write_to(int descriptor) const {
  const std::string free(page_size_, '\0');
  for (std::size_t i = 0; i < count_; ++i) {
    const std::string& page = pages_[i].empty() ? free : pages_[i];
    for (std::size_t done = 0; done < page_size_;) {
      const ssize_t written = ::write(descriptor, page.data() + done, page_size_ - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw std::system_error(errno, std::generic_category());
      done += static_cast<std::size_t>(written);
    }
  }
}

}  // namespace attnscope
