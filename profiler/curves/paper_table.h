// SPDX-License-Identifier: Apache-2.0
// Compares points with Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

struct PaperRow {
  std::string_view figure;  ///< "2 left": forward and backward; "2 middle": forward by block size
  Row row = 0;
  std::string_view quantity;  ///< "executed FLOPs", "DRAM", "SM<->L2", "time", "device memory"
  std::string_view unit;      ///< "GFLOP", "GB", "ms", "MB"
  std::optional<double> ours;
  std::optional<Provenance> provenance;  ///< set with `ours`
  std::optional<double> paper;           ///< on an A100

  [[nodiscard]] std::optional<double> ratio() const {
    return ours && paper ? std::optional(*ours / *paper) : std::nullopt;
  }
};

struct PaperTable {
  std::vector<PaperRow> left;
  std::vector<PaperRow> middle;
  std::vector<Row> left_out;  ///< points with another workload or not part of the figures
};

/// Executed FLOPs are modeled (AttentionModel::executed_flops()), empty if unknown. "device memory" is measured if
/// available, otherwise computed from the buffers (modeled).
[[nodiscard]] PaperTable build_paper_table(const PointTable&, std::span<const Row> rows);

/// Returns the rows of Fig. 2 left, then middle. `titles`: display titles instead of keys. Points and rows must outlive
/// the table.
[[nodiscard]] Table paper_rows_table(const PointTable&, const PaperTable&, bool titles);
/// Returns notes on why our values differ from the paper's; empty if there are no rows.
[[nodiscard]] std::vector<Message> paper_table_notes(const PointTable&, const PaperTable&);

}  // namespace attnscope::analysis
