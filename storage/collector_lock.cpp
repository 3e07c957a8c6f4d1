// SPDX-License-Identifier: Apache-2.0
#include "storage/collector_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "profiler/files/file_error.h"

namespace attnscope {
namespace {

std::filesystem::path lock_path(const std::filesystem::path& file) {
  return file.string() + "-lock";
}

struct flock whole_file(short type) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  return request;
}

/// Returns the process id that the holder wrote; empty if it cannot be read.
std::string lock_holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

/// Returns false if the previous holder removed the file between open() and the lock, which then protects nothing.
bool refers_to_path(int descriptor, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

}  // namespace

CollectorLock CollectorLock::acquire(const std::filesystem::path& file) {
  const std::filesystem::path path = lock_path(file);
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
      throw FileError(FileError::Kind::not_writable,
                      "cannot write {}: cannot create {} in its folder ({}); use another folder with -o", file.string(),
                      path.filename().string(), std::strerror(errno));
    }
    CollectorLock lock(path, descriptor);
    struct flock request = whole_file(F_WRLCK);
    if (::fcntl(descriptor, F_OFD_SETLK, &request) != 0) {
      lock.path_.clear();  // do not remove the holder's file
      const std::string process = lock_holder(descriptor);
      if (process.empty()) {
        throw FileError(FileError::Kind::locked, "{} is in use by another collector (wait for it, or use another file)",
                        file.string());
      }
      throw FileError(FileError::Kind::locked,
                      "{} is in use by another collector, process {} (wait for it, or use another file)", file.string(),
                      process);
    }
    if (!refers_to_path(descriptor, path)) {
      lock.path_.clear();
      continue;
    }
    const std::string process = std::to_string(::getpid());
    // The id is only used in error messages, so a full disk is not an error.
    if (::ftruncate(descriptor, 0) == 0) {
      [[maybe_unused]] const ssize_t written = ::pwrite(descriptor, process.data(), process.size(), 0);
    }
    return lock;
  }
}

bool CollectorLock::held(const std::filesystem::path& file) {
  const int descriptor = ::open(lock_path(file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  struct flock request = whole_file(F_RDLCK);
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

CollectorLock::CollectorLock(CollectorLock&& other) noexcept
    : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}

CollectorLock& CollectorLock::operator=(CollectorLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

CollectorLock::~CollectorLock() {
  if (descriptor_ < 0) return;
  // Remove the file while still locked, and only if it is the locked one.
  if (!path_.empty() && refers_to_path(descriptor_, path_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace attnscope
