// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/library_kernel.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiler/measure/gpu/clock.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/point_abort.h"

namespace attnscope::gpu {
namespace {

constexpr std::size_t guard_area_bytes = 4096;  ///< bytes of the guard areas around a workspace
constexpr unsigned char untouched_byte = 0xFF;  // NaN as fp16, bf16 and fp32

[[noreturn]] void throw_compile_error(const Message& reason) {
  throw PointAbort(Disposition::compile_error, reason);
}

/// Paths of loaded libraries whose file name begins with `name`, in any version.
std::set<std::string> loaded_files(const std::string& name) {
  struct FileSearch {
    const std::string& name;
    std::set<std::string> found = {};
  } wanted{name};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& all = *static_cast<FileSearch*>(data);
        const std::filesystem::path file = info->dlpi_name;
        std::error_code error;
        if (file.filename().string().starts_with(all.name)) {
          all.found.insert(std::filesystem::weakly_canonical(file, error).string());
        }
        return 0;
      },
      &wanted);
  return wanted.found;
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
  const std::set<std::string> before = loaded_files("libcupti.so");
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = ::dlerror();
    throw_compile_error(
        make_reason("point.library_not_loaded", "{} cannot be loaded: {}", name_, error != nullptr ? error : "?"));
  }
  for (const std::string& each : loaded_files("libcupti.so")) {
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
  const auto need = [&](bool there, const char* function) {
    if (!there)
      throw_compile_error(make_reason("point.no_function", "{}: the function table lacks {}", name_, function));
  };
  need(functions_->supported != nullptr, "supported");
  need(functions_->workspace != nullptr, "workspace");
  need(functions_->prepare != nullptr, "prepare");
  need(functions_->launch != nullptr, "launch");
  need(functions_->release != nullptr, "release");
  need(functions_->last_error != nullptr, "last_error");
}

/// Inputs and results of prepare().
struct PreparedLibrary::Call {
  HostCall stated;
  std::vector<attnscope_knob> knobs;
  attnscope_problem problem{};
  attnscope_pointers pointers{};
  void* plan = nullptr;
  DeviceMemory kept;

  Call(const HostCall& call, int device) : stated(call) {
    const AttentionProblem& p = stated.problem;
    for (const auto& [name, value] : stated.knobs) knobs.push_back({name.c_str(), value});
    problem = {.device = device,
               .dtype = p.dtype == DType::fp32   ? ATTNSCOPE_FP32
                        : p.dtype == DType::bf16 ? ATTNSCOPE_BF16
                                                 : ATTNSCOPE_FP16,
               .pass = stated.pass == Pass::bwd ? ATTNSCOPE_BACKWARD : ATTNSCOPE_FORWARD,
               .batch = p.batch,
               .heads_q = p.heads_q,
               .heads_kv = p.heads_kv,
               .n_q = p.n_q,
               .n_k = p.n_k,
               .d = p.d,
               .q = {},  // set by point_to(), as the others
               .o = {},
               .dout = {},
               .dq = {},
               .k = {},
               .v = {},
               .dk = {},
               .dv = {},
               .scale = 1 / std::sqrt(static_cast<double>(p.d)),
               .window_left = p.mask.left,
               .window_right = p.mask.right,
               .mask_block = p.mask.has_block_mask() ? p.mask.block_size : 0,
               .lse_base_2 = stated.lse_base_2 ? 1 : 0,
               .deterministic = p.deterministic ? 1 : 0,
               .br = stated.tile.br,
               .bc = stated.tile.bc,
               .knob_count = static_cast<std::int64_t>(knobs.size()),
               .knobs = knobs.data()};
  }

  void point_to(const AttentionPlan& plan_of_all, const Resolve& address_of) {
    const auto find = [&](auto& pointer, const char* name) -> const BufferSpec* {
      const auto buffer = std::ranges::find(plan_of_all.buffers, name, &BufferSpec::name);
      if (buffer == plan_of_all.buffers.end()) return nullptr;
      pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(address_of(name));
      return &*buffer;
    };
    const auto take = [&](auto& pointer, attnscope_strides& strides, const char* name, bool queries) {
      const BufferSpec* const buffer = find(pointer, name);
      if (buffer == nullptr) return;
      const Strides stated = buffer_strides(*buffer, queries ? problem.heads_q : problem.heads_kv,
                                            queries ? problem.n_q : problem.n_k, problem.d);
      strides = {.batch = stated.batch, .head = stated.head, .row = stated.row};
    };
    take(pointers.q, problem.q, "q", true);
    take(pointers.k, problem.k, "k", false);
    take(pointers.v, problem.v, "v", false);
    take(pointers.o, problem.o, "o", true);
    take(pointers.dout, problem.dout, "dout", true);
    take(pointers.dq, problem.dq, "dq", true);
    take(pointers.dk, problem.dk, "dk", false);
    take(pointers.dv, problem.dv, "dv", false);
    (void)find(pointers.lse, "lse");
    (void)find(pointers.key_lengths, "key_lengths");
    (void)find(pointers.block_mask, "block_mask");
    (void)find(pointers.q_starts, "q_starts");
    (void)find(pointers.k_starts, "k_starts");
  }
};

