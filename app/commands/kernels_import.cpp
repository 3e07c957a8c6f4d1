// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <map>
#include <memory>

#include "app/command.h"
#include "app/table.h"
#include "kernels/user/import_triton.h"
#include "messages/terminal.h"

namespace attnscope {
namespace {

struct TritonOptions {
  std::string cache;
  std::string kernel;
  std::string output = ".";
  user::TritonImport wanted;
};

/// What the cache says, for who is to say the rest.
void list(const user::TritonKernel& kernel) {
  Table variants{{{"variant"}, {"arch"}, {"warps", true}, {"stages", true}, {"shared_bytes", true}}, {}};
  std::map<std::string, std::vector<std::string>> signatures;
  for (const user::TritonVariant& each : kernel.variants) {
    variants.rows.push_back({each.short_hash(), fmt::format("sm_{}", each.arch), fmt::to_string(each.warps),
                             fmt::to_string(each.stages), fmt::to_string(each.shared_bytes)});
    std::vector<std::string> arguments;
    for (const user::TritonArgument& argument : each.arguments) {
      arguments.push_back(fmt::format("{}: {}", argument.name, argument.type));
    }
    signatures[one_line(fmt::format("{}", fmt::join(arguments, ", ")))].push_back(each.short_hash());
  }
  print_aligned(variants, false, std::cout);
  for (const auto& [arguments, hashes] : signatures) {
    std::cout << fmt::format("\n{}\n  {}\n", fmt::join(hashes, ", "), arguments);
  }
}

ExitCode import_kernel(const TritonOptions& options) {
  require_there(options.cache);
  const auto kernel = user::read_triton_cache(options.cache, options.kernel);
  if (!kernel) throw CommandError(ExitCode::usage, kernel.error());
  for (const Message& each : kernel->left_out) spdlog::warn("{}", one_line(text(each)));
  const auto statement = user::import_triton(*kernel, options.wanted, options.output);
  if (!statement) {
    list(*kernel);
    throw CommandError(ExitCode::usage, statement.error());
  }
  std::cout << text(say::terminal::triton_imported{.statement = statement->string(),
                                                   .variants = options.wanted.variants.size(),
                                                   .all = kernel->variants.size(),
                                                   .kernel = options.kernel,
                                                   .name = options.wanted.name})
            << '\n';
  return ExitCode::ok;
}

}  // namespace

Action add_import_triton(CLI::App& command) {
  auto options = std::make_shared<TritonOptions>();
  user::TritonImport& wanted = options->wanted;
  command.add_option("FOLDER", options->cache, "Triton's cache (~/.triton/cache), or a folder of it")->required();
  command.add_option("--kernel", options->kernel, "The Triton function; without it, those in the cache are told")
      ->type_name("NAME");
  command.add_option("--name", wanted.name, "The kernel's name here, and its folder's")->type_name("NAME");
  command.add_option("-o,--output", options->output, "Where the folder is to lie")
      ->type_name("FOLDER")
      ->capture_default_str();
  const auto each = [&](const char* option, std::vector<std::string>& values, const char* type, const char* help) {
    command.add_option(option, values, help)
        ->type_name(type)
        ->expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(false);
  };
  command.add_option("--grid", wanted.grid, "Programs: expressions of the statement, such as \"ceil_div(n_q, br)\"")
      ->type_name("X Y Z")
      ->expected(1, 3);
  each("--variant", wanted.variants, "HASH:CONSTANTS",
       "A compilation, by how its hash begins, and what it is for: 3680cabb:br=64,bc=32,d=64,causal=0; one option for "
       "each. Those that are not named are left out");
  each("--argument", wanted.arguments, "NAME=VALUE",
       "What an argument is: Q=q (a buffer), H=heads (an expression), desc_q=\"q:batch * heads * n_q,d\" (a tensor "
       "descriptor: buffer and extents, the outermost first); one option for each");
  each("--requires", wanted.requirements, "CONDITION:WORDS",
       "What else a problem must fulfil, and the words that refuse it; one option for each");
  command.add_option("--dtype", wanted.dtype, "Elements of its matrices")->check(CLI::IsMember({"fp16", "bf16"}));
  command.add_option("--lse", wanted.lse, "Base of the logarithms in lse")->check(CLI::IsMember({"e", "2"}));
  command.add_option("--like", wanted.like, "Built-in algorithm that moves the same bytes")->type_name("ALGORITHM");
  return [=] { return import_kernel(*options); };
}

}  // namespace attnscope
