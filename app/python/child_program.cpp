// SPDX-License-Identifier: Apache-2.0
#include "app/python/child_program.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/worker/link.h"

namespace attnscope {

CommandOutput run_to_end(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                         const CancelToken& cancel, std::span<const std::string> environment) {
  auto link = worker::start_child(words, environment);
  if (!link) {
    return {.text = {}, .error = fmt::format("cannot start {}: {}", words.front(), link.error()), .started = false};
  }
  const auto start = std::chrono::steady_clock::now();
  CommandOutput output;
  const auto kill_with = [&](std::string why) {
    (*link)->kill_peer();
    return CommandOutput{.text = {}, .error = std::move(why), .killed = true};
  };
  for (std::string line;;) {
    constexpr std::chrono::milliseconds poll_interval{100};
    const auto got = (*link)->receive(line, poll_interval);
    if (got == worker::Link::ReceiveStatus::end) break;
    if (got == worker::Link::ReceiveStatus::line) output.text += line + '\n';
    if (cancel.cancelled()) return kill_with("cancelled");
    if (std::chrono::steady_clock::now() - start >= limit)
      return kill_with(fmt::format("no answer within {} s", std::chrono::duration<double>(limit).count()));
  }
  const worker::Link::ExitStatus end = (*link)->end();
  if (end.exit_code == 0) return output;
  if (end.exit_code < 0 && end.signal == 0) return kill_with("closed its output without ending");
  output.error = worker::last_line(end.stderr_tail);
  if (output.error.empty() && end.signal != 0) output.error = fmt::format("ended by signal {}", end.signal);
  if (output.error.empty()) output.error = fmt::format("exit code {}", end.exit_code);
  return output;
}

}  // namespace attnscope
