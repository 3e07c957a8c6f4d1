// SPDX-License-Identifier: Apache-2.0
#include "app/shell_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>

#include "app/command.h"
#include "messages/file.h"
#include "profiler/measure/host_environment.h"

namespace attnscope {
namespace {

/// One that people see: "-o,--output FILE".
struct Word {
  std::vector<std::string> names;    ///< with their dashes; of a positional its name
  std::string value;                 ///< "FILE"; empty: a flag
  std::vector<std::string> choices;  ///< of the value, where these are all
  bool file = false;                 ///< the value is the name of one
  bool positional = false;
  bool required = false;
  std::string meaning;
};

bool names_file(std::string_view type) {
  constexpr std::array<std::string_view, 6> files{"FILE", "FOLDER", "OUT", "IN", "BASE", "PROGRAM"};
  return std::ranges::find(files, type.substr(0, type.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))) != files.end();
}

Word word_of(const CLI::Option& option) {
  Word word;
  word.positional = option.get_positional();
  word.required = option.get_required();
  word.meaning = option.get_description();
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  if (word.positional) word.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() == 0) return word;
  const std::string type = option.get_type_name();  // "TEXT:{all,none}"
  if (const std::size_t open = type.find('{'); open != std::string::npos) {
    word.choices = CLI::detail::split(type.substr(open + 1, type.find('}', open) - open - 1), ',');
  }
  const std::string plain = type.substr(0, type.find_first_of(":{"));
  word.value = word.positional ? word.names.front() : plain.empty() ? "VALUE" : plain;
  word.file = names_file(word.value);
  return word;
}

std::vector<Word> words_of(const CLI::App& command) {
  std::vector<Word> words;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) words.push_back(word_of(*option));
  }
  return words;
}

std::vector<const CLI::App*> below(const CLI::App& command) {
  return command.get_subcommands({});
}

/// Its words: {"kernels", "build"}; of the program none.
std::vector<std::string> command_path(const CLI::App& command) {
  if (command.get_parent() == nullptr) return {};
  std::vector<std::string> path = command_path(*command.get_parent());
  path.push_back(command.get_name());
  return path;
}

void each_command(const CLI::App& command, const std::function<void(const CLI::App&)>& use) {
  use(command);
  for (const CLI::App* each : below(command)) each_command(*each, use);
}

std::string replaced(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> pairs) {
  std::string out;
  for (const char c : text) {
    const auto found = std::ranges::find(pairs, c, &std::pair<char, std::string_view>::first);
    if (found == pairs.end()) {
      out += c;
    } else {
      out += found->second;
    }
  }
  return out;
}

std::string roff(std::string_view text) {
  std::string lines;
  for (const std::string& line : CLI::detail::split(std::string(text), '\n')) {
    std::string words = replaced(line, {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}});
    words.erase(0, words.find_first_not_of(' '));
    if (words.starts_with('.')) words.insert(0, "\\&");
    lines += (lines.empty() ? "" : "\n.br\n") + words;
  }
  return lines;
}

