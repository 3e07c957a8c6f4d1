// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/python_call.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/point_abort.h"

namespace attnscope::gpu {
namespace {

const attnscope_python*& registered_functions() {
  static const attnscope_python* functions = nullptr;
  return functions;
}

}  // namespace

void set_python_functions(const attnscope_python* functions) {
  registered_functions() = functions;
}

const attnscope_python* python_functions() {
  return registered_functions();
}

/// Inputs and result of prepare(). Shared with the preparing thread, which may hang.
struct PythonCall::Arguments {
  HostArguments host;
  std::string file;
  std::string entry;
  attnscope_python_plan result{};
};

class PythonCall::Launch final : public HostLaunch {
 public:
  explicit Launch(std::shared_ptr<PythonCall> call, Work work, Work before = {})
      : call_(std::move(call)), work_(std::move(work)), before_(std::move(before)) {}

  void enqueue_before(CUstream stream) override {
    if (before_) before_(stream);
  }
  void launch(CUstream stream) override { work_(stream); }
  [[nodiscard]] Message stray_write() const override { return gpu::stray_write(call_->result_.memory); }
  [[nodiscard]] std::chrono::nanoseconds host_time() const override { return call_->host_time_; }

 private:
  std::shared_ptr<PythonCall> call_;
  Work work_;
  Work before_;
};

std::shared_ptr<PythonCall> PythonCall::prepare(const HostPlace& place, const KernelLaunch& launch,
                                                const AttentionPlan& plan, const BufferResolver& address_of,
                                                std::chrono::milliseconds limit) {
  if (python_functions() == nullptr) {
    throw PointAbort(Disposition::compile_error, "point.no_python",
                     "{}() can run only in a worker of the Python package attnscope.", launch.source.entry);
  }
  if (place.cuda.cuGraphGetNodes == nullptr) {
    throw PointAbort(Disposition::infeasible, "point.no_graphs",
                     "Python functions require a driver for CUDA 12.4 or newer; this one supports {}",
                     driver_api_version(place.cuda));
  }
  std::shared_ptr<PythonCall> call(new PythonCall(place));
  call->name_ = launch.source.entry;
  call->arguments_.reset(new Arguments{.host{*launch.call, place.ordinal, plan, address_of},
                                       .file = launch.source.user_source->file.string(),
                                       .entry = launch.source.entry});
  call->capture(launch, limit);
  return call;
}

void PythonCall::capture(const KernelLaunch& launch, std::chrono::milliseconds limit) {
  const std::chrono::milliseconds patience = 4 * limit;
  const auto status =
      call_with_limit(place_, patience, arguments_, [arguments = arguments_.get(), stream = place_.stream] {
        return python_functions()->prepare(arguments->file.c_str(), arguments->entry.c_str(), &arguments->host.problem,
                                           &arguments->host.pointers, stream, &arguments->result);
      });
  if (!status) {
    throw LaunchTimeout(make_reason("point.function_still_running",
                                    "{}(): preparing was still running after {} ms (four times --timeout).", name_,
                                    patience.count()));
  }
  check(*status);
  result_ = arguments_->result;
  if (result_.note != nullptr) note_ = result_.note;
  const auto instantiated = [&](void* graph) {
    return graph == nullptr ? GraphExec() : instantiate(place_.cuda, static_cast<CUgraph>(graph));
  };
  before_ = instantiated(result_.before);
  measured_ = instantiated(result_.measured);
  after_ = instantiated(result_.after);
  if (!is_captured()) return;
  // Values of the whole call are stored under these names.
  const std::array<std::string_view, 2> reserved{"all", launch.name};
  kernels_ = graph_kernels(place_.cuda, static_cast<CUgraph>(result_.measured), reserved);
  if (kernels_.empty()) {
    throw PointAbort(Disposition::incorrect, "point.no_kernel",
                     "{}() launches no kernel for {}: it returns an earlier result, or works on another stream.", name_,
                     launch.name);
  }
}

PythonCall::~PythonCall() {
  if (result_.handle == nullptr) return;  // the function failed, or its work may never end
  (void)place_.cuda.cuCtxSynchronize();
  python_functions()->release(result_.handle);
}

Message PythonCall::note() const {
  return note_.empty() ? Message() : make_reason("point.function_note", "{}(): {}.", name_, note_);
}

std::int64_t PythonCall::peak_bytes() const {
  return result_.memory == 0 ? 0 : attnscope_memory_peak(result_.memory);
}

void PythonCall::check(int status) const {
  if (status == ATTNSCOPE_OK) return;
  const char* const words = python_functions()->last_error();
  check_host_status(place_, status,
                    make_reason("point.function_failed", "{}", words != nullptr ? words : "no error message"));
}

void PythonCall::run(CUgraphExec executable, int (*function)(void*), CUstream stream) {
  if (executable != nullptr) {
    place_.cuda.check(place_.cuda.cuGraphLaunch(executable, stream), "cuGraphLaunch");
  } else if (!is_captured()) {
    check(function(result_.handle));
  }
}

void PythonCall::enqueue_reset(CUstream stream) {
  if (result_.memory != 0) poison_memory(result_.memory);
  if (before_) place_.cuda.check(place_.cuda.cuGraphLaunch(before_.get(), stream), "cuGraphLaunch");
}

void PythonCall::enqueue_measured(CUstream stream) {
  const auto begin = Clock::now();
  run(measured_.get(), python_functions()->call, stream);
  if (!is_captured()) host_time_ = Clock::now() - begin;
}

void PythonCall::enqueue_copy(CUstream stream) {
  run(after_.get(), python_functions()->copy_results, stream);
}

void PythonCall::call_function() {
  check(python_functions()->call(result_.handle));
  check(python_functions()->copy_results(result_.handle));
}

PreparedLaunch PythonCall::reset(const KernelLaunch& launch) {
  return {launch, std::make_unique<Launch>(shared_from_this(), [this](CUstream stream) { enqueue_reset(stream); })};
}

PreparedLaunch PythonCall::measured(const KernelLaunch& launch) {
  return {launch, std::make_unique<Launch>(shared_from_this(), [this](CUstream stream) { enqueue_measured(stream); })};
}

PreparedLaunch PythonCall::copy(const KernelLaunch& launch) {
  return {launch, std::make_unique<Launch>(shared_from_this(), [this](CUstream stream) { enqueue_copy(stream); })};
}

PreparedLaunch PythonCall::complete(const KernelLaunch& launch) {
  return {launch, std::make_unique<Launch>(shared_from_this(), [this](CUstream stream) {
            enqueue_reset(stream);
            enqueue_measured(stream);
            enqueue_copy(stream);
          })};
}

PreparedLaunch PythonCall::launch_of(const KernelLaunch& launch, const GraphPart& part) {
  const auto graph = static_cast<CUgraph>(result_.measured);
  std::vector<CUgraphNode> before = graph_nodes(place_.cuda, graph);
  before.erase(std::ranges::find(before, part.nodes.front()), before.end());
  const auto replay = [this, graph](std::span<const CUgraphNode> nodes) -> Work {
    if (nodes.empty()) return {};
    const auto executable = std::make_shared<GraphExec>(instantiate(place_.cuda, graph, nodes));
    return [this, executable](CUstream stream) {
      place_.cuda.check(place_.cuda.cuGraphLaunch(executable->get(), stream), "cuGraphLaunch");
    };
  };
  return {launch, std::make_unique<Launch>(shared_from_this(), replay(part.nodes), replay(before)), part.name};
}

std::vector<PreparedLaunch> PythonCall::launches_of(const KernelLaunch& launch, std::span<const GraphPart> parts) {
  std::vector<PreparedLaunch> launches;
  try {
    for (const GraphPart& part : parts) launches.push_back(launch_of(launch, part));
  } catch (const DriverError& error) {
    // Graphs that allocate memory or have conditional nodes can be neither copied nor changed.
    if (error.code() == CUDA_ERROR_OUT_OF_MEMORY) throw;
    if (note_.empty()) note_ = fmt::format("kernels are not measured separately: {}", error.what());
    launches.clear();
  }
  return launches;
}

std::vector<PreparedLaunch> PythonCall::parts(const KernelLaunch& launch) {
  std::vector<GraphPart> parts;
  for (const GraphKernel& kernel : kernels_) parts.push_back({kernel.nodes, kernel.name});
  if (parts.size() < 2) parts.clear();
  return launches_of(launch, parts);
}

std::vector<PreparedLaunch> PythonCall::sequence(const KernelLaunch& launch) {
  std::map<CUgraphNode, const std::string*> names;
  for (const GraphKernel& kernel : kernels_) {
    for (const CUgraphNode node : kernel.nodes) names.emplace(node, &kernel.name);
  }
  if (names.size() < 2 || names.size() > max_sequence) return {};
  std::vector<GraphPart> steps;
  for (const CUgraphNode node : graph_nodes(place_.cuda, static_cast<CUgraph>(result_.measured))) {
    if (const auto name = names.find(node); name != names.end()) steps.push_back({{node}, *name->second});
  }
  return launches_of(launch, steps);
}

}  // namespace attnscope::gpu
