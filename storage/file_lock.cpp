// SPDX-License-Identifier: Apache-2.0
#include "storage/file_lock.h"

#include <fcntl.h>

#include <cerrno>

namespace attnscope {

FileLock lock_file(int descriptor) {
  // Not flock(): NFS makes it a lock on all bytes, SQLite's among them.
  constexpr off_t far_byte = off_t{1} << 62;
  struct flock request {};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  request.l_start = far_byte;
  request.l_len = 1;
  if (::fcntl(descriptor, F_OFD_SETLK, &request) == 0) return FileLock::taken;
  return errno == EAGAIN || errno == EACCES ? FileLock::held : FileLock::unsupported;
}

}  // namespace attnscope
