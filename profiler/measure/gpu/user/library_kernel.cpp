// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/library_kernel.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/point_abort.h"

namespace attnscope::gpu {
namespace {

constexpr std::size_t guard_area_bytes = 4096;  ///< bytes of the guard areas around a workspace

[[noreturn]] void throw_compile_error(const Message& reason) {
  throw PointAbort(Disposition::compile_error, reason);
}

/// Calls a library's function; converts an exception to PointAbort.
template <class F>
auto guarded(const std::string& library, const char* function, const F& call) {
  const auto threw = [&](const char* words) {
    return PointAbort(Disposition::crashed, "point.library_threw",
                      "{}: {}() threw an exception across the C interface: {}", library, function, words);
  };
  try {
    return call();
  } catch (const std::exception& error) {
    throw threw(error.what());
  } catch (...) {
    throw threw("?");
  }
}

}  // namespace

LibraryKernel::LibraryKernel(const std::filesystem::path& file) : name_(file.filename().string()) {
  constexpr const char* entry = "attnscope_kernel_v1";
  const std::set<std::string> before = loaded_library_files("libcupti.so");
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = ::dlerror();
    throw_compile_error(
        make_reason("point.library_not_loaded", "{} cannot be loaded: {}", name_, error != nullptr ? error : "?"));
  }
  for (const std::string& each : loaded_library_files("libcupti.so")) {
    if (before.empty() || before.contains(each)) continue;
    throw_compile_error(make_reason(
        "point.two_cupti", "{} loads {}, but {} is already in use (set ATTNSCOPE_CUPTI_LIBRARY to one of them)", name_,
        each, *before.begin()));
  }
  const auto table = reinterpret_cast<decltype(&attnscope_kernel_v1)>(::dlsym(handle, entry));
  if (table == nullptr) {
    throw_compile_error(make_reason("point.no_interface",
                                    "{} does not export {} (build it with attnscope_kernel.h version {})", name_, entry,
                                    ATTNSCOPE_KERNEL_VERSION));
  }
  functions_ = guarded(name_, entry, table);
  if (functions_ == nullptr || functions_->version != ATTNSCOPE_KERNEL_VERSION) {
    throw_compile_error(make_reason("point.other_interface",
                                    "{} was built for attnscope_kernel.h version {}; this program requires version {}",
                                    name_, functions_ == nullptr ? 0 : functions_->version, ATTNSCOPE_KERNEL_VERSION));
  }
  const bool complete = functions_->supported != nullptr && functions_->workspace != nullptr &&
                        functions_->prepare != nullptr && functions_->launch != nullptr &&
                        functions_->release != nullptr && functions_->last_error != nullptr;
  if (!complete)
    throw_compile_error(make_reason("point.no_function", "{}: the function table lacks a function", name_));
}

/// Inputs and results of prepare().
struct PreparedLibrary::Call {
  HostArguments arguments;
  void* plan = nullptr;
  DeviceMemory kept{};
};

PreparedLibrary::PreparedLibrary(const HostPlace& place, const LibraryKernel& library, const AttentionPlan& plan,
                                 const HostCall& call, const BufferResolver& address_of,
                                 std::chrono::milliseconds limit)
    : place_(place), library_(library), call_(new Call{.arguments{call, place.ordinal, plan, address_of}}) {
  const attnscope_problem& problem = call_->arguments.problem;
  const attnscope_kernel& theirs = library_.functions();
  check(guarded(library_.name(), "supported", [&] { return theirs.supported(&problem); }), "supported");
  std::size_t bytes = 0;
  check(guarded(library_.name(), "workspace", [&] { return theirs.workspace(&problem, &bytes); }), "workspace");
  workspace_bytes_ = static_cast<std::int64_t>(bytes);
  if (bytes > 0) {
    workspace_ = allocate(place_.cuda, workspace_bytes_ + guard_bytes());
    for (const CUdeviceptr guard : {workspace_.get(), workspace_.get() + guard_area_bytes + bytes}) {
      place_.cuda.fill(guard, nan_byte, guard_area_bytes, place_.stream);
    }
    call_->arguments.pointers.workspace = reinterpret_cast<void*>(workspace_.get() + guard_area_bytes);
  }
  prepare(limit);
}

std::int64_t PreparedLibrary::guard_bytes() const {
  return workspace_bytes_ > 0 ? static_cast<std::int64_t>(2 * guard_area_bytes) : 0;
}

