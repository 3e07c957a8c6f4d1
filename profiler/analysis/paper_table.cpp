// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/paper_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/sweep.h"

namespace attnscope::analysis {
namespace {

/// The workload of Fig. 2, whatever the pass; its element type is ours to choose.
AttentionProblem workload(const AttentionProblem& like) {
  AttentionProblem p{.dtype = like.dtype, .pass = like.pass};
  p.batch = 64;
  p.heads_q = p.heads_kv = 16;
  p.n_q = p.n_k = 1024;
  p.d = 64;
  return p;
}

/// A column of Fig. 2 left: forward and backward on an A100.
struct LeftColumn {
  PaperColumn column;
  double gflop;
  double hbm_gb;
  double ms;
};
constexpr std::array left_columns{LeftColumn{PaperColumn::standard, 66.6, 40.3, 41.7},
                                  LeftColumn{PaperColumn::flash, 75.2, 4.4, 7.3}};

/// A point of Fig. 2 middle: forward, against the block size.
struct Block {
  int bc;
  double hbm_gb;
  double ms;
};
constexpr std::array blocks{Block{64, 6.58, 8.6}, Block{128, 3.36, 4.7}, Block{256, 1.74, 3.3}, Block{512, 0.94, 3.2}};

/// A number, and where it comes from.
struct Ours {
  std::optional<double> value;
  std::optional<Provenance> provenance;
};

class PaperBuilder {
 public:
  explicit PaperBuilder(const PointTable& table) : table_(table) {}

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
      add_left(row, algorithm, *std::ranges::find(left_columns, *column, &LeftColumn::column));
      return true;
    }
    if (pass != Pass::fwd || !algorithm.facts().in(Group::paper_blocks)) return false;
    const auto* block = std::ranges::find(blocks, table_.tile_of(row).tile.bc, &Block::bc);
    if (block == blocks.end()) return false;
    add_middle(row, *block);
    return true;
  }

  void add_left(Row row, const Algorithm& algorithm, const LeftColumn& paper) {
    const auto add = [&](std::string_view quantity, std::string_view unit, const Ours& ours,
                         std::optional<double> theirs) {
      result_.left.push_back({"2 left", row, quantity, unit, ours.value, ours.provenance, theirs});
    };
    add("products", "GFLOP", gflop(row, algorithm), paper.gflop);
    add("DRAM", "GB", scaled(row, table_.dram_traffic(), 1e-9), paper.hbm_gb);
    add("SM<->L2", "GB", scaled(row, table_.values(metric_key::l2_sm_bytes), 1e-9), paper.hbm_gb);
    add("time", "ms", scaled(row, table_.values(metric_key::time_median_ns), 1e-6), paper.ms);
    add("device memory", "MB", memory_mb(row), std::nullopt);
  }

  void add_middle(Row row, const Block& paper) {
    const auto add = [&](std::string_view quantity, std::string_view unit, const Ours& ours, double theirs) {
      result_.middle.push_back({"2 middle", row, quantity, unit, ours.value, ours.provenance, theirs});
    };
    add("SM<->L2", "GB", scaled(row, table_.values(metric_key::l2_sm_bytes), 1e-9), paper.hbm_gb);
    add("DRAM", "GB", scaled(row, table_.dram_traffic(), 1e-9), paper.hbm_gb);
    add("time", "ms", scaled(row, table_.values(metric_key::time_median_ns), 1e-6), paper.ms);
  }

  [[nodiscard]] static Ours scaled(Row row, const ValueColumn& values, double scale) {
    if (!values.has(row)) return {};
    return {values.value(row) * scale, values.provenance(row)};
  }

  [[nodiscard]] Ours gflop(Row row, const Algorithm& algorithm) const {
    const PointSpec spec = table_.spec(row);
    const DeviceLimits& limits = table_.run(row).limits;
    const AttentionModel model = algorithm.model(spec.problem, spec.config(), limits);
    return {(model.refusal ? algorithm.flops(spec.problem) : model.matrix_flops()) / 1e9, Provenance::modelled};
  }

  [[nodiscard]] Ours memory_mb(Row row) const {
    if (Ours measured = scaled(row, table_.values(metric_key::memory_bytes), 1e-6); measured.value) return measured;
    const std::int64_t need =
        memory_need_bytes(table_.spec(row), table_.run(row).limits, table_.algorithms().registry());
    if (need == 0) return {};
    return {static_cast<double>(need) / 1e6, Provenance::modelled};
  }

  const PointTable& table_;
  PaperTable result_;
};

}  // namespace

PaperTable build_paper_table(const PointTable& table, std::span<const Row> rows) {
  PaperBuilder builder(table);
  for (const Row row : rows) builder.add(row);
  return builder.take();
}

}  // namespace attnscope::analysis
