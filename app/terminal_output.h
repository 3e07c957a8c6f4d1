// SPDX-License-Identifier: Apache-2.0
// Standard output where a terminal shows it.
#pragma once

namespace attnscope {

/// What std::cout is given from here on, CSV and JSON, too, steers no terminal: it is spelled out there, but for line
/// breaks and tabs. Files and pipes get every byte.
void spell_out_for_a_terminal();

}  // namespace attnscope
