// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/cubin_cache.h"

#include <unistd.h>

#include <atomic>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/files/regular_file.h"
#include "profiler/measure/gpu/user/source_text.h"
#include "profiler/metrics/manifest.h"

namespace attnscope {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ResourceUsage, registers, static_shared_bytes, local_bytes, spill_store_bytes,
                                   spill_load_bytes)

}  // namespace attnscope

namespace attnscope::gpu {
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

}  // namespace

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

}  // namespace attnscope::gpu
