// SPDX-License-Identifier: Apache-2.0
#include "fake_graphs.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

using attnscope::fake::GraphWork;

struct CUgraphNode_st {
  GraphWork work;
  std::vector<CUgraphNode> dependencies;
  CUgraphNode original = nullptr;  ///< in the graph that was cloned
  CUgraph graph = nullptr;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::vector<GraphWork> work;
};

namespace {

struct Capture {
  CUgraph graph = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool valid = true;
};
std::vector<Capture> captures;
std::vector<std::unique_ptr<CUstream_st>> streams;  // live as long as the library
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

Capture* capture_of(CUgraph graph) {
  const auto found = std::ranges::find(captures, graph, &Capture::graph);
  return graph == nullptr || found == captures.end() ? nullptr : &*found;
}

Capture* capture_of(CUstream stream) {
  return stream == nullptr ? nullptr : capture_of(stream->capture);
}

CUgraphNode add_node(CUgraph graph, GraphWork work, std::vector<CUgraphNode> dependencies) {
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{
      .work = std::move(work), .dependencies = std::move(dependencies), .original = nullptr, .graph = graph}));
  return graph->nodes.back().get();
}

}  // namespace

namespace attnscope::fake {

KernelArguments::KernelArguments(void** arguments, const std::string& sizes) : values_(sizes.size()) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::memcpy(&values_[i], arguments[i], sizes[i] == 'p' ? 8 : 4);
    pointers_.push_back(&values_[i]);
  }
}

bool captured(CUstream stream, GraphWork work) {
  if (capture_of(stream) == nullptr) return false;
  stream->last = {add_node(stream->capture, std::move(work), std::move(stream->last))};
  return true;
}

CUstream new_stream() {
  streams.push_back(std::make_unique<CUstream_st>());
  return streams.back().get();
}

void join_capture(CUstream stream, CUevent event) {
  if (capture_of(event->capture) == nullptr) return;
  if (stream->capture != event->capture) stream->last.clear();
  stream->capture = event->capture;
  for (CUgraphNode node : event->last) {
    if (std::ranges::find(stream->last, node) == stream->last.end()) stream->last.push_back(node);
  }
}

CUresult check_stream(CUstream stream) {
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) return CUDA_SUCCESS;
  capture->valid = false;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult check_captures(bool relaxed) {
  CUresult result = CUDA_SUCCESS;
  for (Capture& capture : captures) {
    const bool other_thread =
        capture.mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && capture.thread != std::this_thread::get_id();
    const bool allowed = relaxed && (other_thread || capture.mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                                     thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED);
    if (allowed) continue;
    capture.valid = false;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUgraph capture_graph(const std::function<void(CUstream)>& enqueue) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  (void)cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  (void)cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  enqueue(stream);
  (void)cuStreamEndCapture(stream, &graph);
  return graph;
}

}  // namespace attnscope::fake

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  if (stream == nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = new CUgraph_st;
  stream->last.clear();
  captures.push_back({.graph = stream->capture, .mode = mode, .thread = std::this_thread::get_id()});
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const Capture* const capture = capture_of(stream);
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  const bool valid = capture->valid;
  *graph = std::exchange(stream->capture, nullptr);
  std::erase_if(captures, [&](const Capture& each) { return each.graph == *graph; });
  // Each node must be reachable from the end of the stream.
  std::set<CUgraphNode> joined(stream->last.begin(), stream->last.end());
  for (auto node = (*graph)->nodes.rbegin(); node != (*graph)->nodes.rend(); ++node) {
    if (joined.contains(node->get())) joined.insert((*node)->dependencies.begin(), (*node)->dependencies.end());
  }
  const bool all_joined = joined.size() == (*graph)->nodes.size();
  for (const auto& each : streams) {
    if (each->capture == *graph) each->capture = nullptr;
  }
  if (valid && all_joined) return CUDA_SUCCESS;
  delete std::exchange(*graph, nullptr);
  return valid ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  const Capture* const capture = capture_of(stream);
  *status = capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
            : capture->valid   ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                               : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  if (nodes == nullptr) {
    *count = graph->nodes.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
  *count = std::min(*count, graph->nodes.size());
  return CUDA_SUCCESS;
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
  std::size_t edges = 0;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode dependency : node->dependencies) {
      if (from != nullptr && edges < *count) {
        from[edges] = dependency;
        to[edges] = node.get();
        if (data != nullptr) data[edges] = {};
      }
      ++edges;
    }
  }
  *count = from == nullptr ? edges : std::min(*count, edges);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  *type = node->work.type;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  if (node->work.type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  *params = node->work.kernel;
  params->kernelParams = node->work.arguments->get();
  return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  *clone = new CUgraph_st;
  for (const auto& node : original->nodes) add_node(*clone, node->work, {})->original = node.get();
  for (std::size_t i = 0; i < original->nodes.size(); ++i) {
    for (CUgraphNode dependency : original->nodes[i]->dependencies) {
      CUgraphNode cloned = nullptr;
      (void)cuGraphNodeFindInClone(&cloned, dependency, *clone);
      (*clone)->nodes[i]->dependencies.push_back(cloned);
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  const auto found = std::ranges::find_if(clone->nodes, [&](const auto& each) { return each->original == original; });
  if (found == clone->nodes.end()) return CUDA_ERROR_INVALID_VALUE;
  *node = found->get();
  return CUDA_SUCCESS;
}
/// Removes the node with its edges; nodes after it no longer wait for those before it.
CUresult cuGraphDestroyNode(CUgraphNode node) {
  for (const auto& each : node->graph->nodes) std::erase(each->dependencies, node);
  std::erase_if(node->graph->nodes, [&](const auto& each) { return each.get() == node; });
  return CUDA_SUCCESS;
}
CUresult cuGraphAddDependencies(CUgraph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData*,
                                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::ranges::find(to[i]->dependencies, from[i]) != to[i]->dependencies.end()) return CUDA_ERROR_INVALID_VALUE;
    to[i]->dependencies.push_back(from[i]);
  }
  return CUDA_SUCCESS;
}
/// Of the nodes that are ready, the last one runs first, so that a missing edge shows in the results.
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  auto result = std::make_unique<CUgraphExec_st>();
  std::set<CUgraphNode> done;
  const auto is_ready = [&](const auto& node) {
    return !done.contains(node.get()) &&
           std::ranges::all_of(node->dependencies, [&](CUgraphNode each) { return done.contains(each); });
  };
  while (done.size() < graph->nodes.size()) {
    const auto next = std::find_if(graph->nodes.rbegin(), graph->nodes.rend(), is_ready);
    if (next == graph->nodes.rend()) return CUDA_ERROR_INVALID_VALUE;  // a cycle
    done.insert(next->get());
    result->work.push_back((*next)->work);
  }
  *exec = result.release();
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  if (const CUresult result = attnscope::fake::check_stream(stream); result != CUDA_SUCCESS) return result;
  for (const GraphWork& work : exec->work) {
    if (const CUresult result = work.run(); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  delete exec;
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete graph;
  return CUDA_SUCCESS;
}

CUresult attnscope_fake_launch(CUstream stream, const char* entry, void (*compute)(void*), void* context,
                               unsigned blocks) {
  return attnscope::fake::launch(
      stream, entry, [=] { compute(context); }, blocks);
}

}  // extern "C"
