// SPDX-License-Identifier: Apache-2.0
// A machine by the user's own ssh: its configuration, keys and known hosts decide; nothing is asked, no password
// either. $ATTNSCOPE_SSH_CONFIG names another file for `ssh -F`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/model/result.h"
#include "profiler/worker/link.h"
#include "profiler/worker/worker_device.h"

namespace attnscope::worker {

struct SshTarget {
  std::string host;    ///< "user@host", as ssh takes it
  std::string device;  ///< what --device takes there; empty: its first GPU

  /// "ssh:user@host/1"
  [[nodiscard]] std::string word() const;
};
inline constexpr std::string_view ssh_prefix = "ssh:";

/// "ssh:HOST" or "ssh:HOST/DEVICE". Nothing in either can be an option of ssh, or more than a word to a shell.
[[nodiscard]] Result<SshTarget, Message> parse_ssh_target(std::string_view word);

/// Starts `attnscope remote` there: the one in PATH.
[[nodiscard]] Result<std::unique_ptr<Link>, Message> connect(const SshTarget&, bool counters);

/// Why it did not open, and what to do about it. `app_version`: this program's.
[[nodiscard]] Message explain(const SshTarget&, const OpenFailure&, std::string_view app_version);
/// Whether a later try may well succeed: nobody could be reached.
[[nodiscard]] bool may_pass(const OpenFailure&);

}  // namespace attnscope::worker
