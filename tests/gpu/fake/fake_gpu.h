// SPDX-License-Identifier: Apache-2.0
// A library that stands for the NVIDIA driver, NVRTC, CUPTI and NVML in tests: it has their functions, keeps device
// memory on the host, and fails in the way that a test asks for. The program loads it through the same environment
// variables by which a user names a library of his own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::fake {

/// The faults in ATTNSCOPE_FAKE_GPU, comma-separated "name" or "name=value", read anew at every question:
///   init=CODE             cuInit answers CODE
///   driver=VERSION        cuDriverGetVersion, 13000 by default
///   compute=NN            compute capability, 90 by default
///   free=BYTES            device memory, 1 GiB by default
///   oom-at=N              the Nth allocation fails, counted from cuInit
///   oom-from=N            the Nth and all later ones fail
///   crash=ENTRY           launches of kernels whose entry contains ENTRY leave a sticky illegal address; like the next
///                         three, service kernels too
///   hang=ENTRY            they never end
///   interrupt=ENTRY       Ctrl-C comes right after their launch, of a worker to its supervisor
///   lost=ENTRY            the GPU is gone when they are launched
///   gpus=N                how many there are (1); their UUIDs end in 0f, 10, ...
///   other-kind=N          those from the Nth on, counted from 0, are called "Other GPU"
///   no-peers              none reaches another's memory
///   lose-copy=N           the GPU is gone at the Nth copy between GPUs
///   name=NAME             what the driver calls them ("Fake GPU")
///   mark=FILE             made by a launch that crashes, hangs or loses the GPU
///   gone=FILE             where FILE is, the driver sees no GPU
///   renumbered=FILE       where FILE is, GPU i is the one that was GPU i + 1
///   leaves-out=ENTRY      they take 100 times as long where their fourth argument (fa2's o) is still to be written
///   slow-ceiling=ENTRY    ceilings whose kernel's entry contains ENTRY are found at 1000 instead of 1755 MHz
///   overrun=ENTRY         they write behind their fourth argument's buffer (fa2's o)
///   underrun=ENTRY        they write in front of it
///   no-guard-pages        it cannot map device memory page by page
///   stray-read=ENTRY      they read beyond the end of their second argument's buffer (fa2's k)
///   stray-front=ENTRY     they read in front of it
///   other-stream=ENTRY    work goes on for a millisecond behind them, which only the whole context's end waits for
///   write-input=ENTRY     they write to the first element of their second argument (fa2's k)
///   stale=ENTRY           they write the output of their first launch again, whatever they are given
///   compute-output        fa2's kernel computes, fa3's forward pass, what joins the parts of a ring, and split-KV's
///                         combine (contiguous K and V); without it kernels leave their outputs as they were
///   once=ENTRY            of those that compute, kernels whose entry contains ENTRY do so at their first launch only
///   gives-up=N            from its Nth launch on, none of those that compute does
///   dirty=BYTES           what each launch leaves dirty in L2, besides the 4096 bytes that it reads and writes in DRAM
///   range-dirty=BYTES     what each range of counters leaves dirty in L2 by itself
///   local=BYTES           each thread's local memory
///   compile-error=TEXT    sources whose name or compiler options contain TEXT do not compile
///   refuse-module=N       the driver refuses the first N cubins
///   cupti-version=NNNNNN  cuptiGetVersion
///   lacks=TEXT            counters whose name contains TEXT are not known
///   cupti-CALL=CODE       that call answers CODE; CALL: init, availability, enable, start, decode
///   refuse-range=TEXT     ranges whose name contains TEXT cannot be pushed
///   lose-range=TEXT       they are missing from what is decoded
///   no-value=NAME         counters in whose name NAME is have none
///   cupti-CALL-at=N       its Nth call since cuInit answers an unknown error; CALL: start, push, pop, stop, decode
///   crash-in-range=N      the Nth launch of a kernel (no service kernel's) in a range of counters leaves a sticky
///                         illegal address
///   hang-in-range=N       it never ends
///   refuse-in-range=N     it is refused, and nothing else: too many resources
///   by-grid               each launch reads and writes 4096 bytes a block of its grid, not 4096 in all
///   single-use            a counter configuration serves one round of passes, and cannot be started again
///   short-again           one that is started again says after its first pass that all are done
///   vgpu                  a virtual GPU with profiling disabled
///   throttle=MASK         NVML's clock event reasons
///   use=PERCENT           NVML's utilization of the GPU
///   nvml-CALL=CODE        that call answers CODE; CALL: clock, temperature, power, reasons, use
///   nvrtc-CALL=CODE       that call answers CODE; CALL: version, count, archs (which then writes nothing), log
class Faults {
 public:
  Faults();  ///< as the variable stands now
  [[nodiscard]] bool has(std::string_view name) const { return value(name).has_value(); }
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const;
  /// Whether the value of `name` is part of `text`.
  [[nodiscard]] bool matches(std::string_view name, std::string_view text) const;

 private:
  std::string text_;
};

}  // namespace attnscope::fake

extern "C" {
/// Kernels launched since cuInit whose entry is no service kernel's.
std::int64_t attnscope_fake_launches();
/// Those of them that were allowed to start before the launch before them ends.
std::int64_t attnscope_fake_early_launches();
/// Bytes copied from host to device since cuInit.
std::int64_t attnscope_fake_uploaded_bytes();
/// How often persisting lines of L2 were let go since cuInit.
std::int64_t attnscope_fake_persisting_resets();
/// Counter configurations set since cuInit.
std::int64_t attnscope_fake_counter_configs();
/// Sessions of counter ranges started since cuInit: one a pass.
std::int64_t attnscope_fake_counter_sessions();
/// The names of the ranges of the last session, in the order in which they were pushed, a line each.
const char* attnscope_fake_pushed_ranges();
/// Called at every launch, with the kernel's entry; nullptr for nothing.
void attnscope_fake_on_launch(void (*hook)(const char* entry));
/// Sources compiled since the library was loaded.
std::int64_t attnscope_fake_compilations();
}
