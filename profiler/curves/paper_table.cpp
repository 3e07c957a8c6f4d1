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

class PaperTableBuilder {
 public:
  explicit PaperTableBuilder(const PointTable& table) : table_(table) {}

  void add(Row row) {
    const AttentionProblem problem = table_.problem(row);
    const Algorithm* algorithm = table_.algorithms().find(table_.algorithm(row));
    if (algorithm == nullptr || problem != workload(problem) || !place(row, *algorithm)) {
      result_.left_out.push_back(row);
    }
  }
  PaperTable take() { return std::move(result_); }

 private:
  bool place(Row row, const Algorithm& algorithm) {
    const Pass pass = table_.problem(row).pass;
    if (pass == Pass::fwd_bwd) {
      const auto column = algorithm.facts().paper_column;
      if (!column) return false;
      add_training(row, algorithm, *std::ranges::find(training_columns, *column, &TrainingColumn::column));
      return true;
    }
    if (pass != Pass::fwd || !algorithm.facts().in_group(Group::paper_blocks)) return false;
    const auto* block = std::ranges::find(blocks, table_.tile_of(row).tile.bc, &Block::bc);
    if (block == blocks.end()) return false;
    add_block_size(row, *block);
    return true;
  }

  void add_training(Row row, const Algorithm& algorithm, const TrainingColumn& paper) {
    const auto add = [&](std::string_view quantity, std::string_view unit, const OwnValue& ours,
                         std::optional<double> theirs) {
      result_.left.push_back({"2 left", row, quantity, unit, ours.value, ours.provenance, theirs});
    };
    add("executed FLOPs", "GFLOP", gflop(row, algorithm), paper.gflop);
    add("DRAM", "GB", scaled(row, table_.dram_traffic(), 1e-9), paper.paper_gb);
    add("SM<->L2", "GB", scaled(row, table_.values(metric_key::l2_sm_bytes), 1e-9), paper.paper_gb);
    add("time", "ms", scaled(row, table_.values(metric_key::time_median_ns), 1e-6), paper.ms);
    add("device memory", "MB", memory_mb(row), std::nullopt);
  }

  void add_block_size(Row row, const Block& paper) {
    const auto add = [&](std::string_view quantity, std::string_view unit, const OwnValue& ours, double theirs) {
      result_.middle.push_back({"2 middle", row, quantity, unit, ours.value, ours.provenance, theirs});
    };
    add("SM<->L2", "GB", scaled(row, table_.values(metric_key::l2_sm_bytes), 1e-9), paper.paper_gb);
    add("DRAM", "GB", scaled(row, table_.dram_traffic(), 1e-9), paper.paper_gb);
    add("time", "ms", scaled(row, table_.values(metric_key::time_median_ns), 1e-6), paper.ms);
  }

  [[nodiscard]] static OwnValue scaled(Row row, const ValueColumn& values, double scale) {
    if (!values.has(row)) return {};
    return {values.value(row) * scale, values.provenance(row)};
  }

  [[nodiscard]] OwnValue gflop(Row row, const Algorithm& algorithm) const {
    const PointSpec spec = table_.spec(row);
    const DeviceLimits& limits = table_.run(row).limits;
    const auto executed = algorithm.model(spec.problem, spec.config(), limits).executed_flops();
    return executed ? OwnValue{*executed / 1e9, Provenance::modeled} : OwnValue{};
  }

  [[nodiscard]] OwnValue memory_mb(Row row) const {
    if (OwnValue measured = scaled(row, table_.values(metric_key::memory_bytes), 1e-6); measured.value) return measured;
    const std::int64_t need = required_memory_bytes(table_.spec(row), table_.run(row).limits, table_.algorithms());
    if (need == 0) return {};
    return {static_cast<double>(need) / 1e6, Provenance::modeled};
  }

  const PointTable& table_;
  PaperTable result_;
};

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
  PaperTableBuilder builder(table);
  for (const Row row : rows) builder.add(row);
  return builder.take();
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