PreparedLibrary::PreparedLibrary(const Place& place, const LibraryKernel& library, const AttentionPlan& plan,
                                 const HostCall& call, const Resolve& address_of, std::chrono::milliseconds limit)
    : place_(place), library_(library), call_(std::make_shared<Call>(call, place.ordinal)) {
  call_->point_to(plan, address_of);
  const attnscope_kernel& theirs = library_.functions();
  check(guarded(library_.name(), "supported", [&] { return theirs.supported(&call_->problem); }), "supported");
  std::size_t bytes = 0;
  check(guarded(library_.name(), "workspace", [&] { return theirs.workspace(&call_->problem, &bytes); }), "workspace");
  workspace_bytes_ = static_cast<std::int64_t>(bytes);
  if (bytes > 0) {
    workspace_ = allocate(place_.cuda, workspace_bytes_ + guard_bytes());
    for (const CUdeviceptr guard : {workspace_.get(), workspace_.get() + guard_area_bytes + bytes}) {
      place_.cuda.check(place_.cuda.cuMemsetD8Async(guard, untouched_byte, guard_area_bytes, place_.stream),
                        "cuMemsetD8Async");
    }
    call_->pointers.workspace = reinterpret_cast<void*>(workspace_.get() + guard_area_bytes);
  }
  prepare(limit);
}

std::int64_t PreparedLibrary::guard_bytes() const {
  return workspace_bytes_ > 0 ? static_cast<std::int64_t>(2 * guard_area_bytes) : 0;
}

Message PreparedLibrary::stray_write() const {
  if (workspace_bytes_ == 0) return {};
  std::vector<unsigned char> guard(guard_area_bytes);
  const auto written = [&](CUdeviceptr at) {
    place_.cuda.check(place_.cuda.cuMemcpyDtoH(guard.data(), at, guard.size()), "cuMemcpyDtoH");
    return std::ranges::any_of(guard, [](unsigned char byte) { return byte != untouched_byte; });
  };
  if (written(workspace_.get()))
    return make_reason("point.workspace_underrun", "{} wrote before the start of its workspace.", library_.name());
  if (written(workspace_.get() + guard_area_bytes + static_cast<CUdeviceptr>(workspace_bytes_))) {
    return make_reason("point.workspace_overrun", "{} wrote beyond the end of its workspace of {} bytes.",
                       library_.name(), workspace_bytes_);
  }
  return {};
}

void PreparedLibrary::prepare(std::chrono::milliseconds limit) {
  // Use a detached thread that can be abandoned. Its data live as long as the thread or the process.
  std::promise<int> promise;
  std::future<int> status = promise.get_future();
  std::thread([call = call_, promise = std::move(promise), &library = library_, &context = place_.context,
               stream = place_.stream]() mutable {
    try {
      context.make_current();
      promise.set_value(guarded(library.name(), "prepare", [&] {
        return library.functions().prepare(&call->problem, &call->pointers, stream, &call->plan);
      }));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }).detach();
  const std::chrono::milliseconds patience = 4 * limit;
  if (status.wait_for(patience) == std::future_status::timeout) {
    call_->kept = std::move(workspace_);  // freeing it could wait for the hung call
    static auto& lost = *new std::vector<std::shared_ptr<Call>>;
    lost.push_back(call_);
    throw LaunchTimeout(make_reason("point.library_still_running",
                                    "{}: prepare() was still running after {} ms (four times --timeout).",
                                    library_.name(), patience.count()));
  }
  try {
    check(status.get(), "prepare");
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
  const Message reason = make_reason("point.library_failed", "{}: {}(): {}", library_.name(), function, said);
  // A sticky device error makes the device unusable, regardless of the library's status.
  const CUresult state = place_.cuda.cuStreamQuery(place_.stream);
  if (state != CUDA_SUCCESS && state != CUDA_ERROR_NOT_READY) throw DriverError(state, text(reason));
  throw PointAbort(status == ATTNSCOPE_UNSUPPORTED     ? Disposition::infeasible
                   : status == ATTNSCOPE_OUT_OF_MEMORY ? Disposition::out_of_memory
                                                       : Disposition::crashed,
                   reason);
}

PendingWork pending_work(KernelRunner& runner, const std::function<void()>& enqueue, std::chrono::milliseconds limit) {
  const CudaApi& cuda = runner.cuda();
  const Event end = make_event(cuda);
  const Event idle = make_event(cuda);
  const auto behind_ns = [&](const auto& work) {
    runner.enqueue_delay(std::chrono::milliseconds(5));
    work();
    cuda.check(cuda.cuEventRecord(end.get(), runner.stream()), "cuEventRecord");
    runner.wait(end.get(), limit, true);  // sleeping would add to the measured time
    cuda.check(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    cuda.check(cuda.cuEventRecord(idle.get(), runner.stream()), "cuEventRecord");
    runner.wait(idle.get(), limit);
    float milliseconds = 0;
    cuda.check(cuda.elapsed_time(&milliseconds, end.get(), idle.get()), "cuEventElapsedTime");
    return 1e6 * static_cast<double>(milliseconds);
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
  cuda.check(cuda.cuEventRecord(held.get(), runner.stream()), "cuEventRecord");
  const auto is_held = [&] { return cuda.cuEventQuery(held.get()) == CUDA_ERROR_NOT_READY; };
  enqueue();
  bool early = false;
  while (!early && is_held()) early = written() && is_held();
  runner.wait(limit);
  return early;
}

}  // namespace attnscope::gpu
