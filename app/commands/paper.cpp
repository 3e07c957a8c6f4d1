// SPDX-License-Identifier: Apache-2.0
// paper: the numbers of the preset `paper` beside Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "app/command.h"
#include "app/skipped_rows.h"
#include "app/table.h"
#include "messages/command.h"
#include "messages/paper_notes.h"
#include "profiler/analysis/paper_table.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct PaperOptions {
  std::string file;
  TableFormat format = TableFormat::text;
};

/// A number as the table prints it; empty for none.
std::string text_of(std::optional<double> value) {
  if (!value) return {};
  return *value < 1000 ? fmt::format("{:.4g}", *value) : fmt::format("{:.0f}", *value);
}

/// Fig. 2 left, then Fig. 2 middle.
Table rows_of(const analysis::PointTable& points, const analysis::PaperTable& compared) {
  Table table{{{"figure"},
               {"algorithm"},
               {"pass"},
               {"bc", true},
               {"quantity"},
               {"unit"},
               {"ours", true},
               {"provenance"},
               {"paper", true},
               {"ours/paper", true},
               {"disposition"}},
              {}};
  for (const auto* rows : {&compared.left, &compared.middle}) {
    for (const analysis::PaperRow& row : *rows) {
      const PointSpec spec = points.spec(row.row);
      table.rows.push_back({std::string(row.figure), spec.algorithm, std::string(to_string(spec.problem.pass)),
                            fmt::to_string(spec.tile.bc), std::string(row.quantity), std::string(row.unit),
                            text_of(row.ours), row.provenance ? std::string(to_string(*row.provenance)) : "",
                            text_of(row.paper), text_of(row.ratio()),
                            std::string(to_string(points.disposition(row.row)))});
    }
  }
  return table;
}

/// What the compared points have in common or not, "fp16" or "bf16, fp16".
struct Conditions {
  std::set<std::string> dtypes;
  std::set<std::string> caches;
};

/// "fp16 and bf16"; `join` makes one message of two.
template <class Join>
Message joined(const std::set<std::string>& words, Join join) {
  Message all;
  for (const std::string& word : words) all = all.empty() ? Message::verbatim(word) : join(all, word);
  return all;
}

std::string notes(const RunSummary& run, const Conditions& conditions) {
  const Message dtypes = joined(conditions.dtypes, [](const Message& first, const std::string& next) -> Message {
    return say::paper_notes::both{.first = first, .next = next};
  });
  const Message caches = joined(conditions.caches, [](const Message& first, const std::string& next) -> Message {
    return say::paper_notes::either{.first = first, .next = next};
  });
  const std::string l2 = fmt::format("{:.0f}", static_cast<double>(run.limits.l2_bytes) / (1 << 20));
  std::string notes = text(say::paper_notes::notes{}) + '\n';
  for (const Message& note : std::initializer_list<Message>{
           say::paper_notes::products{}, say::paper_notes::standard{}, say::paper_notes::flash{},
           say::paper_notes::dram{.mib = l2}, say::paper_notes::passes{},
           say::paper_notes::time{.gpu = printable(run.device_name), .dtypes = dtypes, .caches = caches},
           say::paper_notes::memory{}}) {
    notes += "- " + text(note) + '\n';
  }
  return notes;
}

/// The newest complete run of the preset; none of imports, whose label may be the preset's name.
RunSummary newest_run(const RunStore& store, const std::string& file) {
  std::optional<RunSummary> newest;
  for (RunSummary& run : store.runs()) {
    if (run.provenance == Provenance::imported) continue;
    if (run.preset != "paper" || run.state != StoredRunState::complete) continue;
    if (!newest || run.started_at >= newest->started_at) newest = std::move(run);
  }
  if (!newest) {
    throw CommandError(ExitCode::error, say::command::no_paper_run{.file = file});
  }
  return *std::move(newest);
}

analysis::PointTable table_of(const RunStore& store, const RunSummary& run) {
  analysis::Run shown;
  shown.device_id = run.device_uuid;
  shown.device_name = run.device_name;
  shown.title = run.preset;
  shown.started_at = run.started_at;
  shown.provenance = run.provenance;
  shown.limits = run.limits;
  analysis::PointTableBuilder builder;
  const auto begin = [&] {
    builder = analysis::PointTableBuilder();
    builder.add_run(shown);
  };
  store.each_point({{run.id}}, 0, begin, [&](StoredPoint&& point) { builder.add(0, point.record); });
  return std::move(builder).finish();
}

ExitCode paper(const PaperOptions& options) {
  const RunStore store = RunStore::open(options.file, RunStore::Mode::read_only);
  const RunSummary run = newest_run(store, options.file);
  const analysis::PointTable table = table_of(store, run);
  const analysis::PaperTable compared = analysis::build_paper_table(table, table.rows());

  const bool people = options.format == TableFormat::text || options.format == TableFormat::markdown;
  if (people) {
    std::cout << text(say::paper_notes::heading{.run = run.id,
                                                .device = printable(run.device_name),
                                                .provenance = to_string(run.provenance),
                                                .time = printable(run.started_at)})
              << "\n\n";
  }
  print(rows_of(table, compared), options.format, std::cout);
  const ExitCode code = with_skipped_rows(store, ExitCode::ok);
  if (!people) return code;

  std::cout << '\n';
  if (compared.left.empty()) {
    std::cout << text(say::paper_notes::no_left{}) << '\n';
  }
  for (const analysis::Row row : compared.left_out) {
    std::cout << text(say::paper_notes::left_out{.point = printable(describe(table.spec(row)))}) << '\n';
  }
  Conditions conditions;
  for (const analysis::Row row : table.rows()) {
    if (std::ranges::count(compared.left_out, row) > 0) continue;
    const PointSpec spec = table.spec(row);
    conditions.dtypes.emplace(to_string(spec.problem.dtype));
    conditions.caches.emplace(to_string(spec.cache));
    if (table.disposition(row) == Disposition::ok) continue;
    std::cout << fmt::format("{}: {}: {}\n", printable(describe(spec)), to_string(table.disposition(row)),
                             printable(text(table.reason(row))));
  }
  if (!conditions.dtypes.empty()) std::cout << notes(run, conditions);
  return code;
}

}  // namespace

Action add_paper(CLI::App& command) {
  auto options = std::make_shared<PaperOptions>();
  command.add_option("FILE", options->file, "An .attnscope file with a complete run of the preset paper")->required();
  add_format_options(command, options->format);
  return [options] { return paper(*options); };
}

}  // namespace attnscope
