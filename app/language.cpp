// SPDX-License-Identifier: Apache-2.0
#include "app/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "kernels/messages/message.h"
#include "messages/embedded.h"

namespace attnscope {

bool use_language(std::string_view language) {
  auto catalogue = Catalogue::parse(embedded_messages(language));
  if (catalogue) use_catalogue(std::move(*catalogue));
  return catalogue.has_value();
}

std::string languages_in_words() {
  return fmt::format("{}", fmt::join(message_languages(), " or "));
}

}  // namespace attnscope
