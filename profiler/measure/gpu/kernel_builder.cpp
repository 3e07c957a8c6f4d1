// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/kernel_builder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/files/regular_file.h"
#include "kernels/kernel_defines.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "profiler/measure/gpu/user/source_text.h"
#include "profiler/metrics/manifest.h"

namespace attnscope {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ResourceUsage, registers, static_shared_bytes, local_bytes, spill_store_bytes,
                                   spill_load_bytes)

namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t max_file_bytes = std::uintmax_t{1} << 30U;

/// Writes to a temporary file and renames it, so that readers never see a partial file.
bool write_file(const fs::path& file, const std::string& content) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary = fmt::format("{}.{}.{}.tmp", file.string(), getpid(), counter++);
  std::ofstream out(temporary, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, file, error);
  if (out && !error) return true;
  fs::remove(temporary, error);
  return false;
}

/// Finds the entry of a file that the user compiled.
Message check_compiled(const KernelLaunch& launch, BuiltKernel& built) {
  const UserSource& source = *launch.source.user_source;
  if (launch.call) return {};                                  // checked when it is loaded
  constexpr std::string_view fat_binary = "\x50\xed\x55\xba";  // the driver chooses one of its cubins
  if (!gpu::kernel_symbols(built.cubin) && !built.cubin.starts_with(fat_binary))
    return make_reason("compile.no_image", "{} is neither a cubin nor PTX.", source.name);
  auto symbol = gpu::find_symbol(launch.source, built.cubin);
  if (!symbol) return symbol.error();
  built.symbol = std::move(symbol).value();
  return {};
}

}  // namespace

namespace gpu {

std::string CubinKey::digest() const {
  std::string text = source.user_source ? user_digest : source_digest(source.file);
  const auto add = [&](std::string_view part) { text.append("\n").append(part); };
  add(source.entry);
  add(arch);
  add(compiler_version);
  for (const std::string& option : options) add(option);
  return uuid_of(text);
}

std::optional<Compiled> CubinCache::find(const CubinKey& key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path stem = folder_ / key.digest();
  auto cubin = read_regular_file(fs::path(stem).replace_extension(".cubin"), max_file_bytes);
  const auto facts = read_regular_file(fs::path(stem).replace_extension(".json"), max_file_bytes);
  if (!cubin || !facts) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(*facts);
    if (json.at("cubin_digest").get<std::string>() != uuid_of(*cubin)) return std::nullopt;
    return Compiled{.cubin = std::move(*cubin),
                    .symbol = json.at("symbol").get<std::string>(),
                    .log = json.at("log").get<std::string>(),
                    .figures = json.get<ResourceUsage>()};
  } catch (const nlohmann::json::exception&) {  // other version or damaged: compile again
    return std::nullopt;
  }
}

bool CubinCache::store(const CubinKey& key, const Compiled& compiled) const {
  if (folder_.empty()) return false;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return false;
  nlohmann::json json = compiled.figures;
  json.update({{"file", key.source.file},
               {"entry", key.source.entry},
               {"symbol", compiled.symbol},
               {"arch", key.arch},
               {"compiler", key.compiler_version},
               {"options", key.options},
               {"cubin_bytes", compiled.cubin.size()},
               {"cubin_digest", uuid_of(compiled.cubin)},
               {"log", compiled.log}});
  const fs::path stem = folder_ / key.digest();
  return write_file(fs::path(stem).replace_extension(".cubin"), compiled.cubin) &&
         write_file(fs::path(stem).replace_extension(".json"),
                    json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace gpu

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

BuiltKernel KernelBuilder::build(std::string_view arch, const KernelLaunch& launch, const CancelToken& cancel) const {
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

Result<gpu::Nvcc, Message> KernelBuilder::find_nvcc() const {
  const std::lock_guard lock(mutex_);
  if (nvcc_) return *nvcc_;
  auto found = gpu::Nvcc::find();
  if (found) nvcc_ = found.value();
  return found;
}

Message KernelBuilder::previous_failure(const KernelSource& source, std::string_view arch) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      failures_, [&](const CompileFailure& failure) { return failure.source == source && failure.arch == arch; });
  return found == failures_.end() ? Message() : found->error;
}

Result<std::unique_ptr<KernelBuilder>, GpuError> KernelBuilder::open(const std::filesystem::path& cache_dir) {
  auto nvrtc = gpu::Nvrtc::load();
  if (!nvrtc) {
    return Failure{
        GpuError{nvrtc.error(),
                 "Install NVRTC of the CUDA toolkit (libnvrtc.so.13), or set ATTNSCOPE_NVRTC_LIBRARY to its path."}};
  }
  return std::make_unique<KernelBuilder>(std::move(nvrtc).value(),
                                         gpu::CubinCache(cache_dir.empty() ? default_cubin_cache() : cache_dir));
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
    return Failure{GpuError{std::move(why), {}}};
  }
  return (*builder)->build_all(arch, launches, threads, cancel, progress);
}

}  // namespace attnscope
