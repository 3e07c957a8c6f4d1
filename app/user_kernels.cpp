// SPDX-License-Identifier: Apache-2.0
#include "app/user_kernels.h"

#include <spdlog/spdlog.h>

#include <string>
#include <vector>

#include "app/command.h"
#include "kernels/files/regular_file.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "profiler/metrics/manifest.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {

void add_kernel_option(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--kernel",
          [](const std::vector<std::string>& files) {
            for (const std::string& file : files) {
              require_kernel_exists(file);
              if (const Message error = user::load_known_kernel(file); !error.empty()) {
                throw CommandError(ExitCode::usage, error);
              }
            }
          },
          "Manifest of a user-defined kernel, or FILE.py:NAME for a Python function; repeatable; see `attnscope help "
          "own-kernel`")
      ->type_name("FILE")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
}

void require_kernel_exists(const std::string& kernel) {
  const auto function = user::parse_python_function(kernel);
  require_path_exists(function ? function->file : std::filesystem::path(kernel));
}

std::string user_kernels_digest() {
  std::string all;
  const auto add = [&](const std::filesystem::path& file) {
    constexpr std::uintmax_t max_bytes = std::uintmax_t{1} << 30U;
    const auto content = read_regular_file(file, max_bytes);
    all += uuid_of(content ? *content : std::string());
  };
  for (const user::KernelFiles& each : user::loaded_kernel_files()) {
    const auto* const kernel = dynamic_cast<const user::UserKernel*>(known_algorithms().find(each.name));
    all += uuid_of(kernel != nullptr ? kernel->text() : std::string());
    for (const auto& source : each.sources) add(source);
  }
  return all.empty() ? all : " kernels " + uuid_of(all);
}

void register_stored_kernels(const RunStore& store) {
  for (const Message& not_taken : register_manifests(store)) spdlog::warn("{}", printable(text(not_taken)));
}

void register_stored_kernels(const std::filesystem::path& file) {
  register_stored_kernels(RunStore::open(file, RunStore::Mode::read_only));
}

}  // namespace attnscope