/// Between apostrophes.
std::string apostrophes(std::string_view text) {
  return "'" + replaced(text, {{'\'', "'\\''"}, {'\n', " "}}) + "'";
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string synopsis(const CLI::App& command, const std::vector<Word>& words) {
  std::string line =
      bold(fmt::format("attnscope {}", fmt::join(command_path(command), " "))) + " [" + italic("OPTIONS") + "]";
  for (const Word& word : words) {
    if (word.positional) line += word.required ? " " + italic(word.value) : " [" + italic(word.value) + "]";
  }
  if (!below(command).empty()) line += " [" + italic("COMMAND") + "]";
  return line;
}

std::string entry(const Word& word) {
  std::string names;
  for (const std::string& name : word.names) {
    names += (names.empty() ? "" : ", ") + (word.positional ? italic(name) : bold(name));
  }
  if (!word.positional && !word.value.empty()) names += " " + italic(word.value);
  std::string meaning = word.meaning;
  if (!word.choices.empty() && !word.positional) meaning += fmt::format(" ({})", fmt::join(word.choices, ", "));
  return fmt::format(".TP\n{}\n{}\n", names, roff(meaning));
}

/// "attnscope-kernels-build".
std::string page_name(const CLI::App& command) {
  std::string name = "attnscope";
  for (const std::string& word : command_path(command)) name += "-" + word;
  return name;
}

/// Of bash and zsh alike: a case a command, in words that `offer` begins.
std::string cases(const CLI::App& program, const std::function<std::string(const CLI::App&)>& of_command) {
  std::string text;
  each_command(program, [&](const CLI::App& command) {
    text += fmt::format("    {})\n{}      ;;\n", apostrophes(fmt::format("{}", fmt::join(command_path(command), " "))),
                        of_command(command));
  });
  return text;
}

std::string known_paths(const CLI::App& program) {
  std::vector<std::string> paths;
  each_command(program, [&](const CLI::App& command) {
    if (&command != &program) paths.push_back(apostrophes(fmt::format("{}", fmt::join(command_path(command), " "))));
  });
  return fmt::format("{}", fmt::join(paths, "|"));
}

/// What the value before the cursor belongs to: `files` and `choices` as the shell offers them.
std::string value_cases(const std::vector<Word>& words, std::string_view files,
                        const std::function<std::string(const std::vector<std::string>&)>& choices) {
  std::string text;
  for (const Word& word : words) {
    if (word.positional || word.value.empty()) continue;
    text += fmt::format("        {}) {} return ;;\n", fmt::join(word.names, "|"),
                        !word.choices.empty() ? choices(word.choices)
                        : word.file           ? std::string(files)
                                              : std::string());
  }
  return text;
}

std::string bash(const CLI::App& program) {
  const auto offer = [](const std::vector<std::string>& words) {
    return fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"));",
                       apostrophes(fmt::format("{}", fmt::join(words, " "))));
  };
  constexpr std::string_view files = "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\");";
  const std::string of_commands = cases(program, [&](const CLI::App& command) {
    const std::vector<Word> words = words_of(command);
    std::vector<std::string> options;
    std::vector<std::string> others;  // where no option begins
    bool takes_file = false;
    for (const Word& word : words) {
      auto& named = word.positional ? others : options;
      const auto& offered = word.positional ? word.choices : word.names;
      named.insert(named.end(), offered.begin(), offered.end());
      takes_file = takes_file || (word.positional && word.file);
    }
    for (const CLI::App* each : below(command)) others.push_back(each->get_name());
    return fmt::format("      case \"$prev\" in\n{}      esac\n      if [[ $cur == -* ]]; then {}\n      else {} fi\n",
                       value_cases(words, files, offer), offer(options),
                       takes_file ? std::string(files) : offer(others));
  });
  return fmt::format(R"(# bash completion of attnscope, made by `attnscope help --completion bash`
_attnscope() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= i
  local IFS=$' \n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{command:+$command }}${{COMP_WORDS[i]}}" in
      {}) command="${{command:+$command }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command" in
{}  esac
}}
complete -o filenames -o bashdefault -F _attnscope attnscope
)",
                     known_paths(program), of_commands);
}

std::string zsh(const CLI::App& program) {
  const auto offer = [](const std::vector<std::string>& words) {
    std::vector<std::string> each(words.size());
    std::ranges::transform(words, each.begin(), apostrophes);
    return fmt::format("compadd -- {};", fmt::join(each, " "));
  };
  const auto described = [](std::string_view name, std::string_view meaning) {
    return apostrophes(replaced(name, {{':', "\\:"}}) + ":" + std::string(meaning.substr(0, meaning.find('\n'))));
  };
  const std::string of_commands = cases(program, [&](const CLI::App& command) {
    const std::vector<Word> words = words_of(command);
    std::vector<std::string> options;
    std::vector<std::string> others;
    bool takes_file = false;
    for (const Word& word : words) {
      for (const std::string& name : word.names) {
        if (!word.positional) options.push_back(described(name, word.meaning));
      }
      for (const std::string& choice : word.choices) {
        if (word.positional) others.push_back(described(choice, ""));
      }
      takes_file = takes_file || (word.positional && word.file);
    }
    for (const CLI::App* each : below(command)) others.push_back(described(each->get_name(), each->get_description()));
    return fmt::format("      case \"$prev\" in\n{}      esac\n      options=({})\n      others=({})\n{}",
                       value_cases(words, "_files;", offer), fmt::join(options, " "), fmt::join(others, " "),
                       takes_file ? "      files=1\n" : "");
  });
  return fmt::format(R"(#compdef attnscope
# zsh completion of attnscope, made by `attnscope help --completion zsh`
_attnscope() {{
  local prev=${{words[CURRENT-1]}} command= files= i
  local -a options others
  for ((i = 2; i < CURRENT; i++)); do
    case "${{command:+$command }}${{words[i]}}" in
      {}) command="${{command:+$command }}${{words[i]}}" ;;
    esac
  done
  case "$command" in
{}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe -o option options
  elif [[ -n $files ]]; then
    _files
  else
    _describe word others
  fi
}}
if [[ $funcstack[1] == _attnscope ]]; then
  _attnscope "$@"
else
  compdef _attnscope attnscope
fi
)",
                     known_paths(program), of_commands);
}

