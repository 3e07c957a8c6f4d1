// SPDX-License-Identifier: Apache-2.0
// Atomic file output: content goes to a temporary file in the same folder, which replaces the target when complete.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// SQLite application_id of measurement files: "Attn" in ASCII.
inline constexpr int application_id = 0x4174746E;

/// File kind of a writer; it may overwrite files of the same kind.
struct FileKind {
  std::string_view noun;                             ///< for messages: "an attnscope table"
  bool (*is_one)(std::string_view first) = nullptr;  ///< tests a file's first 4 KiB; null: any file may be replaced
};

namespace file_kind {
extern const FileKind measurements, csv, json, png, svg, pdf;
/// Returns the kind by file name suffix; an unknown suffix allows overwriting any file.
[[nodiscard]] FileKind for_file_name(const std::filesystem::path&);
}  // namespace file_kind

/// Temporary file in the folder of `place`, with a random name, opened with O_EXCL and locked until the process ends.
/// The destructor removes it unless it was published. Also removes temporary files that killed processes left.
class TemporaryFile {
 public:
  /// Uses the mode and owner of an existing `place`, else the umask. Throws FileError.
  explicit TemporaryFile(const std::filesystem::path& place);
  TemporaryFile(TemporaryFile&&) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  enum class OverwriteMode { nothing, existing_file };
  /// Syncs the data to disk and renames the file to `place`. Throws FileError, and removes the file, on an error or if
  /// `place` exists by now and may not be overwritten.
  void publish(OverwriteMode);

 private:
  std::filesystem::path place_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Output file given by the user. Regular files are replaced atomically and keep their mode; symlinks are followed;
/// devices, pipes and sockets are written in place.
class OutputFile {
 public:
  enum class ExistingFile {
    same_kind,  ///< replace only an empty file or one of the same kind
    any,        ///< replace any file (--force)
  };
  /// Throws FileError with the path if the target is a folder, a file of another kind, or not writable.
  OutputFile(const std::filesystem::path& target, const FileKind&, ExistingFile);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Open for writing, at offset 0.
  [[nodiscard]] int descriptor() const;
  /// Path of the temporary file; empty for a device or pipe.
  [[nodiscard]] std::filesystem::path temporary_path() const;
  /// Final path, with symlinks resolved.
  [[nodiscard]] const std::filesystem::path& final_path() const { return target_; }
  /// Writes all of `text`. Throws FileError.
  void write(std::string_view text);
  /// Moves the file to its final path. Throws FileError and keeps the old file.
  void commit();

 private:
  std::filesystem::path target_;
  std::optional<TemporaryFile> temporary_;
  int direct_ = -1;
};

/// Removes unlocked temporary files that killed writers of `place` left. Ignores errors; never follows symlinks.
void remove_stale_temporaries(const std::filesystem::path& place);
/// Resolves symlinks, including dangling ones, to the path that would be written. Returns `path` unchanged if its
/// folder does not exist; throws FileError if a symlink leads into a folder that does not exist.
[[nodiscard]] std::filesystem::path resolve_symlinks(const std::filesystem::path&);
/// Throws FileError (Kind::not_a_database) if the path exists and is neither a regular file nor a folder. A device has
/// size 0, too, but is not an empty file.
void require_regular_file(const std::filesystem::path& file);

}  // namespace attnscope
