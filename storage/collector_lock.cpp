// SPDX-License-Identifier: Apache-2.0
#include "storage/collector_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "messages/file.h"
#include "storage/file_lock.h"
#include "storage/run_store.h"

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

/// The process id that the holder wrote; empty when there is none to read.
std::string holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

/// False when the holder before us removed the file between our open and our lock: then it guards nothing.
bool is_file_at(int descriptor, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

/// What lies under the lock's name was made by a collector, or is empty: nobody's file is written over.
bool may_be_a_lock(int descriptor) {
  constexpr off_t longest = 32;
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= longest;
}

/// The databases that this process holds. Trying the lock of one would close a descriptor of it again, and with that
/// drop the locks of the connection that is open here.
class HeldHere {
 public:
  bool insert(const struct stat& file) {
    const std::lock_guard guard(mutex_);
    return files_.emplace(file.st_dev, file.st_ino).second;
  }
  void erase(const struct stat& file) {
    const std::lock_guard guard(mutex_);
    files_.erase({file.st_dev, file.st_ino});
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> files_;
};

HeldHere& held_here() {
  static HeldHere held;
  return held;
}

}  // namespace

CollectorLock CollectorLock::acquire(const std::filesystem::path& file) {
  const std::filesystem::path path = lock_path(file);
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0 && errno == ELOOP) {
      throw StorageError(StorageError::Kind::not_writable,
                         say::file::lock_is_symlink{.file = file.string(), .lock = path.filename().string()});
    }
    if (descriptor < 0) {
      throw StorageError(StorageError::Kind::not_writable,
                         say::file::folder_refuses{
                             .file = file.string(), .name = path.filename().string(), .error = std::strerror(errno)});
    }
    CollectorLock lock(path, descriptor);
    if (!may_be_a_lock(descriptor)) {
      lock.path_.clear();
      throw StorageError(StorageError::Kind::not_writable,
                         say::file::no_lock{.file = file.string(), .lock = path.filename().string()});
    }
    struct flock request = whole_file(F_WRLCK);
    if (::fcntl(descriptor, F_OFD_SETLK, &request) != 0) {
      lock.path_.clear();  // not ours to remove
      const std::string process = holder(descriptor);
      if (process.empty()) {
        throw StorageError(StorageError::Kind::locked, say::file::another_collector{.file = file.string()});
      }
      throw StorageError(StorageError::Kind::locked,
                         say::file::another_collector_process{.file = file.string(), .process = process});
    }
    if (!is_file_at(descriptor, path)) {
      lock.path_.clear();
      continue;
    }
    const std::string process = std::to_string(::getpid());
    // The id is only for the other's message: a full disk may refuse it.
    if (::ftruncate(descriptor, 0) == 0) {
      [[maybe_unused]] const ssize_t written = ::pwrite(descriptor, process.data(), process.size(), 0);
    }
    return lock;
  }
}

void CollectorLock::hold_content(const std::filesystem::path& file) {
  struct stat there {};
  if (::stat(file.c_str(), &there) != 0) {
    throw StorageError(StorageError::Kind::not_writable,
                       say::file::cannot_open{.file = file.string(), .error = std::strerror(errno)});
  }
  const StorageError locked(StorageError::Kind::locked, say::file::another_name{.file = file.string()});
  if (!held_here().insert(there)) throw locked;
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  const FileLock got = descriptor < 0 ? FileLock::unsupported : lock_file(descriptor);
  if (descriptor < 0 || got == FileLock::held) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    held_here().erase(there);
    if (got == FileLock::held) throw locked;
    throw StorageError(StorageError::Kind::not_writable,
                       say::file::not_writable_because{.file = file.string(), .error = std::strerror(error)});
  }
  // Where the file system has no such locks there is the one beside the file, for its name.
  content_ = descriptor;
}

bool CollectorLock::held(const std::filesystem::path& file) {
  const int descriptor = ::open(lock_path(file).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock request = whole_file(F_RDLCK);
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

CollectorLock::CollectorLock(CollectorLock&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      content_(std::exchange(other.content_, -1)) {}

CollectorLock& CollectorLock::operator=(CollectorLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(content_, other.content_);
  return *this;
}

CollectorLock::~CollectorLock() {
  if (content_ >= 0) {
    struct stat held {};
    if (::fstat(content_, &held) == 0) held_here().erase(held);
    ::close(content_);
  }
  if (descriptor_ < 0) return;
  // While still locked, and if it still is ours: no one else's file is removed.
  if (!path_.empty() && is_file_at(descriptor_, path_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace attnscope
