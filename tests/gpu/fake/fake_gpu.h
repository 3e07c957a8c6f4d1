// SPDX-License-Identifier: Apache-2.0
// Fake NVIDIA driver, NVRTC, CUPTI and NVML for tests: implements their functions, keeps device memory on the host, and
// fails as a test requests. The program loads it through the environment variables with which users override library
// paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::fake {

/// Faults in ATTNSCOPE_FAKE_GPU, comma-separated "name" or "name=value"; read again at every query. ENTRY selects
/// kernels whose entry name contains it.
///   init=CODE             cuInit returns CODE
///   driver=VERSION        result of cuDriverGetVersion (default: 13000)
///   compute=NN            compute capability (default: 90)
///   free=BYTES            device memory (default: 1 GiB)
///   oom-at=N              the Nth allocation since cuInit fails
///   oom-from=N            the Nth and all later allocations fail
///   crash=ENTRY           launches cause a sticky illegal address error; includes helper kernels, as do the next three
///   hang=ENTRY            launches never end
///   interrupt=ENTRY       Ctrl-C right after the launch; in a worker, sent to its supervisor
///   lost=ENTRY            the GPU is lost at the launch
///   gpus=N                number of GPUs (default: 1); their UUIDs end in 0f, 10, ...
///   other-kind=N          GPUs from index N are named "Other GPU"
///   no-peers              no peer access between GPUs
///   lose-copy=N           the GPU is lost at the Nth copy between GPUs
///   name=NAME             GPU name (default: "Fake GPU")
///   mark=FILE             created by a launch that crashes, hangs or loses the GPU
///   gone=FILE             while FILE exists, the driver finds no GPU
///   renumbered=FILE       while FILE exists, GPU i is the former GPU i + 1
///   leaves-out=ENTRY      launches take 100 times as long if their fourth argument (fa2's o) is not written yet
///   slow-ceiling=ENTRY    ceilings are measured at 1000 instead of 1755 MHz
///   overrun=ENTRY         launches write past the end of their fourth argument's buffer (fa2's o)
///   underrun=ENTRY        launches write before its beginning
///   zero-rows=ENTRY       launches write 64 zeros to the middle of it
///   no-guard-pages        device memory cannot be mapped page by page
///   stray-read=ENTRY      launches read past the end of their second argument's buffer (fa2's k)
///   stray-front=ENTRY     launches read before its beginning
///   other-stream=ENTRY    work continues for 1 ms on another stream; only a context-wide synchronization waits for it
///   write-input=ENTRY     launches write to the first element of their second argument (fa2's k)
///   stale=ENTRY           launches repeat the output of their first launch
///   compute-output        these kernels compute: fa2 forward, fa3 forward, the combine of a ring, and split-KV's
///   combine
///                         (contiguous K and V); otherwise kernels leave outputs unchanged
///   once=ENTRY            computing kernels compute at their first launch only
///   gives-up=N            from the Nth launch of a kernel, it does not compute
///   dirty=BYTES           bytes that each launch leaves dirty in L2, besides 4096 bytes read and written in DRAM
///   range-dirty=BYTES     bytes that each counter range itself leaves dirty in L2
///   parameters=N          kernels have N parameters of 8 bytes; otherwise unknown
///   local=BYTES           local memory per thread
///   compile-error=TEXT    sources whose name or compiler options contain TEXT do not compile
///   refuse-module=N       the driver rejects the first N cubins
///   cupti-version=NNNNNN  result of cuptiGetVersion
///   lacks=TEXT            counters whose name contains TEXT are unknown
///   cupti-CALL=CODE       the call returns CODE; CALL: init, availability, enable, start, decode
///   refuse-range=TEXT     ranges whose name contains TEXT cannot be pushed
///   lose-range=TEXT       these ranges are missing from the decoded results
///   no-value=NAME         counters whose name contains NAME have no value
///   cupti-CALL-at=N       the Nth call since cuInit returns an unknown error; CALL: start, push, pop, stop, decode
///   crash-in-range=N      the Nth kernel launch (helpers excluded) in a counter range causes a sticky illegal address
///   error hang-in-range=N       that launch never ends refuse-in-range=N     that launch alone is rejected: too many
///   resources by-grid               each launch reads and writes 4096 bytes per block instead of 4096 in total
///   single-use            a counter configuration serves one round of passes and cannot be restarted
///   short-again           a restarted configuration reports all passes done after its first pass
///   vgpu                  a virtual GPU with profiling disabled
///   throttle=MASK         NVML clock event reasons
///   use=PERCENT           NVML GPU utilization
///   nvml-CALL=CODE        the call returns CODE; CALL: clock, temperature, power, reasons, use
///   nvrtc-CALL=CODE       the call returns CODE; CALL: version, count, archs (which then writes nothing), log
class Faults {
 public:
  Faults();  ///< reads the current value of the variable
  [[nodiscard]] bool has(std::string_view name) const { return value(name).has_value(); }
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const;
  /// Returns whether `text` contains the value of `name`.
  [[nodiscard]] bool matches(std::string_view name, std::string_view text) const;

 private:
  std::string text_;
};

}  // namespace attnscope::fake

extern "C" {
/// Kernel launches since cuInit, without helper kernels.
std::int64_t attnscope_fake_launches();
/// Number of these launches with programmatic dependent launch.
std::int64_t attnscope_fake_early_launches();
/// Bytes copied from host to device since cuInit.
std::int64_t attnscope_fake_uploaded_bytes();
/// Number of resets of persisting L2 lines since cuInit.
std::int64_t attnscope_fake_persisting_resets();
/// Counter configurations set since cuInit.
std::int64_t attnscope_fake_counter_configs();
/// Counter sessions started since cuInit; one per pass.
std::int64_t attnscope_fake_counter_sessions();
/// Range names of the last session in push order, one per line.
const char* attnscope_fake_pushed_ranges();
/// Sets a hook that is called at every launch with the kernel's entry; nullptr removes it.
void attnscope_fake_on_launch(void (*hook)(const char* entry));
/// Sources compiled since the library was loaded.
std::int64_t attnscope_fake_compilations();
}
