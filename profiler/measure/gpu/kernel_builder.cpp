// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/kernel_builder.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/kernel_defines.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/gpu/driver/cubin_cache.h"
#include "profiler/measure/gpu/driver/nvcc.h"
#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "profiler/measure/gpu/user/user_source.h"

namespace attnscope {
namespace {

class NvrtcBuilder final : public KernelBuilder {
 public:
  NvrtcBuilder(gpu::Nvrtc nvrtc, gpu::CubinCache cache) : nvrtc_(std::move(nvrtc)), cache_(std::move(cache)) {}

  [[nodiscard]] std::string nvrtc_version() const override { return nvrtc_.version(); }
  [[nodiscard]] Message unsupported_reason(std::string_view arch) const override {
    return nvrtc_.unsupported_reason(arch);
  }

  [[nodiscard]] BuiltKernel build(std::string_view arch, const KernelLaunch& launch,
                                  const CancelToken& cancel) const override {
    gpu::CubinKey key{.source = launch.source,
                      .arch = std::string(arch),
                      .compiler_version = nvrtc_.version(),
                      .options = gpu::compile_options(launch.source, arch)};
    BuiltKernel built;
    built.report.kernel = describe(launch);
    built.report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    const auto fail = [&](Message error) {
      built.report.error = std::move(error);
      return std::move(built);
    };
    gpu::UserSourceText own;
    if (launch.source.user_source) {
      auto read = user_sources_.read(launch.source.user_source, nvrtc_.include_folders());
      if (!read) return fail(read.error());
      own = std::move(read).value();
      key.user_digest = own.digest;
    }
    std::optional<gpu::Nvcc> nvcc;
    if (gpu::needs_nvcc(launch.source)) {
      auto found = find_nvcc();
      if (!found) return fail(found.error());
      nvcc = std::move(found).value();
      key.compiler_version = nvcc->version();
    }
    built.report.digest = key.digest();
    if (launch.source.user_source && launch.source.user_source->kind != UserSource::Kind::cuda) {
      built.cubin = std::move(own.text);  // already compiled by the user
      built.report.error = check_compiled(launch, built);
      return built;
    }
    if (Message error = previous_failure(launch.source, arch); !error.empty()) return fail(std::move(error));
    auto compiled = cache_.find(key);
    built.report.cached = compiled.has_value();
    if (!compiled) {
      auto result = nvcc ? nvcc->compile(launch.source, key.options, cancel)
                         : nvrtc_.compile(launch.source, key.options, launch.source.user_source ? &own : nullptr);
      if (!result) {
        const std::lock_guard lock(mutex_);
        if (result.error().id != "compile.cancelled")
          failures_.push_back({launch.source, std::string(arch), result.error()});
        return fail(result.error());
      }
      if (launch.source.user_source) {  // compilers read includes again
        const auto after = user_sources_.read(launch.source.user_source, nvrtc_.include_folders());
        if (!after) return fail(after.error());
      }
      compiled = std::move(result).value();
      cache_.store(key, *compiled);
    }
    built.report.compiled = true;
    static_cast<ResourceUsage&>(built.report) = compiled->figures;
    built.symbol = compiled->symbol;
    built.cubin = std::move(compiled->cubin);
    return built;
  }

  [[nodiscard]] std::shared_ptr<const StoredManifest> statement_of(
      std::span<const std::shared_ptr<const UserSource>> sources, bool keep_sources) const override {
    return user_sources_.statement_of(sources, keep_sources, nvrtc_.include_folders());
  }

 private:
  struct CompileFailure {
    KernelSource source;
    std::string arch;
    Message error;
  };

  /// Nvcc::find(), once: nvcc is not replaced during a run.
  [[nodiscard]] Result<gpu::Nvcc, Message> find_nvcc() const {
    const std::lock_guard lock(mutex_);
    if (nvcc_) return *nvcc_;
    auto found = gpu::Nvcc::find();
    if (found) nvcc_ = found.value();
    return found;
  }

  /// Finds the entry of a file that the user compiled.
  static Message check_compiled(const KernelLaunch& launch, BuiltKernel& built) {
    const UserSource& source = *launch.source.user_source;
    if (source.kind == UserSource::Kind::python) return {};
    if (launch.call) return gpu::library_file_error(source.name, built.cubin);
    constexpr std::string_view fat_binary = "\x50\xed\x55\xba";  // the driver chooses one of its cubins
    if (!gpu::kernel_symbols(built.cubin) && !built.cubin.starts_with(fat_binary))
      return make_reason("compile.no_image", "{} is neither a cubin nor PTX.", launch.source.user_source->name);
    auto symbol = gpu::find_symbol(launch.source, built.cubin);
    if (!symbol) return symbol.error();
    built.symbol = std::move(symbol).value();
    return {};
  }

