// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/samples.h"

#include <memory>
#include <vector>

#include "profiler/metrics/manifest.h"

namespace attnscope::testing {

std::vector<std::int64_t> lengths_in(const std::filesystem::path& file) {
  std::vector<std::int64_t> lengths;
  for (const StoredPoint& point : RunStore::open(file, RunStore::Mode::read_only).points()) {
    lengths.push_back(point.record.spec.problem.n_q);
  }
  return lengths;
}

RunHeader full_header() {
  RunHeader header;
  header.device = {.uuid = "GPU-1234", .simulated = false, .ordinal = 3, .limits = {}};
  header.device.limits = {.name = "NVIDIA H200",
                          .compute_major = 9,
                          .compute_minor = 1,
                          .sm_count = 132,
                          .max_threads_per_block = 1023,
                          .max_threads_per_sm = 2047,
                          .max_blocks_per_sm = 31,
                          .registers_per_sm = 65535,
                          .shared_bytes_per_block = 232'448,
                          .shared_bytes_per_sm = 233'472,
                          .shared_bytes_reserved = 1025,
                          .l2_bytes = 62'914'560,
                          .dram_bytes = 150'754'820'096,
                          .dram_bytes_per_second = 4.8e12,
                          .l2_bytes_per_second = 7.5e12,
                          .tensor_flops = 989.5e12};
  header.environment = {.app_version = "0.1.0",
                        .driver_version = "580.1",
                        .cuda_driver_api = "13.0",
                        .nvrtc_version = "13.0.1",
                        .cupti_version = "13.0.2",
                        .nvml_version = "13.580",
                        .operating_system = "Linux 6.1"};
  header.preset = "memory-wall";
  header.argv = {"attnscope", "collect", "-a", "N[pow2]=[8,14]", "quote \" and \xc3\xbc"};
  header.plan_hash = "00ff";
  header.planned_points = 7;
  header.options.counters = false;
  header.options.verify = false;
  header.options.extra_metrics = {"lts__t_bytes.sum"};
  header.options.min_samples = 11;
  header.options.max_samples = 222;
  header.options.max_noise = 0.031;
  header.options.timeout = std::chrono::milliseconds(1234);
  header.options.seed = 0xFFFF'FFFF'FFFF'FFFFULL;
  header.options.input_kind = InputKind::descending;
  return header;
}

PointRecord full_record() {
  PointRecord record;
  record.spec.algorithm = "naive";
  record.spec.problem = {.dtype = DType::bf16,
                         .pass = Pass::fwd_bwd,
                         .mask = *parse_mask("window:300:7+lengths:500/1024+blocks:128:stride3"),
                         .batch = 2,
                         .heads_q = 16,
                         .heads_kv = 4,
                         .n_q = 1023,
                         .n_k = 1024,
                         .d = 128,
                         .dropout = 0.1,
                         .page = 64,
                         .deterministic = true};
  record.spec.tile = {.br = 48, .bc = 176};
  record.spec.knobs = {{"raster", "heads_fastest"}, {"splits", 5}, {"warps", 6}, {"stages", 3}};
  record.spec.cache = CacheState::warm;
  record.disposition = Disposition::incorrect;
  // Contains a comma, quotes, a number, a nested message, and text that looks like a placeholder.
  record.reason = make_reason(
      "point.run_again", "Run again: {}",
      make_reason("oracle.row", "{} is 0.5 instead of 0.25 at instance {} row {} column {}: error 0.25, bound 0.125.",
                  "\"dQ\" {bound}", 0, 3, 17));
  record.provenance = Provenance::measured;
  for (const char* name : {"all", "qk", "softmax", "pv"}) {
    KernelRecord& kernel = record.kernels.emplace_back();
    kernel.kernel = name;
    const double base = static_cast<double>(record.kernels.size());
    kernel.complete = name == std::string("qk");
    kernel.launch = LaunchRecord{.kernel = name,
                                 .source_file = "naive/naive_qk.cuh",
                                 .entry = "attn_naive_qk",
                                 .defines = {"ATTN_BR=64", "ATTN_D=128"},
                                 .digest = "0f",
                                 .registers = 168,
                                 .local_bytes = 16,
                                 .static_shared_bytes = 8,
                                 .dynamic_shared_bytes = 65536,
                                 .threads = 256,
                                 .grid = {4096, 2, 3}};
    kernel.metrics = {
        {"dram_read_bytes", base * 1e9 + 0.5, "byte", Provenance::measured},
        {"model_l2_to_sm_bytes", base * 4e15, "byte", Provenance::modeled},
        {"theoretical_occupancy_pct", 100.0 / 3.0, "percent", Provenance::derived},
        {"lts__t_bytes.sum", base, "byte", Provenance::simulated},
    };
    kernel.samples_ns = {base * 1000.25, 0.1, 12345678.0, 1.0 / 3.0};
    kernel.occupancy_limiter = "shared memory";
  }
  record.clocks = ClockReading{.sm_clock_hz = 1.98e9,
                               .memory_clock_hz = 3.2e9,
                               .temperature_c = 41.5,
                               .power_w = 699.25,
                               .throttle_reasons = 0x8000'0000'0000'0004ULL,
                               .throttled = true};
  record.max_abs_error = 0.25;
  record.error_bound = 0.125;
  record.rms_error = 0.0625;
  record.wall_seconds = 1.75;
  const std::string kept("\0\xff { \"", 6);
  record.manifest = std::make_shared<const StoredManifest>(StoredManifest{
      .text = "{\"name\": \"naive\", \"title\": \"\xc3\xbc\"}",
      .host_code = true,
      .sources = {{.name = "in/my.cuh", .digest = "bb"}, {.name = "my.cu", .digest = uuid_of(kept), .content = kept}}});
  return record;
}

PointRecord simple_record(std::int64_t n) {
  PointRecord record;
  record.spec.algorithm = "fa2";
  record.spec.problem.n_q = n;
  record.spec.problem.n_k = n;
  KernelRecord& all = record.kernels.emplace_back();
  all.metrics = {{"l2_to_sm_bytes", static_cast<double>(n) * 128, "byte", Provenance::measured},
                 {"registers", 168, "register", Provenance::measured}};
  all.samples_ns = {static_cast<double>(n), static_cast<double>(n) + 2, static_cast<double>(n) + 1};
  return record;
}

}  // namespace attnscope::testing
