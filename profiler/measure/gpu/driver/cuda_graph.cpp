// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/cuda_graph.h"
#include "profiler/measure/gpu/user/kernel_entry.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

namespace attnscope::gpu {
namespace {

using Graph = UniqueHandle<CUgraph, &CudaApi::cuGraphDestroy>;

/// Name of a node that launches no kernel; empty if it does no work.
std::string_view work_name(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "memset";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "memcpy";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "host function";
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "child graph";
    default:
      return {};
  }
}

/// The kernel of a node, without its name.
GraphKernel kernel_of(const CudaApi& cuda, CUgraphNode node) {
  GraphKernel kernel;
  kernel.nodes = {node};
  CUDA_KERNEL_NODE_PARAMS parameters{};
  cuda.check(cuda.cuGraphKernelNodeGetParams(node, &parameters), "cuGraphKernelNodeGetParams");
  kernel.function = parameters.func;
  if (kernel.function == nullptr)
    cuda.check(cuda.cuKernelGetFunction(&kernel.function, parameters.kern), "cuKernelGetFunction");
  const char* symbol = nullptr;
  cuda.check(cuda.cuFuncGetName(&symbol, kernel.function), "cuFuncGetName");
  kernel.symbol = symbol;
  kernel.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
  kernel.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
  kernel.dynamic_shared_bytes = parameters.sharedMemBytes;
  return kernel;
}

/// Makes names distinct and adds the number of launches.
void complete_names(std::vector<GraphKernel>& kernels, std::span<const std::string_view> reserved) {
  std::map<std::string, int, std::less<>> uses;
  for (const std::string_view name : reserved) uses.emplace(name, 1);
  for (GraphKernel& kernel : kernels) {
    if (const int number = ++uses[kernel.name]; number > 1) kernel.name += fmt::format(" ({})", number);
    if (kernel.nodes.size() > 1) kernel.name += fmt::format(" x{}", kernel.nodes.size());
  }
}

}  // namespace

std::vector<CUgraphNode> graph_nodes(const CudaApi& cuda, CUgraph graph) {
  std::size_t count = 0;
  cuda.check(cuda.cuGraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes");
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) cuda.check(cuda.cuGraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes");
  return nodes;
}

std::vector<GraphKernel> graph_kernels(const CudaApi& cuda, CUgraph graph, std::span<const std::string_view> reserved) {
  std::vector<GraphKernel> kernels;
  for (const CUgraphNode node : graph_nodes(cuda, graph)) {
    CUgraphNodeType type{};
    cuda.check(cuda.cuGraphNodeGetType(node, &type), "cuGraphNodeGetType");
    GraphKernel kernel;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
      kernel = kernel_of(cuda, node);
      kernel.name = short_kernel_name(kernel.symbol);
    } else if (const std::string_view work = work_name(type); !work.empty()) {
      kernel.name = work;
      kernel.nodes = {node};
    } else {
      continue;
    }
    const auto same = std::ranges::find_if(
        kernels, [&](const GraphKernel& each) { return each.symbol == kernel.symbol && each.name == kernel.name; });
    if (same == kernels.end()) {
      kernels.push_back(std::move(kernel));
    } else {
      same->nodes.push_back(node);
    }
  }
  complete_names(kernels, reserved);
  return kernels;
}

GraphExec instantiate(const CudaApi& cuda, CUgraph graph) {
  CUgraphExec executable = nullptr;
  cuda.check(cuda.cuGraphInstantiate(&executable, graph, 0), "cuGraphInstantiate");
  return {cuda, executable};
}

GraphExec instantiate(const CudaApi& cuda, CUgraph graph, std::span<const CUgraphNode> nodes) {
  CUgraph copy = nullptr;
  cuda.check(cuda.cuGraphClone(&copy, graph), "cuGraphClone");
  const Graph owner(cuda, copy);
  std::vector<CUgraphNode> kept;
  for (const CUgraphNode node : nodes) {
    kept.push_back(nullptr);
    cuda.check(cuda.cuGraphNodeFindInClone(&kept.back(), node, copy), "cuGraphNodeFindInClone");
  }
  for (const CUgraphNode node : graph_nodes(cuda, copy)) {
    if (std::ranges::find(kept, node) == kept.end()) cuda.check(cuda.cuGraphDestroyNode(node), "cuGraphDestroyNode");
  }
  // Their order may have depended on destroyed nodes. An edge that exists already is an error, which is harmless.
  for (std::size_t i = 1; i < kept.size(); ++i)
    (void)cuda.cuGraphAddDependencies(copy, &kept[i - 1], &kept[i], nullptr, 1);
  return instantiate(cuda, copy);
}

}  // namespace attnscope::gpu
