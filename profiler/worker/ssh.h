// SPDX-License-Identifier: Apache-2.0
// Connects to a remote host with the user's ssh: its configuration, keys and known hosts apply, without any prompts.
// $ATTNSCOPE_SSH_CONFIG names another file for `ssh -F`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/model/result.h"
#include "profiler/worker/link.h"
#include "profiler/worker/worker_device.h"

namespace attnscope::worker {

struct SshTarget {
  std::string host;    ///< "user@host", as ssh accepts it.
  std::string device;  ///< Value of --device on the remote host; empty: its first GPU.
};
inline constexpr std::string_view ssh_prefix = "ssh:";

/// Parses "ssh:HOST" or "ssh:HOST/DEVICE". Rejects text that ssh could take as an option or a shell could expand.
[[nodiscard]] Result<SshTarget, Message> parse_ssh_target(std::string_view word);

/// Starts `attnscope worker` from the remote PATH.
[[nodiscard]] Result<std::unique_ptr<Link>, Message> connect(const SshTarget&, bool counters);

/// Explains why the connection failed and suggests a fix. `app_version`: version of this program.
[[nodiscard]] Message explain(const SshTarget&, const OpenFailure&, std::string_view app_version);
}  // namespace attnscope::worker
