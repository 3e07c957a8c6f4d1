// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export_table.h"

#include <sstream>
#include <utility>
#include <vector>

#include "messages/output.h"
#include "storage/exchange/export.h"
#include "ui/said.h"
#include "ui/save_file.h"

namespace attnscope::ui {

QString save_ticked_runs(const Workspace& workspace, const QString& path) {
  try {
    std::vector<RunStore> stores;
    std::vector<ExportSource> sources;
    stores.reserve(static_cast<std::size_t>(workspace.files().size()));  // sources point into it
    for (const QString& file : workspace.files()) {
      std::vector<std::int64_t> runs;
      for (const LoadedRun& run : workspace.runs()) {
        if (run.visible && run.info->file == file) runs.push_back(run.info->summary.id);
      }
      if (runs.empty()) continue;
      stores.push_back(RunStore::open(file.toStdString(), RunStore::Mode::read_only));
      sources.push_back({&stores.back(), std::move(runs)});
    }
    if (sources.empty()) {
      return said(say::output::no_run_ticked{});
    }
    std::ostringstream table;
    export_csv(sources, table);
    const QByteArray text = QByteArray::fromStdString(std::move(table).str());
    if (QString error = save_file(path, [&](QIODevice& out) { return write_all(out, text); }); !error.isEmpty()) {
      return error;
    }
    for (const RunStore& store : stores) {
      const std::vector<BadRow> skipped = store.bad_rows();
      if (skipped.empty()) continue;
      const std::string file = store.file().string();
      return skipped.size() == 1 ? said(say::output::lacks_row{.file = file})
                                 : said(say::output::lacks_rows{.rows = skipped.size(), .file = file});
    }
    return {};
  } catch (const std::exception& error) {
    return QString::fromUtf8(error.what());
  }
}

}  // namespace attnscope::ui
