// SPDX-License-Identifier: Apache-2.0
// Counts launches that are replayed from a CUDA graph, on a real GPU; skipped without one.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bare_gpu.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

/// Graph functions of the driver, which only this test needs.
struct GraphApi {
  explicit GraphApi(void* driver) {
    const auto bind = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
      complete = complete && function != nullptr;
    };
    bind(begin, "cuStreamBeginCapture_v2");
    bind(end, "cuStreamEndCapture");
    bind(instantiate, "cuGraphInstantiateWithFlags");
    bind(launch, "cuGraphLaunch");
    bind(nodes, "cuGraphGetNodes");
    bind(parameters, "cuGraphKernelNodeGetParams_v2");
    bind(enable, "cuGraphNodeSetEnabled");
    bind(name, "cuFuncGetName");
  }
  bool complete = true;
  CUresult (*begin)(CUstream, CUstreamCaptureMode) = nullptr;
  CUresult (*end)(CUstream, CUgraph*) = nullptr;
  CUresult (*instantiate)(CUgraphExec*, CUgraph, unsigned long long) = nullptr;
  CUresult (*launch)(CUgraphExec, CUstream) = nullptr;
  CUresult (*nodes)(CUgraph, CUgraphNode*, std::size_t*) = nullptr;
  CUresult (*parameters)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*) = nullptr;
  CUresult (*enable)(CUgraphExec, CUgraphNode, unsigned) = nullptr;
  CUresult (*name)(const char**, CUfunction) = nullptr;
};

TEST(GraphRanges, CountsEqualThoseOfLaunches) {
  auto opened = gpu::BareGpu::open();
  if (!opened) GTEST_SKIP() << opened.error();
  gpu::BareGpu& gpu = **opened;
  const GraphApi api(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
  ASSERT_TRUE(api.complete);
  const auto check = [&](CUresult result, const char* call) { gpu.cuda().check(result, call); };
  const AttentionProblem problem{.batch = 1, .heads_q = 16, .heads_kv = 16, .n_q = 1024, .n_k = 1024, .d = 64};
  const Algorithm& naive = *built_in_algorithms().find("naive");
  gpu::PreparedPlan plan(gpu, naive.plan(problem, naive.default_config(problem, gpu.limits()), gpu.limits()));
  const std::span<gpu::PreparedLaunch> launches = plan.launches();
  ASSERT_GT(launches.size(), 1U);
  const CUstream stream = gpu.runner().stream();

  CUgraph graph = nullptr;
  check(api.begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
  for (gpu::PreparedLaunch& launch : launches) launch.enqueue(gpu.cuda(), stream);
  check(api.end(stream, &graph), "cuStreamEndCapture");
  std::size_t count = 0;
  check(api.nodes(graph, nullptr, &count), "cuGraphGetNodes");
  std::vector<CUgraphNode> nodes(count);
  check(api.nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
  ASSERT_EQ(nodes.size(), launches.size());
  CUgraphExec executable = nullptr;
  check(api.instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  for (const CUgraphNode node : nodes) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    check(api.parameters(node, &parameters), "cuGraphKernelNodeGetParams_v2");
    const char* name = nullptr;
    check(api.name(&name, parameters.func), "cuFuncGetName");
    fmt::print("node: {}\n", name);
  }

  const auto wait = [&] { gpu.runner().wait(std::chrono::seconds(10)); };
  const auto replay = [&](std::vector<std::size_t> enabled) {
    return [&, enabled] {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        check(api.enable(executable, nodes[i], std::ranges::find(enabled, i) != enabled.end() ? 1 : 0),
              "cuGraphNodeSetEnabled");
      }
      check(api.launch(executable, stream), "cuGraphLaunch");
      wait();
    };
  };
  const auto before = [&] {
    gpu.runner().enqueue_l2_clear();
    wait();
  };
  std::vector<gpu::RangeProfiler::Range> ranges;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    all.push_back(i);
    ranges.push_back({fmt::format("launch {}", i), before, [&, i] {
                        launches[i].enqueue(gpu.cuda(), stream);
                        wait();
                      }});
    ranges.push_back({fmt::format("node {}", i), before, replay({i})});
  }
  ranges.push_back({"graph", before, replay(all)});
  std::vector<std::string> counters;
  for (const std::string_view key :
       {metric_key::l2_to_sm_bytes, metric_key::sm_to_l2_bytes, metric_key::dram_read_bytes})
    counters.emplace_back(find_metric(key)->counter);
  const gpu::CounterConfig config = gpu.counters().host().configure(counters);
  const auto values = gpu.counters().profiler().collect(config, ranges);
  double sum = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& launch = values.at(fmt::format("launch {}", i));
    const auto& node = values.at(fmt::format("node {}", i));
    fmt::print("{}: launch {} {} {}, node {} {} {}\n", launches[i].name(), launch[0], launch[1], launch[2], node[0],
               node[1], node[2]);
    EXPECT_EQ(node[0], launch[0]) << launches[i].name();
    EXPECT_EQ(node[1], launch[1]) << launches[i].name();
    sum += launch[0];
  }
  const auto& whole = values.at("graph");
  fmt::print("graph {} {} {}\n", whole[0], whole[1], whole[2]);
  EXPECT_EQ(whole[0], sum) << "bytes from L2 to SMs add up";
}

}  // namespace
}  // namespace attnscope
