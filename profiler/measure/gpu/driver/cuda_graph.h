// SPDX-License-Identifier: Apache-2.0
// Captured CUDA graphs: their kernels, and executables of the whole graph or of one kernel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measure/gpu/driver/cuda_driver.h"

namespace attnscope::gpu {

using GraphExec = UniqueHandle<CUgraphExec, &CudaApi::cuGraphExecDestroy>;

/// A kernel of a graph, with all its launches; also "memset" and "memcpy".
struct GraphKernel {
  std::string name;  ///< for tables: "softmax_warp_forward", "gemm x4" for four launches, "gemm (2)" for another "gemm"
  std::string symbol;  ///< as compiled: "_Z..."; empty for other nodes
  std::vector<CUgraphNode> nodes;
  // Of the first launch:
  CUfunction function = nullptr;  ///< null for other nodes
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::int64_t dynamic_shared_bytes = 0;
};

// All of these throw DriverError. Pre: the driver has the graph functions.

[[nodiscard]] std::vector<CUgraphNode> graph_nodes(const CudaApi&, CUgraph);
/// Kernels in the order of their first launch, with names other than the reserved ones. Ignores nodes without work.
[[nodiscard]] std::vector<GraphKernel> graph_kernels(const CudaApi&, CUgraph,
                                                     std::span<const std::string_view> reserved);
[[nodiscard]] GraphExec instantiate(const CudaApi&, CUgraph);
/// Only these nodes, one after another.
[[nodiscard]] GraphExec instantiate(const CudaApi&, CUgraph, std::span<const CUgraphNode> nodes);

}  // namespace attnscope::gpu
