// SPDX-License-Identifier: Apache-2.0
#include "fake_graphs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace attnscope::fake {
namespace {

std::vector<std::string> kernels(CUgraph graph) {
  std::size_t count = 0;
  cuGraphGetNodes(graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  cuGraphGetNodes(graph, nodes.data(), &count);
  std::vector<std::string> names;
  for (CUgraphNode node : nodes) {
    CUDA_KERNEL_NODE_PARAMS params{};
    const char* name = "";
    EXPECT_EQ(cuGraphKernelNodeGetParams(node, &params), CUDA_SUCCESS);
    EXPECT_EQ(cuFuncGetName(&name, params.func), CUDA_SUCCESS);
    names.emplace_back(name);
  }
  return names;
}

void run(CUgraph graph) {
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  cuGraphExecDestroy(exec);
}

TEST(FakeGraphs, ReplaysTwoLaunches) {
  int value = 3;
  const CUgraph graph = capture_graph([&](CUstream stream) {
    launch(stream, "add_one", [&] { value += 1; });
    launch(stream, "double", [&] { value *= 2; });
  });
  EXPECT_EQ(value, 3);
  EXPECT_EQ(kernels(graph), (std::vector<std::string>{"add_one", "double"}));
  run(graph);
  EXPECT_EQ(value, 8);

  CUgraph clone = nullptr;
  std::vector<CUgraphNode> nodes(2);
  std::size_t count = 2;
  cuGraphGetNodes(graph, nodes.data(), &count);
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  CUgraphNode first = nullptr;
  ASSERT_EQ(cuGraphNodeFindInClone(&first, nodes[0], clone), CUDA_SUCCESS);
  cuGraphDestroyNode(first);
  run(clone);
  EXPECT_EQ(value, 16);
  cuGraphDestroy(clone);
  cuGraphDestroy(graph);
}

TEST(FakeGraphs, CopiesArguments) {
  setenv("ATTNSCOPE_FAKE_GPU", "compute-output", 1);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, "fake cubin -DATTN_D=16"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "attn_fa2_forward"), CUDA_SUCCESS);
  std::vector<std::uint16_t> zeros(16);
  std::vector<std::uint16_t> ones(16, 0x3C00);
  std::vector<std::uint16_t> o(16);
  float lse = -1;
  const CUgraph graph = capture_graph([&](CUstream stream) {
    void* q = zeros.data();
    void* v = ones.data();
    void* out = o.data();
    void* sums = &lse;
    void* none = nullptr;
    int one = 1;
    int zero = 0;
    float scale = 1;
    std::vector<void*> arguments{&q,     &q,   &v,    &out,  &sums, &one,  &one,  &one,  &one,
                                 &scale, &one, &zero, &zero, &none, &none, &zero, &zero, &zero};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments.data(), nullptr), CUDA_SUCCESS);
  });
  run(graph);
  EXPECT_EQ(o, ones);
  EXPECT_EQ(lse, 0);
  unsetenv("ATTNSCOPE_FAKE_GPU");
  cuGraphDestroy(graph);
  cuModuleUnload(module);
}

TEST(FakeGraphs, JoinsForkedStreams) {
  std::string order;
  CUstream side = nullptr;
  CUevent event = nullptr;
  cuStreamCreate(&side, CU_STREAM_NON_BLOCKING);
  cuEventCreate(&event, CU_EVENT_DEFAULT);
  const CUgraph graph = capture_graph([&](CUstream stream) {
    launch(stream, "a", [&] { order += 'a'; });
    cuEventRecord(event, stream);
    cuStreamWaitEvent(side, event, 0);
    launch(side, "b", [&] { order += 'b'; });
    cuEventRecord(event, side);
    cuStreamWaitEvent(stream, event, 0);
    launch(stream, "c", [&] { order += 'c'; });
  });
  ASSERT_NE(graph, nullptr);
  run(graph);
  EXPECT_EQ(order, "abc");
  cuGraphDestroy(graph);
  cuEventDestroy(event);
}

TEST(FakeGraphs, SynchronizingInvalidatesCapture) {
  EXPECT_EQ(capture_graph([](CUstream stream) { cuStreamSynchronize(stream); }), nullptr);
  EXPECT_EQ(capture_graph([](CUstream) { cuCtxSynchronize(); }), nullptr);
  EXPECT_EQ(capture_graph([](CUstream) {
              CUdeviceptr address = 0;
              cuMemAlloc(&address, 16);
            }),
            nullptr);
}

}  // namespace
}  // namespace attnscope::fake
