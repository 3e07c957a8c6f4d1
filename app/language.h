// SPDX-License-Identifier: Apache-2.0
// In which language the programs speak.
#pragma once

#include <string_view>

namespace attnscope {

/// What is said from now on is said in the words of the catalogue file that ATTNSCOPE_MESSAGES names; in English
/// without one. A file that is of no use is a line on stderr after the program's name, and English stays. Before any
/// thread.
void use_language(std::string_view program);

}  // namespace attnscope
