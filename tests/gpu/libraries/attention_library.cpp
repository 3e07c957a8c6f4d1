// SPDX-License-Identifier: Apache-2.0
// User-defined library kernel for tests: launches the attention kernel that the fake GPU computes, through the
// program's driver. Its knob `mode` selects a misbehavior; 1 is none.
#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "assets/own-kernel/attnscope_kernel.h"

namespace {

enum Mode {
  honest = 1,
  prepare_fails,
  unsupported,
  out_of_memory,
  launch_crashes,
  prepare_exits,
  launch_throws,
  prepare_hangs,
  leaks,
  launch_fails,
  launches_nothing,
  prepare_throws,
  prepare_writes_output,  // and launches nothing
  writes_past_workspace = 15,
  writes_before_workspace,
};

constexpr std::size_t workspace_bytes = 4096;
constexpr std::uint64_t cookie = 0x5EEDC0DE;

std::string error;  // NOLINT(bugprone-throwing-static-initialization)

int failed(int status, const char* words) {
  error = words;
  return status;
}

template <class F>
F* driver(const char* name) {
  static void* const library = ::dlopen(std::getenv("ATTNSCOPE_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<F*>(::dlsym(library, name));
}

void note(const char* what) {
  if (const char* file = std::getenv("ATTNSCOPE_TEST_LIBRARY_LOG")) std::ofstream(file, std::ios::app) << what << '\n';
}

std::int64_t mode_of(const attnscope_problem* p) {
  for (std::int64_t i = 0; i < p->knob_count; ++i) {
    if (std::string_view(p->knobs[i].name) == "mode") return p->knobs[i].value;
  }
  return 0;
}

struct Plan {
  std::int64_t mode;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  std::uint64_t* workspace;
  // parameters of attn_fa2_forward
  attnscope_pointers at;
  int instances, group, n_q, n_k, heads, left, right;
  float scale;

  Plan(const attnscope_problem& p, const attnscope_pointers& pointers)
      : mode(mode_of(&p)),
        workspace(static_cast<std::uint64_t*>(pointers.workspace)),
        at(pointers),
        instances(static_cast<int>(p.batch * p.heads_q)),
        group(static_cast<int>(p.heads_q / p.heads_kv)),
        n_q(static_cast<int>(p.n_q)),
        n_k(static_cast<int>(p.n_k)),
        heads(static_cast<int>(p.heads_q)),
        left(static_cast<int>(p.window_left)),
        right(static_cast<int>(p.window_right)),
        scale(static_cast<float>(p.scale)) {
    const std::string image = "fake cubin -DATTN_D=" + std::to_string(p.d) + " -DATTN_BF16=" + std::to_string(p.dtype) +
                              " -DATTN_MASK=" + std::to_string(p.window_right == 0 ? 1 : 0);
    driver<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, image.c_str());
    driver<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, "attn_fa2_forward");
    *workspace = cookie;
  }

  CUresult run(CUstream stream) {
    int none = 0;
    std::array<void*, 18> arguments{&at.q,          &at.k, &at.v,  &at.o,  &at.lse, &instances, &group,
                                    &n_q,           &n_k,  &scale, &heads, &left,   &right,     &at.key_lengths,
                                    &at.block_mask, &none, &none,  &none};
    return driver<decltype(cuLaunchKernel)>("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.data(),
                                                              nullptr);
  }
};

int supported(const attnscope_problem* p) {
  return mode_of(p) == unsupported ? failed(ATTNSCOPE_UNSUPPORTED, "not with these heads") : ATTNSCOPE_OK;
}

int workspace(const attnscope_problem*, std::size_t* bytes) {
  *bytes = workspace_bytes;
  return ATTNSCOPE_OK;
}

int prepare(const attnscope_problem* p, const attnscope_pointers* pointers, void* stream, void** result) {
  std::puts("what libraries print is no line of the program's");
  switch (mode_of(p)) {
    case prepare_fails:
      return failed(ATTNSCOPE_ERROR, "no plan was found");
    case out_of_memory:
      return failed(ATTNSCOPE_OUT_OF_MEMORY, "2 GiB are not to be had");
    case prepare_exits:
      std::exit(7);  // NOLINT(concurrency-mt-unsafe)
    case prepare_throws:
      throw std::runtime_error("thrown in prepare");
    case prepare_hangs:
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    default:
      break;
  }
  auto plan = std::make_unique<Plan>(*p, *pointers);
  if (plan->mode == prepare_writes_output) plan->run(static_cast<CUstream>(stream));
  *result = plan.release();
  note("prepare");
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&prepare), &self) != 0) note(self.dli_fname);
  return ATTNSCOPE_OK;
}

int launch(void* prepared, void* stream) {
  auto& plan = *static_cast<Plan*>(prepared);
  if (*plan.workspace != cookie) return failed(ATTNSCOPE_ERROR, "the workspace was written to");
  switch (plan.mode) {
    case launch_crashes: {
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference)
      break;
    }
    case launch_throws:
      throw std::runtime_error("thrown in launch");
    case launch_fails:
      return failed(ATTNSCOPE_ERROR, "the graph could not be launched");
    case launches_nothing:
    case prepare_writes_output:
      return ATTNSCOPE_OK;
    case leaks: {
      CUdeviceptr kept = 0;
      driver<decltype(cuMemAlloc)>("cuMemAlloc_v2")(&kept, 512);
      break;
    }
    case writes_past_workspace:
      plan.workspace[workspace_bytes / sizeof(std::uint64_t)] = cookie;
      break;
    case writes_before_workspace:
      plan.workspace[-1] = cookie;
      break;
    default:
      break;
  }
  return plan.run(static_cast<CUstream>(stream)) == CUDA_SUCCESS ? ATTNSCOPE_OK
                                                                 : failed(ATTNSCOPE_ERROR, "the launch failed");
}

void release(void* prepared) {
  const std::unique_ptr<Plan> plan(static_cast<Plan*>(prepared));
  driver<decltype(cuModuleUnload)>("cuModuleUnload")(plan->module);
  note("release");
}

const char* last_error() {
  return error.c_str();
}

}  // namespace

#ifndef TEST_LIBRARY_VERSION
#define TEST_LIBRARY_VERSION ATTNSCOPE_KERNEL_VERSION
#endif

extern "C" const attnscope_kernel* attnscope_kernel_v1() {
  static constexpr attnscope_kernel table{.version = TEST_LIBRARY_VERSION,
                                          .supported = supported,
                                          .workspace = workspace,
                                          .prepare = prepare,
                                          .launch = launch,
                                          .release = release,
                                          .last_error = last_error};
  return &table;
}
