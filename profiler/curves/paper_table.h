// SPDX-License-Identifier: Apache-2.0
// Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2) beside points of the same workload.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// One quantity of one point.
struct PaperRow {
  std::string_view figure;  ///< "2 left": forward and backward; "2 middle": forward, against the block size
  Row row = 0;
  std::string_view quantity;  ///< "products", "DRAM", "SM<->L2", "time", "device memory"
  std::string_view unit;      ///< "GFLOP", "GB", "ms", "MB"
  std::optional<double> ours;
  std::optional<Provenance> provenance;  ///< with ours
  std::optional<double> paper;           ///< on an A100

  /// Ours over the paper's.
  [[nodiscard]] std::optional<double> ratio() const {
    return ours && paper ? std::optional(*ours / *paper) : std::nullopt;
  }
};

struct PaperTable {
  std::vector<PaperRow> left;
  std::vector<PaperRow> middle;
  std::vector<Row> left_out;  ///< of another workload, or of what the figures do not show
};

/// Products are what the kernels issue, recomputation included (modelled); device memory is measured where the
/// collector did, else the buffers of the plan (modelled).
[[nodiscard]] PaperTable build_paper_table(const PointTable&, std::span<const Row> rows);

/// Fig. 2 left, then Fig. 2 middle, with the titles of algorithms and provenances, or the words that programs read.
/// Points and rows have to outlive it.
[[nodiscard]] Table fig2_table(const PointTable&, const PaperTable&, bool titles);
/// Why ours differ from the paper's, a sentence each; none where nothing was compared.
[[nodiscard]] std::vector<Message> fig2_notes(const PointTable&, const PaperTable&);

}  // namespace attnscope::analysis
