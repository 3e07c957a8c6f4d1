// SPDX-License-Identifier: Apache-2.0
#include "app/own_kernels.h"

#include <spdlog/spdlog.h>

#include <string>
#include <vector>

#include "app/command.h"
#include "kernels/user/known_kernels.h"
#include "profiler/plan/text.h"
#include "storage/known_statements.h"

namespace attnscope {

void add_kernel_option(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--kernel",
          [](const std::vector<std::string>& files) {
            for (const std::string& file : files) {
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

void know_kernels_of(const RunStore& store) {
  for (const Message& not_taken : known_statements(store)) spdlog::warn("{}", printable(text(not_taken)));
}

void know_kernels_of(const std::filesystem::path& file) {
  know_kernels_of(RunStore::open(file, RunStore::Mode::read_only));
}

}  // namespace attnscope
