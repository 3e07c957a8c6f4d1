// SPDX-License-Identifier: Apache-2.0
#include "app/joined_files.h"

#include <spdlog/spdlog.h>

namespace attnscope {

ExitCode with_join_report(const JoinReport& report) {
  for (const auto* messages :
       {&report.left_out, &report.missing, &report.conflicts, &report.not_copied, &report.unverified}) {
    for (const Message& message : *messages) spdlog::warn("{}", one_line(text(message)));
  }
  return report.whole() ? ExitCode::ok : ExitCode::partial;
}

}  // namespace attnscope
