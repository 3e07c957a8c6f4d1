// SPDX-License-Identifier: Apache-2.0
#include "browser.h"

namespace attnscope::testing {

std::optional<std::filesystem::path> browser() {
  for (const char* place : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(place)) return place;
  }
  return std::nullopt;
}

std::vector<std::string> headless(const std::vector<std::string>& more, int budget_ms) {
  std::vector<std::string> arguments{"--headless",
                                     "--no-sandbox",
                                     "--disable-gpu",
                                     "--disable-dev-shm-usage",
                                     "--enable-logging=stderr",
                                     "--host-resolver-rules=MAP * ~NOTFOUND",
                                     "--virtual-time-budget=" + std::to_string(budget_ms)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace attnscope::testing