std::string fish(const CLI::App& program) {
  std::string text = "# fish completion of attnscope, made by `attnscope help --completion fish`\n";
  each_command(program, [&](const CLI::App& command) {
    std::string seen;
    for (const std::string& word : command_path(command)) {
      seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", word);
    }
    std::vector<std::string> names;
    for (const CLI::App* each : below(command)) names.push_back(each->get_name());
    std::string none_below = seen;
    if (!names.empty()) {
      none_below +=
          fmt::format("{}not __fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", fmt::join(names, " "));
    }
    const auto add = [&](std::string_view condition, std::string_view rest, std::string_view meaning) {
      text += fmt::format("complete -c attnscope{}{} -d {}\n",
                          condition.empty() ? std::string() : " -n " + apostrophes(condition), rest,
                          apostrophes(meaning.substr(0, meaning.find('\n'))));
    };
    for (const CLI::App* each : below(command)) {
      add(none_below, fmt::format(" -f -a {}", each->get_name()), each->get_description());
    }
    for (const Word& word : words_of(command)) {
      std::string rest;
      for (const std::string& name : word.names) {
        if (!word.positional) rest += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (word.positional && word.choices.empty()) continue;  // files, which fish offers by itself
      if (!word.value.empty() && !word.file) rest += " -f";
      if (!word.value.empty() && !word.positional) rest += " -r";
      if (!word.choices.empty()) rest += " -a " + apostrophes(fmt::format("{}", fmt::join(word.choices, " ")));
      add(none_below, rest, word.meaning);
    }
  });
  return text;
}

}  // namespace

std::string man_page(const CLI::App& command) {
  const std::vector<Word> words = words_of(command);
  std::string name = page_name(command);
  std::string page = fmt::format(".TH {} 1 \"\" \"attnscope {}\" \"User Commands\"\n",
                                 roff(CLI::detail::to_lower(name)), program_version());
  page += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n", roff(name), roff(command.get_description()),
                      synopsis(command, words));
  const auto section = [&](const char* title, bool positional) {
    std::string entries;
    for (const Word& word : words) {
      if (word.positional == positional) entries += entry(word);
    }
    if (!entries.empty()) page += fmt::format(".SH {}\n{}", title, entries);
  };
  section("ARGUMENTS", true);
  section("OPTIONS", false);
  if (!below(command).empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* each : below(command)) {
    page += fmt::format(".TP\n{}(1)\n{}\n", bold(page_name(*each)), roff(each->get_description()));
  }
  page += fmt::format(".SH EXIT STATUS\n{}\n", roff(command.get_footer()));
  if (command.get_parent() != nullptr) page += ".SH SEE ALSO\n" + bold(page_name(*command.get_parent())) + "(1)\n";
  return page;
}

const std::vector<std::string>& completed_shells() {
  static const std::vector<std::string> shells{"bash", "zsh", "fish"};
  return shells;
}

std::string completion(const CLI::App& program, const std::string& shell) {
  return shell == "bash" ? bash(program) : shell == "zsh" ? zsh(program) : fish(program);
}

void write_shell_files(const CLI::App& program, const std::filesystem::path& folder) {
  const auto write = [&](const std::filesystem::path& place, const std::string& text) {
    std::error_code ignored;
    std::filesystem::create_directories((folder / place).parent_path(), ignored);
    std::ofstream out(folder / place, std::ios::binary);
    out << text << std::flush;
    if (!out) {
      throw CommandError(ExitCode::error,
                         say::file::cannot_write{.file = (folder / place).string(), .error = std::strerror(errno)});
    }
  };
  each_command(program, [&](const CLI::App& command) {
    write(std::filesystem::path("man/man1") / (page_name(command) + ".1"), man_page(command));
  });
  write("bash-completion/completions/attnscope", bash(program));
  write("zsh/site-functions/_attnscope", zsh(program));
  write("fish/vendor_completions.d/attnscope.fish", fish(program));
}

}  // namespace attnscope
