// SPDX-License-Identifier: Apache-2.0
// In which language the programs speak.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/model/message.h"

namespace attnscope {

/// What is said from now on is said in the language that `--lang` among the arguments asks for; without it, in the
/// words of the catalogue file that ATTNSCOPE_MESSAGES names, else in `preferred`, else in the locale's language; in
/// English where there is none such, and where the result is for programs (--format csv, json, junit). A file that is
/// of no use is a line on stderr after the program's name. Nothing, or what is wrong with `--lang`. Before any thread.
[[nodiscard]] Message use_language(std::string_view program, std::span<char* const> arguments,
                                   std::string_view preferred = {});
/// "en or zh"
[[nodiscard]] std::string languages_in_words();

}  // namespace attnscope
