// SPDX-License-Identifier: Apache-2.0
// Logs what was wrong with files of results.
#include <spdlog/spdlog.h>

#include <string>
#include <vector>

#include "app/command.h"
#include "profiler/plan/text.h"
#include "storage/merge.h"
#include "storage/run_store.h"

namespace attnscope {

ExitCode log_merge_report(const MergeReport& report) {
  for (const auto* messages : {&report.left_out, &report.missing, &report.not_copied}) {
    for (const Message& message : *messages) spdlog::warn("{}", one_line(text(message)));
  }
  return report.whole() ? ExitCode::ok : ExitCode::partial;
}

namespace {

/// Interrupted runs have no checksum, so damage in them goes unnoticed.
void log_interrupted_runs(const RunStore& store) {
  for (const RunSummary& run : store.runs()) {
    if (run.state != StoredRunState::interrupted) continue;
    spdlog::warn("{}", format_text("{}: run {} was interrupted and has no checksum (continue it with --resume)",
                                   printable(store.file().string()), run.id));
  }
}

}  // namespace

ExitCode log_skipped_rows(const RunStore& store, ExitCode code) {
  log_interrupted_runs(store);
  for (const Message& warning : store.warnings()) spdlog::warn("{}", printable(text(warning)));
  const std::vector<InvalidRow> rows = store.invalid_rows();
  const std::string file = printable(store.file().string());
  if (rows.empty()) return code;
  const std::string where = printable(text(rows.front().where));
  const std::string why = printable(text(rows.front().why));
  if (rows.size() == 1) {
    spdlog::warn("{}", format_text("{} is damaged: {}: {}", file, where, why));
  } else {
    spdlog::warn("{}", format_text("{} is damaged in {} places, the first at {}: {} (`attnscope info` lists them)",
                                   file, rows.size(), where, why));
  }
  return code == ExitCode::ok ? ExitCode::partial : code;
}

}  // namespace attnscope
