// SPDX-License-Identifier: Apache-2.0
// Streams, events and CUDA graphs of the fake driver, and helpers to build graphs in tests.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct CUstream_st {
  CUgraph capture = nullptr;           ///< graph that receives the stream's work
  std::vector<CUgraphNode> last = {};  ///< nodes on which the next one depends
};

struct CUevent_st {
  std::int64_t nanoseconds = 0;
  CUgraph capture = nullptr;  ///< of the stream in which it was recorded
  std::vector<CUgraphNode> last = {};
};

namespace attnscope::fake {

/// Copy of a launch's arguments, each as long as the letter of `sizes`: 'p' 8 bytes, 'i' 4 bytes.
class KernelArguments {
 public:
  KernelArguments(void** arguments, const std::string& sizes);
  [[nodiscard]] void** get() { return pointers_.empty() ? nullptr : pointers_.data(); }

 private:
  std::vector<std::uint64_t> values_;
  std::vector<void*> pointers_;
};

/// Work of a graph node.
struct GraphWork {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::function<CUresult()> run;
  CUDA_KERNEL_NODE_PARAMS kernel = {};                   ///< without arguments
  std::shared_ptr<KernelArguments> arguments = nullptr;  ///< of a kernel
};

/// Adds the work to the graph that the stream captures, if any. Returns whether it did.
bool captured(CUstream stream, GraphWork work);
/// Makes the stream part of the event's capture, if any.
void join_capture(CUstream stream, CUevent event);
/// Returns an error and invalidates the capture if the stream is captured: it must not be synchronized or queried.
CUresult check_stream(CUstream stream);
/// The same for calls that must not be made during captures, or, if `relaxed`, only with
/// CU_STREAM_CAPTURE_MODE_RELAXED.
CUresult check_captures(bool relaxed);
/// The stream lives as long as the library.
[[nodiscard]] CUstream new_stream();

/// Graph of the work that `enqueue` enqueues into its stream. Release it with cuGraphDestroy().
[[nodiscard]] CUgraph capture_graph(const std::function<void(CUstream)>& enqueue);
/// Launches a kernel whose executions call `compute`.
CUresult launch(CUstream stream, const std::string& entry, std::function<void()> compute, unsigned blocks = 1);

}  // namespace attnscope::fake

extern "C" {
/// Like fake::launch(), for ctypes.
CUresult attnscope_fake_launch(CUstream stream, const char* entry, void (*compute)(void*), void* context,
                               unsigned blocks);
}
