// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "kernels/model/parse.h"
#include "profiler/files/file_error.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Kind = FileError::Kind;

constexpr std::string_view temporary_suffix = ".part";
constexpr std::size_t random_digits = 16;

FileError write_error(const fs::path& file, std::string_view why) {
  return {Kind::not_writable, make_message("cannot write {}: {} (choose another path)", file.string(), why)};
}

std::string why_not(int error) {
  if (error == ENOENT) return "no such folder";
  if (error == EACCES) return "permission denied";
  return std::strerror(error);
}

FileError write_error(const fs::path& file, int error) {
  FileError cannot = write_error(file, why_not(error));
  return error == ENOSPC || error == EDQUOT || error == EFBIG ? FileError(Kind::disk_full, cannot.message()) : cannot;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// Prefix ".<name>." of temporary files, cut so that the name fits every file system.
std::string temporary_prefix(const fs::path& place) {
  return fmt::format(".{}.", place.filename().string().substr(0, 200));
}

bool is_temporary_of(const std::string& name, const std::string& prefix) {
  return name.size() == prefix.size() + random_digits + temporary_suffix.size() && name.starts_with(prefix) &&
         name.ends_with(temporary_suffix) &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == prefix.size() + random_digits;
}

/// Locks a temporary file until its descriptor is closed. Uses an OFD lock, which closing other descriptors does not
/// drop, on a byte beyond those that SQLite locks. Returns 0 or errno; EAGAIN or EACCES if another open file holds the
/// lock.
int lock(int descriptor) {
  // Not flock(): NFS implements it as a lock on the whole file, which conflicts with SQLite.
  struct flock request {};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  request.l_start = off_t{1} << 62;
  request.l_len = 1;
  return ::fcntl(descriptor, F_OFD_SETLK, &request) == 0 ? 0 : errno;
}

/// Returns false if another process removed the file as a leftover between our open() and our lock.
bool is_still_linked(int descriptor, const fs::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) throw std::system_error(errno, std::generic_category());
  return bits;
}

void sync_folder(const fs::path& file) {
  const int descriptor = ::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);  // best effort; not every file system supports it
  ::close(descriptor);
}

/// Renames without replacing an existing file. Returns 0 or errno.
int rename_without_replacing(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno == EEXIST) return errno;
  struct stat there {};  // no atomic operation available on this file system
  if (::lstat(to.c_str(), &there) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

std::string first_bytes(const fs::path& file, int& error) {
  std::string text(4096, '\0');
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const ssize_t length = descriptor < 0 ? -1 : ::pread(descriptor, text.data(), text.size(), 0);
  error = length < 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

std::string_view header_line(std::string_view text) {
  if (constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF"; text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  while (text.starts_with('#')) text.remove_prefix(std::min(text.size() - 1, text.find('\n')) + 1);
  return text.substr(0, text.find_first_of("\r\n"));
}

bool is_measurements(std::string_view text) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  constexpr std::size_t id_offset = 68;  // byte offset in SQLite's file header; big-endian
  if (text.size() < id_offset + 4 || !text.starts_with(magic)) return false;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8U | static_cast<unsigned char>(text[id_offset + i]);
  return id == static_cast<std::uint32_t>(application_id);
}

/// True for a CSV table of points or another CSV table of ours.
bool is_table(std::string_view text) {
  constexpr std::array<std::string_view, 4> others{"run,name,", "item,status,", "file,state,",
                                                   "device_uuid,measured_at,"};
  const std::string_view header = header_line(text);
  const std::vector<std::string_view> columns = split_text(header, ',');
  return std::ranges::find(columns, "algorithm") != columns.end() ||
         std::ranges::any_of(others, [&](std::string_view begin) { return header.starts_with(begin); });
}

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

bool is_png(std::string_view text) {
  return text.starts_with("\x89PNG\r\n\x1a\n");
}

bool is_svg(std::string_view text) {
  return text.find("<svg") != std::string_view::npos;
}

bool is_pdf(std::string_view text) {
  return text.starts_with("%PDF-");
}

/// Returns true if the path leads through /proc, as /dev/stdout does, and so names an open file.
bool is_open_file(const fs::path& link) {
  std::error_code ignored;
  return fs::weakly_canonical(folder_of(link), ignored).string().starts_with("/proc/");
}

}  // namespace

namespace file_kind {
const FileKind measurements{"an attnscope file", is_measurements};
const FileKind csv{"an attnscope table", is_table};
const FileKind json{"a JSON document", is_json};
const FileKind png{"a PNG image", is_png};
const FileKind svg{"an SVG image", is_svg};
const FileKind pdf{"a PDF document", is_pdf};

FileKind for_file_name(const std::filesystem::path& name) {
  const std::string suffix = lower_case(name.extension().string());
  for (const auto& [of_kind, kind] : {std::pair(".png", &png), std::pair(".svg", &svg), std::pair(".pdf", &pdf),
                                      std::pair(".csv", &csv), std::pair(".json", &json)}) {
    if (suffix == of_kind) return *kind;
  }
  return {"a file of that kind", nullptr};
}
}  // namespace file_kind

std::filesystem::path resolve_symlinks(const std::filesystem::path& name) {
  fs::path file = name;
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(file, error)); ++links) {
    const fs::path next = fs::read_symlink(file, error);
    if (error) return name;
    file = next.is_absolute() ? next : folder_of(file) / next;
  }
  const fs::path folder = fs::canonical(folder_of(file), error);
  if (!error) return folder / file.filename();
  if (file == name) return name;
  throw FileError(Kind::not_writable,
                  "cannot write {}: its symlink target {} is in a missing folder (create it or choose another path)",
                  name.string(), file.string());
}

