// SPDX-License-Identifier: Apache-2.0
#include "app/own_kernels.h"

#include <spdlog/spdlog.h>

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/command.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "kernels/user/user_kernel.h"
#include "profiler/metrics/statement.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {

void add_kernel_option(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--kernel",
          [](const std::vector<std::string>& files) {
            for (const std::string& file : files) {
              require_there(file);
              if (const Message error = user::load_known_kernel(file); !error.empty()) {
                throw CommandError(ExitCode::usage, error);
              }
            }
          },
          "A kernel of your own: its statement, a JSON file (`attnscope kernels new` writes one); one option for each")
      ->type_name("FILE")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
}

std::string own_kernels_digest() {
  std::string all;
  const auto add = [&](const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    all += uuid_of(std::move(text).str());
  };
  for (const user::KernelFiles& each : user::known_kernel_files()) {
    add(each.statement);
    for (const auto& source : each.sources) add(source);
  }
  return all.empty() ? all : " kernels " + uuid_of(all);
}

void know_kernels_of(const RunStore& store) {
  for (const Message& not_taken : known_statements(store)) spdlog::warn("{}", printable(text(not_taken)));
}

void know_kernels_of(const std::filesystem::path& file) {
  know_kernels_of(RunStore::open(file, RunStore::Mode::read_only));
}

std::shared_ptr<const KernelStatement> with_contents(const std::shared_ptr<const KernelStatement>& statement,
                                                     const std::string& algorithm) {
  const auto* const kernel = dynamic_cast<const user::UserKernel*>(known_algorithms().find(algorithm));
  if (kernel == nullptr) return statement;
  auto whole = std::make_shared<KernelStatement>(*statement);
  std::size_t room = most_kept_source_bytes;
  for (const StatementSource& each : whole->sources) room -= each.content ? each.content->size() : 0;
  const auto take = [&](StatementSource& source, const std::filesystem::path& file) {
    std::error_code error;
    if (source.content || !std::filesystem::is_regular_file(file, error)) return;
    if (std::filesystem::file_size(file, error) > room || error) return;
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    std::string content = std::move(text).str();
    if (content.size() > room || uuid_of(content) != source.digest) return;
    room -= content.size();
    source.content = std::move(content);
  };
  for (StatementSource& source : whole->sources) {
    for (const std::filesystem::path& file : kernel->source_files()) {
      take(source, file);
      take(source, file.parent_path() / source.name);  // what it includes
    }
  }
  return whole;
}

}  // namespace attnscope
