// SPDX-License-Identifier: Apache-2.0
// What a collector has committed, page by page, in memory: the bytes of a file that somebody empties or writes over are
// gone, whoever has it open. Internal to storage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace attnscope {

class CommittedPages {
 public:
  /// `file` and its log, which a connection of this process in WAL mode has read from and which this outlives: closing
  /// a descriptor of the file drops SQLite's locks on it.
  explicit CommittedPages(const std::filesystem::path& file);
  CommittedPages(const CommittedPages&) = delete;
  CommittedPages& operator=(const CommittedPages&) = delete;
  ~CommittedPages();

  /// After a commit that left so many frames in the log.
  void take(int frames);
  /// The log cannot be known.
  void give_up();
  /// After a checkpoint of ours. `complete`: the file has all that was taken.
  void written_back(bool complete);
  /// False where somebody else has changed the file: it is shorter, or has pages that are none of ours.
  [[nodiscard]] bool file_is_ours();
  /// False where the log has fewer bytes than so many frames take, or begins as none does.
  [[nodiscard]] bool log_is_ours(int frames) const;

  /// Whether all that was committed is here; not where the system took it away, or another program the log.
  [[nodiscard]] bool whole() const { return whole_; }
  /// What the file would be with all of it written back. Throws std::system_error.
  void write_to(int descriptor) const;

 private:
  using LogHeader = std::array<unsigned char, 32>;
  struct State {
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] State state() const;
  [[nodiscard]] LogHeader log_header() const;

  int file_ = -1;
  int log_ = -1;
  bool whole_ = true;
  State seen_;
  std::size_t page_size_ = 0;
  std::vector<std::string> pages_;  ///< an empty one is free, and was never written
  std::size_t count_ = 0;           ///< of pages that the last commit left
  LogHeader header_{};
  int taken_ = 0;  ///< frames of the log with that header
  /// Of pages that were taken since the file had all: what it may still have of each, hashed.
  std::unordered_map<std::size_t, std::size_t> before_;
};

}  // namespace attnscope
