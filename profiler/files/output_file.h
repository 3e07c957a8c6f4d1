// SPDX-License-Identifier: Apache-2.0
// Files that are whole or not there: what is written stands beside its place under a name of its own until it is
// complete, and is put there in one step.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// "Attn" in ASCII: the PRAGMA application_id of a file of measurements.
inline constexpr int application_id = 0x4174746E;

/// What a writer writes: a file of the same kind at its place may be replaced.
struct FileKind {
  std::string_view noun;                             ///< "a table of attnscope's"
  bool (*is_one)(std::string_view first) = nullptr;  ///< by a file's first 4 KiB; null: any file may be replaced
};

namespace file_kind {
extern const FileKind measurements, csv, json, tiles, png, svg, pdf;
/// By the suffix that a picture's or table's name has; any other may replace anything.
[[nodiscard]] FileKind of_name(const std::filesystem::path&);
}  // namespace file_kind

/// A file beside `place`, made with O_EXCL under a random name and held by a lock that dies with the process; removed
/// with this object unless it was published. What killed processes left of the kind is removed on the way.
class TemporaryFile {
 public:
  /// Of a new file the mode is the umask's; of one that replaces `place` it is that of `place`, with its owner.
  /// Throws FileError.
  explicit TemporaryFile(const std::filesystem::path& place);
  TemporaryFile(TemporaryFile&&) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  enum class Over { nothing, what_is_there };
  /// Waits until its bytes are on the disk and gives it its name. Over::nothing fails where something has that name by
  /// now. Throws FileError; the file then goes away.
  void publish(Over);

 private:
  std::filesystem::path place_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// The way of every writer to a file that the user named: a regular file is replaced as a whole, with its mode, and
/// through a symlink what that names; devices, pipes and sockets are written to, never replaced.
class OutputFile {
 public:
  enum class Existing {
    of_its_kind,  ///< only an empty file or one of the same kind is replaced
    any,          ///< the user said so
  };
  /// Throws FileError, in one line with the path: a folder, a file of another kind, a place that refuses.
  OutputFile(const std::filesystem::path& target, const FileKind&, Existing);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Open for writing, at its beginning.
  [[nodiscard]] int descriptor() const;
  /// Where a regular file is being built; empty for a device or a pipe.
  [[nodiscard]] std::filesystem::path building() const;
  /// What is going to be there: the target, its symlinks followed.
  [[nodiscard]] const std::filesystem::path& place() const { return target_; }
  /// All of `text`. Throws FileError, with the cause.
  void write(std::string_view text);
  /// Puts the file in its place. Throws FileError; what was there then stays.
  void commit();

 private:
  std::filesystem::path target_;
  std::optional<TemporaryFile> temporary_;
  int direct_ = -1;
};

/// Removes what killed writers of `place` left beside it, as far as the folder lets us: files of our naming that nobody
/// holds. Never goes through a link.
void remove_leftovers(const std::filesystem::path& place);
/// Where the file is that a name stands for, or would be: symlinks followed, also one that leads nowhere yet. So all
/// names but hard links are one. The name itself where its folder is not to be found; throws FileError where it
/// leads into such a one.
[[nodiscard]] std::filesystem::path behind_links(const std::filesystem::path&);
/// Throws FileError (Kind::not_a_database) where something is there that is no regular file: a device, whose size is
/// 0 as well, is no empty file to be replaced.
void require_regular(const std::filesystem::path& file);

}  // namespace attnscope