void remove_stale_temporaries(const fs::path& place) {
  const std::string prefix = temporary_prefix(place);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(place), ignored)) {
    if (!is_temporary_of(entry.path().filename().string(), prefix)) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (lock(descriptor) == 0 && is_still_linked(descriptor, entry.path())) {
      for (const char* beside : {"-wal", "-shm", "-journal"}) ::unlink((entry.path().string() + beside).c_str());
      ::unlink(entry.path().c_str());
    }
    ::close(descriptor);
  }
}

void require_regular_file(const std::filesystem::path& file) {
  struct stat there {};
  if (::stat(file.c_str(), &there) != 0) {
    if (errno == ELOOP) throw FileError(Kind::not_a_database, "symlink loop: {} (choose another file)", file.string());
    return;
  }
  if (S_ISREG(there.st_mode) || S_ISDIR(there.st_mode)) return;
  throw FileError(Kind::not_a_database, "{} is a device, pipe or socket (choose a regular file)", file.string());
}

TemporaryFile::TemporaryFile(const std::filesystem::path& place) : place_(place) {
  remove_stale_temporaries(place);
  struct stat there {};
  const bool replaces = ::stat(place.c_str(), &there) == 0;
  if (replaces) require_regular_file(place);
  // 0600 until it has the mode of the old file, so that nobody else can read it.
  const mode_t mode = replaces ? 0600 : 0666;
  while (descriptor_ < 0) {
    path_ = folder_of(place) / fmt::format("{}{:016x}{}", temporary_prefix(place), random_bits(), temporary_suffix);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (descriptor_ < 0) {
      if (errno == EEXIST) continue;
      throw write_error(place, errno);
    }
    const int error = lock(descriptor_);
    if (error == EAGAIN || error == EACCES || !is_still_linked(descriptor_, path_)) {
      ::close(std::exchange(descriptor_, -1));
    }
  }
  if (!replaces) return;
  struct stat made {};
  const bool known = ::fstat(descriptor_, &made) == 0;
  const bool kept = ::fchown(descriptor_, there.st_uid, there.st_gid) == 0 ||
                    (known && made.st_uid == there.st_uid && made.st_gid == there.st_gid);
  // If the owner could not be kept, drop the group bits: they were meant for another group.
  const mode_t wanted = there.st_mode & (kept ? 0777U : 0707U);
  if (::fchmod(descriptor_, wanted) == 0) return;
  // File systems without modes give both files the same one.
  const int error = errno;
  if (known && (made.st_mode & 0777U) == wanted) return;
  ::unlink(path_.c_str());
  ::close(std::exchange(descriptor_, -1));
  throw write_error(place, error);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : place_(std::move(other.place_)),
      path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ < 0) return;
  if (!path_.empty()) {
    for (const char* beside : {"", "-wal", "-shm", "-journal"}) ::unlink((path_.string() + beside).c_str());
  }
  ::close(descriptor_);
}

void TemporaryFile::publish(OverwriteMode over) {
  // Sync before the rename; otherwise a power loss could leave a truncated file under the final name.
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) throw write_error(place_, errno);
  const int error = over == OverwriteMode::nothing                 ? rename_without_replacing(path_, place_)
                    : ::rename(path_.c_str(), place_.c_str()) == 0 ? 0
                                                                   : errno;
  if (error == EEXIST) throw write_error(place_, "another process just created it");
  if (error != 0) throw write_error(place_, error);
  path_.clear();
  sync_folder(place_);
}

OutputFile::OutputFile(const std::filesystem::path& target, const FileKind& kind, ExistingFile existing)
    : target_(target) {
  struct stat there {};
  const bool exists = ::stat(target.c_str(), &there) == 0;
  if (!exists && errno != ENOENT) throw write_error(target, errno);
  if (exists && S_ISDIR(there.st_mode)) throw write_error(target, "it is a folder");
  std::error_code error;
  if (exists && (!S_ISREG(there.st_mode) || is_open_file(target) ||
                 (fs::is_symlink(target, error) && is_open_file(fs::read_symlink(target, error))))) {
    // Append, so that existing content of a redirected stdout is kept.
    direct_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (S_ISREG(there.st_mode) ? O_APPEND : 0));
    if (direct_ < 0) throw write_error(target, errno);
    return;
  }
  target_ = resolve_symlinks(target);
  if (exists && there.st_size > 0 && existing == ExistingFile::same_kind && kind.is_one != nullptr) {
    int reason = 0;
    const std::string text = first_bytes(target_, reason);
    if (reason != 0) throw write_error(target, reason);
    if (!kind.is_one(text)) {
      throw FileError(Kind::not_writable, "{} already exists and is not {} (use --force to overwrite it)",
                      target.string(), kind.noun);
    }
  }
  if (exists && ::access(target_.c_str(), W_OK) != 0) throw write_error(target, errno);
  temporary_.emplace(target_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      direct_(std::exchange(other.direct_, -1)) {}

OutputFile::~OutputFile() {
  if (direct_ >= 0) ::close(direct_);
}

int OutputFile::descriptor() const {
  return temporary_ ? temporary_->descriptor() : direct_;
}

std::filesystem::path OutputFile::temporary_path() const {
  return temporary_ ? temporary_->path() : std::filesystem::path();
}

void OutputFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw write_error(target_, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  if (temporary_) return temporary_->publish(TemporaryFile::OverwriteMode::existing_file);
  if (::close(std::exchange(direct_, -1)) != 0) throw write_error(target_, errno);
}

}  // namespace attnscope
