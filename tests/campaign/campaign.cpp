// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <exception>
#include <iostream>
#include <string_view>

#include "cases.h"

int main(int argc, char** argv) {
  using namespace attnscope::testing;
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // memory statistics cost a sixth of the time
  const std::string_view part = argc > 1 ? argv[1] : "";
  try {
    if (part == "kills") return kills(argc - 1, argv + 1);
    if (part == "damage") return damage_files(argc - 1, argv + 1);
    if (part == "hostile") return run_hostile(argc - 1, argv + 1);
  } catch (const std::exception& error) {
    std::cerr << "campaign: " << error.what() << '\n';
    return 2;
  }
  std::cerr << "usage: attnscope_campaign kills|damage|hostile [--help]\n";
  return 2;
}
