// SPDX-License-Identifier: Apache-2.0
// worker: measures points for a supervisor, as a child process or over ssh (--device ssh:HOST).
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/worker_service.h"

namespace attnscope {

Action add_worker(CLI::App& command) {
  return [options = add_worker_options(command)] {
    CancelToken& cancel = cancel_on_signals();
    std::signal(SIGPIPE, SIG_IGN);
    // Redirects stdout to stderr, so that output of libraries does not mix with the protocol.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    try {
      return serve_worker(*options, STDIN_FILENO, out, cancel);
    } catch (const CommandError& error) {
      send_worker_failure(error, out);
      throw;
    }
  };
}

}  // namespace attnscope
