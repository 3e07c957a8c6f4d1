// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/paper_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "messages/paper_notes.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/sweep.h"

namespace attnscope::analysis {
namespace {

/// Returns the workload of Fig. 2 with the pass and dtype of `like`.
AttentionProblem workload(const AttentionProblem& like) {
  AttentionProblem p{.dtype = like.dtype, .pass = like.pass};
  p.batch = 64;
  p.heads_q = p.heads_kv = 16;
  p.n_q = p.n_k = 1024;
  p.d = 64;
  return p;
}

/// A column of Fig. 2 left: forward and backward on an A100.
struct TrainingColumn {
  PaperColumn column;
  double gflop;
  double paper_gb;
  double ms;
};
constexpr std::array training_columns{TrainingColumn{PaperColumn::standard, 66.6, 40.3, 41.7},
                                      TrainingColumn{PaperColumn::flash, 75.2, 4.4, 7.3}};

/// A point of Fig. 2 middle: forward, by block size.
struct Block {
  int bc;
  double paper_gb;
  double ms;
};
constexpr std::array blocks{Block{64, 6.58, 8.6}, Block{128, 3.36, 4.7}, Block{256, 1.74, 3.3}, Block{512, 0.94, 3.2}};

struct OwnValue {
  std::optional<double> value;
  std::optional<Provenance> provenance;
};

OwnValue scaled_value(Row row, const ValueColumn& values, double scale) {
  if (!values.has(row)) return {};
  return {values.value(row) * scale, values.provenance(row)};
}

OwnValue executed_gflop(const PointTable& table, Row row, const Algorithm& algorithm) {
  const PointSpec spec = table.spec(row);
  const auto executed = algorithm.model(spec.problem, spec.config(), table.run(row).limits).executed_flops();
  return executed ? OwnValue{*executed / 1e9, Provenance::modeled} : OwnValue{};
}

OwnValue memory_mb(const PointTable& table, Row row) {
  const OwnValue measured = scaled_value(row, table.values(metric_key::memory_bytes), 1e-6);
  if (measured.value) return measured;
  const std::int64_t need = required_memory_bytes(table.spec(row), table.run(row).limits, table.algorithms());
  return need == 0 ? OwnValue{} : OwnValue{static_cast<double>(need) / 1e6, Provenance::modeled};
}

std::vector<const PaperRow*> rows_of(const PaperTable& compared) {
  std::vector<const PaperRow*> all;
  for (const auto* rows : {&compared.left, &compared.middle}) {
    for (const PaperRow& row : *rows) all.push_back(&row);
  }
  return all;
}

/// Formats with as many digits as the paper.
Cell cell_of(std::optional<double> value) {
  if (!value) return {};
  return {.text = *value < 1000 ? fmt::format("{:.4g}", *value) : fmt::format("{:.0f}", *value), .number = value};
}

/// Joins texts with `join`: "fp16 and bf16".
template <class Join>
Message joined(const std::set<std::string>& words, Join join) {
  Message all;
  for (const std::string& word : words) all = all.empty() ? Message::verbatim(word) : join(all, word);
  return all;
}

}  // namespace

PaperTable build_paper_table(const PointTable& table, std::span<const Row> rows) {
  PaperTable result;
  for (const Row row : rows) {
    const OwnValue dram = scaled_value(row, table.dram_traffic(), 1e-9);
    const OwnValue l2 = scaled_value(row, table.values(metric_key::l2_sm_bytes), 1e-9);
    const OwnValue time = scaled_value(row, table.values(metric_key::time_median_ns), 1e-6);
    const auto add = [&](std::string_view quantity, std::string_view unit, const OwnValue& ours,
                         std::optional<double> paper) {
      const bool left = table.problem(row).pass == Pass::fwd_bwd;
      (left ? result.left : result.middle)
          .push_back({left ? "2 left" : "2 middle", row, quantity, unit, ours.value, ours.provenance, paper});
    };
    const AttentionProblem problem = table.problem(row);
    const Algorithm* algorithm = table.algorithms().find(table.algorithm(row));
    const bool known = algorithm != nullptr && problem == workload(problem);
    const auto* const block = std::ranges::find(blocks, table.tile_of(row).tile.bc, &Block::bc);
    if (known && problem.pass == Pass::fwd_bwd && algorithm->facts().paper_column) {
      const TrainingColumn& paper =
          *std::ranges::find(training_columns, *algorithm->facts().paper_column, &TrainingColumn::column);
      add("executed FLOPs", "GFLOP", executed_gflop(table, row, *algorithm), paper.gflop);
      add("DRAM", "GB", dram, paper.paper_gb);
      add("SM<->L2", "GB", l2, paper.paper_gb);
      add("time", "ms", time, paper.ms);
      add("device memory", "MB", memory_mb(table, row), std::nullopt);
    } else if (known && problem.pass == Pass::fwd && algorithm->facts().in_group(Group::paper_blocks) &&
               block != blocks.end()) {
      add("SM<->L2", "GB", l2, block->paper_gb);
      add("DRAM", "GB", dram, block->paper_gb);
      add("time", "ms", time, block->ms);
    } else {
      result.left_out.push_back(row);
    }
  }
  return result;
}

Table paper_rows_table(const PointTable& points, const PaperTable& compared, bool titles) {
  using Line = const PaperRow*;
  TableBuilder<Line> table(rows_of(compared));
  constexpr ColumnKind number = ColumnKind::number;
  table.add({.key = "figure", .title = text(msg::paper_notes::figure{})}, [](Line row) { return row->figure; });
  table.add({.key = "algorithm", .title = text(msg::paper_notes::algorithm{})}, [&points, titles](Line row) {
    const std::string& key = points.algorithm(row->row);
    return titles ? short_title(points.algorithms(), key) : key;
  });
  table.add({.key = "pass", .title = text(msg::paper_notes::pass{})},
            [&points](Line row) { return attnscope::to_string(points.problem(row->row).pass); });
  table.add({.key = "bc", .title = "Bc"},
            [&points](Line row) { return static_cast<double>(points.spec(row->row).tile.bc); });
  table.add({.key = "quantity", .title = text(msg::paper_notes::quantity{})}, [](Line row) { return row->quantity; });
  table.add({.key = "unit", .title = text(msg::paper_notes::unit{})}, [](Line row) { return row->unit; });
  table.add({.key = "attnscope", .title = text(msg::paper_notes::attnscope{}), .kind = number},
            [](Line row) { return cell_of(row->ours); });
  table.add({.key = "provenance", .title = text(msg::paper_notes::provenance{})}, [titles](Line row) {
    if (!row->provenance) return std::string();
    return titles ? text(title(*row->provenance)) : std::string(attnscope::to_string(*row->provenance));
  });
  table.add({.key = "paper", .title = text(msg::paper_notes::paper{}), .kind = number},
            [](Line row) { return cell_of(row->paper); });
  table.add({.key = "ours/paper", .title = text(msg::paper_notes::ratio{}), .kind = number},
            [](Line row) { return cell_of(row->ratio()); });
  table.add({.key = "disposition", .title = text(msg::paper_notes::outcome{})}, [&points, titles](Line row) {
    const Disposition end = points.disposition(row->row);
    return Cell{.text = titles ? text(title(end)) : std::string(attnscope::to_string(end)), .row = row->row};
  });
  return std::move(table).take();
}

std::vector<Message> paper_table_notes(const PointTable& points, const PaperTable& compared) {
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
    return msg::paper_notes::both{.first = first, .next = next};
  });
  const Message all_caches = joined(caches, [](const Message& first, const std::string& next) -> Message {
    return msg::paper_notes::either{.first = first, .next = next};
  });
  return {msg::paper_notes::products{},
          msg::paper_notes::standard{},
          msg::paper_notes::flash{},
          msg::paper_notes::dram{.mib = fmt::format("{:.0f}", static_cast<double>(run.limits.l2_bytes) / (1 << 20))},
          msg::paper_notes::passes{},
          msg::paper_notes::time{.caches = all_caches, .dtypes = all_dtypes, .gpu = run.device_name},
          msg::paper_notes::memory{}};
}

}  // namespace attnscope::analysis
