// SPDX-License-Identifier: Apache-2.0
// Ports of the loopback interface, for daemons started by tests.
#pragma once

namespace attnscope::hosts {

/// Returns a port on which no process listens.
[[nodiscard]] int find_free_port();
[[nodiscard]] bool is_port_open(int port);

}  // namespace attnscope::hosts
