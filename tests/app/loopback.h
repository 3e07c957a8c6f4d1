// SPDX-License-Identifier: Apache-2.0
// Ports of the loopback interface, for daemons started by tests.
#pragma once

namespace attnscope::hosts {

/// Returns a port on which no process listens.
[[nodiscard]] int free_port();
[[nodiscard]] bool listens(int port);

}  // namespace attnscope::hosts
