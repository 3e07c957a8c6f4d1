// SPDX-License-Identifier: Apache-2.0
#include "app/own_kernels.h"

#include <string>
#include <vector>

#include "app/command.h"
#include "kernels/user/known_kernels.h"

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

}  // namespace attnscope
