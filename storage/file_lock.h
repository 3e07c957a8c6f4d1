// SPDX-License-Identifier: Apache-2.0
// A lock on what an open file is, whatever its names. Internal to storage.
#pragma once

namespace attnscope {

enum class FileLock {
  taken,        ///< until the descriptor is closed, or the process ends
  held,         ///< by another open file
  unsupported,  ///< this file system has no such locks
};

/// Tries to lock the file behind `descriptor`, which is open for writing. The lock is on a byte far beyond those that
/// SQLite locks, and of the kind that closing other descriptors of the file does not drop. Closing this descriptor
/// does drop SQLite's: it has to outlive every connection to the file.
[[nodiscard]] FileLock lock_file(int descriptor);

}  // namespace attnscope