  /// Error of a previous attempt to build this source; empty if there was none.
  [[nodiscard]] Message previous_failure(const KernelSource& source, std::string_view arch) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        failures_, [&](const CompileFailure& failure) { return failure.source == source && failure.arch == arch; });
    return found == failures_.end() ? Message() : found->error;
  }

  gpu::Nvrtc nvrtc_;
  gpu::CubinCache cache_;
  gpu::UserSources user_sources_;
  mutable std::mutex mutex_;
  mutable std::vector<CompileFailure> failures_;
  mutable std::optional<gpu::Nvcc> nvcc_;
};

}  // namespace

std::filesystem::path default_cubin_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  if (const auto own = variable("ATTNSCOPE_CACHE_DIR"); !own.empty()) return own / "cubins";
  if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "attnscope" / "cubins";
  if (const auto home = home_folder(); !home.empty()) return home / ".cache" / "attnscope" / "cubins";
  // Other users can write to the temporary folder; use only a private folder in it.
  std::error_code error;
  const auto own = private_folder(std::filesystem::temp_directory_path(error));
  return own.empty() ? own : own / "cubins";
}

std::string describe(const KernelLaunch& launch) {
  const std::string folder = launch.source.file.substr(0, launch.source.file.find('/'));
  return fmt::format("{} {}{}", folder, launch.name, describe_defines(launch.source.defines));
}

bool has_changed(const LaunchRecord& launch, const DeviceLimits& limits, const std::string& nvrtc_version) {
  if (launch.digest.empty() || nvrtc_version.empty()) return false;
  gpu::CubinKey key{.source = {.file = launch.source_file, .entry = launch.entry, .defines = launch.defines},
                    .arch = gpu::arch_for(limits.compute_major, limits.compute_minor),
                    .compiler_version = nvrtc_version,
                    .options = {}};
  key.options = gpu::compile_options(key.source, key.arch);
  return key.digest() != launch.digest;
}

Result<std::unique_ptr<KernelBuilder>, GpuError> KernelBuilder::open(const std::filesystem::path& cache_dir) {
  auto nvrtc = gpu::Nvrtc::load();
  if (!nvrtc) {
    return Failure{
        GpuError{GpuError::Kind::no_nvrtc, nvrtc.error(),
                 "Install NVRTC of the CUDA toolkit (libnvrtc.so.13), or set ATTNSCOPE_NVRTC_LIBRARY to its path."}};
  }
  return std::unique_ptr<KernelBuilder>(std::make_unique<NvrtcBuilder>(
      std::move(nvrtc).value(), gpu::CubinCache(cache_dir.empty() ? default_cubin_cache() : cache_dir)));
}

std::vector<BuildReport> KernelBuilder::build_all(std::string_view arch, std::span<const KernelLaunch> launches,
                                                  unsigned threads, const CancelToken& cancel,
                                                  const Device::BuildProgress& progress) const {
  std::vector<const KernelLaunch*> distinct;
  for (const KernelLaunch& launch : launches) {
    if (std::ranges::none_of(distinct, [&](const KernelLaunch* each) { return each->source == launch.source; })) {
      distinct.push_back(&launch);
    }
  }
  std::vector<std::optional<BuildReport>> reports(distinct.size());
  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::mutex progress_mutex;
  const auto work = [&] {
    while (!cancel.cancelled()) {
      const std::size_t index = next.fetch_add(1);
      if (index >= distinct.size()) return;
      BuildReport report = build(arch, *distinct[index], cancel).report;
      if (report.error.id == "compile.cancelled") return;
      reports[index] = std::move(report);
      const std::lock_guard lock(progress_mutex);
      ++done;
      if (progress) progress(done, distinct.size(), *reports[index]);
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, distinct.size()); ++i) workers.emplace_back(work);
    work();
  }
  std::vector<BuildReport> built;
  for (auto& report : reports) {
    if (report) built.push_back(std::move(*report));
  }
  return built;
}

Result<std::vector<BuildReport>, GpuError> build_kernels(std::string_view arch, std::span<const KernelLaunch> launches,
                                                         unsigned threads, const CancelToken& cancel,
                                                         const Device::BuildProgress& progress) {
  const auto builder = KernelBuilder::open();
  if (!builder) return Failure{builder.error()};
  if (Message why = (*builder)->unsupported_reason(arch); !why.empty()) {
    return Failure{GpuError{GpuError::Kind::unsupported, std::move(why), {}}};
  }
  return (*builder)->build_all(arch, launches, threads, cancel, progress);
}

}  // namespace attnscope
