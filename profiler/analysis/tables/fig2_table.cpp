// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/tables/fig2_table.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "messages/paper_notes.h"

namespace attnscope::analysis {
namespace {

std::vector<const PaperRow*> rows_of(const PaperTable& compared) {
  std::vector<const PaperRow*> all;
  for (const auto* rows : {&compared.left, &compared.middle}) {
    for (const PaperRow& row : *rows) all.push_back(&row);
  }
  return all;
}

/// With the paper's digits.
Cell cell_of(std::optional<double> value) {
  if (!value) return {};
  return {.text = *value < 1000 ? fmt::format("{:.4g}", *value) : fmt::format("{:.0f}", *value), .number = value};
}

/// "fp16 and bf16"; `join` makes one message of two.
template <class Join>
Message joined(const std::set<std::string>& words, Join join) {
  Message all;
  for (const std::string& word : words) all = all.empty() ? Message::verbatim(word) : join(all, word);
  return all;
}

}  // namespace

Table fig2_table(const PointTable& points, const PaperTable& compared, bool titles) {
  using Line = const PaperRow*;
  TableOf<Line> table(rows_of(compared));
  constexpr ColumnKind number = ColumnKind::number;
  table.add({.key = "figure", .title = text(say::paper_notes::figure{})}, [](Line row) { return row->figure; });
  table.add({.key = "algorithm", .title = text(say::paper_notes::algorithm{})}, [&points, titles](Line row) {
    const std::string& key = points.algorithm(row->row);
    return titles ? short_title(points.algorithms(), key) : key;
  });
  table.add({.key = "pass", .title = text(say::paper_notes::pass{})},
            [&points](Line row) { return attnscope::to_string(points.problem(row->row).pass); });
  table.add({.key = "bc", .title = "Bc"},
            [&points](Line row) { return static_cast<double>(points.spec(row->row).tile.bc); });
  table.add({.key = "quantity", .title = text(say::paper_notes::quantity{})}, [](Line row) { return row->quantity; });
  table.add({.key = "unit", .title = text(say::paper_notes::unit{})}, [](Line row) { return row->unit; });
  table.add({.key = "ours", .title = text(say::paper_notes::ours{}), .kind = number},
            [](Line row) { return cell_of(row->ours); });
  table.add({.key = "provenance", .title = text(say::paper_notes::provenance{})}, [titles](Line row) {
    if (!row->provenance) return std::string();
    return titles ? text(title(*row->provenance)) : std::string(attnscope::to_string(*row->provenance));
  });
  table.add({.key = "paper", .title = text(say::paper_notes::paper{}), .kind = number},
            [](Line row) { return cell_of(row->paper); });
  table.add({.key = "ours/paper", .title = text(say::paper_notes::ratio{}), .kind = number},
            [](Line row) { return cell_of(row->ratio()); });
  table.add({.key = "disposition", .title = text(say::paper_notes::outcome{})}, [&points, titles](Line row) {
    const Disposition end = points.disposition(row->row);
    return Cell{.text = titles ? text(title(end)) : std::string(attnscope::to_string(end)), .row = row->row};
  });
  return std::move(table).take();
}

std::vector<Message> fig2_notes(const PointTable& points, const PaperTable& compared) {
  const std::vector<const PaperRow*> rows = rows_of(compared);
  if (rows.empty()) return {};
  std::set<std::string> dtypes;
  std::set<std::string> caches;
  for (const PaperRow* row : rows) {
    dtypes.emplace(attnscope::to_string(points.problem(row->row).dtype));
    caches.emplace(attnscope::to_string(points.spec(row->row).cache));
  }
  const Run& run = points.run(rows.front()->row);
  const Message all_dtypes = joined(dtypes, [](const Message& first, const std::string& next) -> Message {
    return say::paper_notes::both{.first = first, .next = next};
  });
  const Message all_caches = joined(caches, [](const Message& first, const std::string& next) -> Message {
    return say::paper_notes::either{.first = first, .next = next};
  });
  return {say::paper_notes::products{},
          say::paper_notes::standard{},
          say::paper_notes::flash{},
          say::paper_notes::dram{.mib = fmt::format("{:.0f}", static_cast<double>(run.limits.l2_bytes) / (1 << 20))},
          say::paper_notes::passes{},
          say::paper_notes::time{.gpu = run.device_name, .dtypes = all_dtypes, .caches = all_caches},
          say::paper_notes::memory{}};
}

}  // namespace attnscope::analysis
