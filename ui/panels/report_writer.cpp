// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/report_writer.h"

#include <algorithm>
#include <exception>
#include <new>

#include "messages/report_dialog.h"
#include "profiler/measure/host_environment.h"
#include "profiler/points/point_query.h"
#include "profiler/report/report_files.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// A sentence about rows that reading skipped; empty when there are none.
QString skipped_words(const RunStore& store) {
  const std::vector<BadRow> rows = store.bad_rows();
  if (rows.empty()) return {};
  const std::string file = store.file().filename().string();
  return qtext("{} is damaged: numbers in the report may be missing or wrong.", file);
}

ReportOutcome write_it(const ReportWish& wish) {
  ReportOutcome outcome;
  ReportPoints points = read_report_points(wish.sources, program_version(), [&](const RunStore& store) {
    if (outcome.warning.isEmpty()) outcome.warning = skipped_words(store);
  });
  for (const ReportSource& source : wish.sources) {
    const bool whole = std::ranges::all_of(source.runs, [&](std::int64_t run) {
      return points.places.contains({source.file, run});
    });
    if (!whole) return {qtext(say::report_dialog::run_gone{.file = source.file.string()}), {}};
  }
  if (!wish.filter.empty()) {
    const auto query = analysis::PointQuery::parse(wish.filter, points.input.table);
    if (!query) return {qtext(query.error()), {}};
    const std::vector<analysis::Row> rows = query->rows(points.input.table);
    const auto baseline = wish.baseline ? std::optional(points.places.at(*wish.baseline)) : std::nullopt;
    const auto of_it = [&](analysis::Row row) { return points.input.table.run_index(row) == *baseline; };
    if (rows.empty() || (baseline && std::ranges::none_of(rows, of_it))) {
      return {qtext("--filter: no point of these files fits {}", wish.filter), {}};
    }
    points = only_rows(std::move(points), rows, wish.filter);
  }
  report::Request request{.title = wish.title, .sections = wish.sections};
  if (wish.baseline) request.baseline = {points.places.at(*wish.baseline)};
  const Result<report::Document, Message> document = report::make_report(points.input, request);
  if (!document.ok()) return {qtext(document.error()), {}};
  write_report(*document, wish.output, OutputFile::Existing::any);
  if (!document->warnings.empty()) outcome.warning = to_qstring(document->warnings.front());
  return outcome;
}

}  // namespace

ReportOutcome write_report_of(const ReportWish& wish) {
  try {
    ReportOutcome outcome = write_it(wish);
    outcome.error = one_line(outcome.error);
    outcome.warning = one_line(outcome.warning);
    return outcome;
  } catch (const std::bad_alloc&) {
    return {qtext(say::report_dialog::no_memory{}), {}};
  } catch (const std::exception& error) {
    return {one_line(QString::fromLocal8Bit(error.what())), {}};
  }
}

}  // namespace attnscope::ui
