// SPDX-License-Identifier: Apache-2.0
#include "app/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace attnscope {

void occupy_standard_descriptors() {
  // The lowest that is free is given out first, so after one that is above them nothing is left to take.
  int taken = STDIN_FILENO;
  while (taken >= STDIN_FILENO && taken <= STDERR_FILENO) taken = ::open("/", O_PATH);
  if (taken > STDERR_FILENO) ::close(taken);
}

}  // namespace attnscope
