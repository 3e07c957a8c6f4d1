// SPDX-License-Identifier: Apache-2.0
#include "app/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <utility>

#include "kernels/messages/message.h"
#include "messages/embedded.h"

namespace attnscope {

void reserve_standard_descriptors() {
  // open() returns the lowest free descriptor, so one above stderr means that none is missing.
  int taken = STDIN_FILENO;
  while (taken >= STDIN_FILENO && taken <= STDERR_FILENO) taken = ::open("/", O_PATH);
  if (taken > STDERR_FILENO) ::close(taken);
}

bool use_language(std::string_view language) {
  auto catalog = Catalog::parse(embedded_messages(language));
  if (catalog) set_catalog(std::move(*catalog));
  return catalog.has_value();
}

std::string language_list() {
  return fmt::format("{}", fmt::join(message_languages(), " or "));
}

}  // namespace attnscope