Message PreparedLibrary::stray_write() const {
  if (workspace_bytes_ == 0) return {};
  const auto written = [&](CUdeviceptr at) { return !place_.cuda.is_filled(at, nan_byte, guard_area_bytes); };
  if (written(workspace_.get()))
    return make_reason("point.workspace_underrun", "{} wrote before the start of its workspace.", library_.name());
  if (written(workspace_.get() + guard_area_bytes + static_cast<CUdeviceptr>(workspace_bytes_))) {
    return make_reason("point.workspace_overrun", "{} wrote beyond the end of its workspace of {} bytes.",
                       library_.name(), workspace_bytes_);
  }
  return {};
}

void PreparedLibrary::prepare(std::chrono::milliseconds limit) {
  const std::chrono::milliseconds patience = 4 * limit;
  const auto status =
      call_with_limit(place_, patience, call_, [call = call_.get(), &library = library_, stream = place_.stream] {
        return guarded(library.name(), "prepare", [&] {
          return library.functions().prepare(&call->arguments.problem, &call->arguments.pointers, stream, &call->plan);
        });
      });
  if (!status) {
    call_->kept = std::move(workspace_);  // freeing it could wait for the hung call
    throw LaunchTimeout(make_reason("point.library_still_running",
                                    "{}: prepare() was still running after {} ms (four times --timeout).",
                                    library_.name(), patience.count()));
  }
  try {
    check(*status, "prepare");
  } catch (const PointAbort&) {
    if (call_->plan != nullptr) library_.functions().release(call_->plan);
    throw;
  }
}

PreparedLibrary::~PreparedLibrary() {
  try {
    (void)place_.cuda.cuCtxSynchronize();
    guarded(library_.name(), "release", [this] {
      if (call_->plan != nullptr) library_.functions().release(call_->plan);
    });
  } catch (const PointAbort&) {  // the point has already ended
  }
}

void PreparedLibrary::launch(CUstream stream) {
  const auto begin = Clock::now();
  check(guarded(library_.name(), "launch", [&] { return library_.functions().launch(call_->plan, stream); }), "launch");
  host_time_ = Clock::now() - begin;
}

void PreparedLibrary::check(int status, const char* function) const {
  if (status == ATTNSCOPE_OK) return;
  const char* const words = guarded(library_.name(), "last_error", library_.functions().last_error);
  const Message said =
      words != nullptr && *words != '\0' ? Message::verbatim(words) : make_reason("point.no_words", "no error message");
  check_host_status(place_, status,
                    make_reason("point.library_failed", "{}: {}(): {}", library_.name(), function, said));
}

PendingWork pending_work(KernelRunner& runner, const std::function<void()>& enqueue, std::chrono::milliseconds limit) {
  const CudaApi& cuda = runner.cuda();
  const Event end = make_event(cuda);
  const Event idle = make_event(cuda);
  const auto behind_ns = [&](const auto& work) {
    runner.enqueue_delay(std::chrono::milliseconds(5));
    work();
    cuda.record(end.get(), runner.stream());
    runner.wait(end.get(), limit, true);  // sleeping would add to the measured time
    cuda.check(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    cuda.record(idle.get(), runner.stream());
    runner.wait(idle.get(), limit);
    return cuda.elapsed_ns(end.get(), idle.get());
  };
  double shortest = std::numeric_limits<double>::infinity();
  double max_idle_wait = 0;
  for (int i = 0; i < 5; ++i) {
    shortest = std::min(shortest, behind_ns(enqueue));
    max_idle_wait = std::max(max_idle_wait, behind_ns([] {}));
  }
  return {.ns = shortest - max_idle_wait, .resolution_ns = max_idle_wait};
}

bool writes_early(KernelRunner& runner, const std::function<void()>& enqueue, const std::function<bool()>& written,
                  std::chrono::milliseconds limit) {
  const CudaApi& cuda = runner.cuda();
  const Event held = make_event(cuda);
  runner.enqueue_delay(std::chrono::milliseconds(50));
  cuda.record(held.get(), runner.stream());
  const auto is_held = [&] { return cuda.cuEventQuery(held.get()) == CUDA_ERROR_NOT_READY; };
  enqueue();
  bool early = false;
  while (!early && is_held()) early = written() && is_held();
  runner.wait(limit);
  return early;
}

}  // namespace attnscope::gpu
