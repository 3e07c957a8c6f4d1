// SPDX-License-Identifier: Apache-2.0
// Ports of this machine's loopback, for daemons that tests start.
#pragma once

namespace attnscope::hosts {

/// A port that nobody listens at now.
[[nodiscard]] int free_port();
[[nodiscard]] bool listens(int port);

}  // namespace attnscope::hosts
