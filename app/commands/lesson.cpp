// SPDX-License-Identifier: Apache-2.0
// lesson: writes the lesson, homework and the lecturer's plan as HTML, grades homework, and writes texts for editing.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/program.h"
#include "app/user_kernels.h"
#include "kernels/files/regular_file.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/lesson/lesson_files.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
namespace lesson = analysis::lesson;

struct LessonOptions {
  std::vector<std::string> files;
  std::string folder;  ///< or file
  std::vector<std::string> codes;
  std::string language = "en";
  std::string texts;
  std::string filter;
  std::uint64_t seed = 0;
  bool force = false;
  Output output{};

  [[nodiscard]] OutputFile::ExistingFile existing() const {
    return force ? OutputFile::ExistingFile::any : OutputFile::ExistingFile::same_kind;
  }
};

std::vector<lesson::TextFile> custom_texts(const LessonOptions& options) {
  if (options.texts.empty()) return custom_lesson_texts();
  if (!fs::is_directory(options.texts))
    throw CommandError(ExitCode::error, "--texts {}: no such folder", options.texts);
  std::vector<lesson::TextFile> files = read_lesson_texts(options.texts);
  if (files.empty())
    spdlog::warn("{}", format_text("{} has no texts (*.json); using the built-in texts", options.texts));
  return files;
}

/// Loaded points, and what the lesson takes from them.
struct LessonData {
  explicit LessonData(const LessonOptions& options)
      : files(files_or_samples(options.files, lesson_samples())),
        loaded(load_points(files, options.filter)),
        evidence(lesson::make_evidence(loaded.table)) {
    for (const std::string& file : files) names += (names.empty() ? "" : ", ") + fs::path(file).filename().string();
    if (loaded.table.empty()) spdlog::warn("{}", "no points in these files; figures that need them are empty");
    if (const StoredCeilings* rates = newest_rates(loaded.ceilings, evidence.gpu)) evidence.ceilings = rates->ceilings;
    for (const StoredCeilings& each : loaded.ceilings) {
      evidence.all_ceilings.push_back({each.device_name, each.ceilings});
    }
  }

  std::vector<std::string> files;
  std::string names{};
  LoadedPoints loaded;
  lesson::Evidence evidence;
};

/// Prints the problems of texts. Returns the exit code for them and the data.
ExitCode report_problems(const LessonData& data, const std::vector<Message>& problems) {
  for (const Message& problem : problems) spdlog::warn("{}", printable(text(problem)));
  if (data.loaded.code != ExitCode::ok) return data.loaded.code;
  return problems.empty() ? ExitCode::ok : ExitCode::partial;
}

ExitCode export_lesson(const LessonOptions& options) {
  const LessonData data(options);
  const WrittenLesson written =
      write_lesson(options.folder, custom_texts(options), data.evidence,
                   {.language = options.language, .page{.data = data.names}, .existing = options.existing()});
  const ExitCode code = report_problems(data, written.problems);
  for (const fs::path& page : written.pages) {
    std::cout << format_text("{}: {} screens, {} claims", printable(page.string()), written.screens, written.claims)
              << '\n';
  }
  return code;
}

void write_page(const LessonOptions& options, const std::string& page) {
  const FileKind kind{"an attnscope page", [](std::string_view first) {
                        return first.find("content=\"attnscope ") != std::string_view::npos;
                      }};
  OutputFile file(options.folder, kind, options.existing());
  file.write(page);
  file.commit();
}

ExitCode write_homework(const LessonOptions& options) {
  const LessonData data(options);
  const lesson::LessonTexts texts = lesson::load_lesson(options.language, custom_texts(options));
  const auto items = homework_items(texts, data.evidence, options.seed);
  write_page(options, homework_page(texts, items, options.seed, data.names));
  std::cout << format_text("{}: {} questions and claims", printable(options.folder), items.size()) << '\n';
  return report_problems(data, texts.problems);
}

ExitCode write_plan(const LessonOptions& options) {
  const LessonData data(options);
  const lesson::LessonTexts texts = lesson::load_lesson(options.language, custom_texts(options));
  write_page(options, plan_page(texts, data.evidence));
  std::cout << format_text("{}: {} screens, {} minutes", printable(options.folder), texts.screens.size(),
                           minutes_of(texts))
            << '\n';
  return report_problems(data, texts.problems);
}

/// Returns the codes of the arguments, which are codes or files with codes.
std::vector<std::string> codes_of(const LessonOptions& options) {
  std::vector<std::string> codes;
  for (const std::string& argument : options.codes) {
    const bool is_code = argument.starts_with(lesson::hand_in_prefix);
    const auto text = is_code ? argument : read_regular_file(argument, lesson::max_text_bytes);
    if (!text.ok()) throw CommandError(ExitCode::error, "{}: {}", argument, text.error());
    const auto found = lesson::hand_in_codes(*text);
    if (found.empty()) throw CommandError(ExitCode::error, "{}: no hand-in code (attnscope1.…)", argument);
    codes.insert(codes.end(), found.begin(), found.end());
  }
  return codes;
}

/// A row per student and answer; without codes the key.
struct GradedAnswer {
  std::string student{};
  std::string given{};
  const lesson::HomeworkItem* item = nullptr;
};

analysis::Table graded_table(const std::vector<GradedAnswer>& answers) {
  analysis::Table table;
  table.rows = answers.size();
  const auto add = [&](const char* key, const char* title, std::string (*of)(const GradedAnswer&)) {
    table.columns.push_back({.key = key, .title = title, .cell = [&answers, of](std::size_t row) {
                               return analysis::Cell{.text = of(answers[row])};
                             }});
  };
  add("student", "Student", [](const GradedAnswer& each) { return each.student; });
  add("question", "Question", [](const GradedAnswer& each) { return each.item->id; });
  add("answer", "Answer", [](const GradedAnswer& each) { return printable(each.given); });
  add("key", "Key", [](const GradedAnswer& each) { return each.item->right; });
  add("unit", "Unit", [](const GradedAnswer& each) { return each.item->unit; });
  add("right", "Right",
      [](const GradedAnswer& each) { return std::string(each.item->is_right(each.given) ? "1" : "0"); });
  add("why", "Why", [](const GradedAnswer& each) { return each.item->why; });
  return table;
}

ExitCode grade(LessonOptions& options) {
  const LessonData data(options);
  const lesson::LessonTexts texts = lesson::load_lesson(options.language, custom_texts(options));
  if (options.codes.empty() && options.seed == 0)
    throw CommandError(ExitCode::usage, "a hand-in code, a file with codes, or --seed for the key is required");
  std::map<std::uint64_t, std::vector<lesson::HomeworkItem>> keys;
  const auto key_of = [&](std::uint64_t seed) -> const std::vector<lesson::HomeworkItem>& {
    const auto [found, fresh] = keys.try_emplace(seed);
    if (fresh) found->second = homework_items(texts, data.evidence, seed);
    return found->second;
  };
  ExitCode code = report_problems(data, texts.problems);
  std::vector<GradedAnswer> answers;
  std::vector<std::string> sums;
  for (const std::string& each : codes_of(options)) {
    const auto hand_in = lesson::decode_hand_in(each);
    const auto reject = [&](const Message& why) {
      spdlog::error("{}", text(why));
      code = ExitCode::partial;
    };
    if (!hand_in.ok()) {
      reject(make_message("{}: {}", shortened(each), hand_in.error()));
      continue;
    }
    const std::string name = printable(hand_in->name);
    const auto& items = key_of(hand_in->seed);
    if (hand_in->data != data.names || hand_in->answers.size() != items.size()) {
      reject(make_message("{}: made from other files or texts: {} (pass them with --data and --texts)", name,
                          printable(hand_in->data)));
      continue;
    }
    std::size_t right = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      answers.push_back({name, hand_in->answers[i], &items[i]});
      right += items[i].is_right(hand_in->answers[i]) ? 1U : 0U;
    }
    sums.push_back(format_text("{}: {} / {}", name, right, items.size()));
  }
  if (options.codes.empty()) {
    for (const lesson::HomeworkItem& item : key_of(options.seed)) answers.push_back({{}, {}, &item});
  }
  return options.output.run([&] {
    analysis::Table table = graded_table(answers);
    if (options.codes.empty()) {
      for (const char* column : {"student", "answer", "right"}) table.drop(column);
    }
    if (sums.size() < 2 || !options.output.is_text_output()) options.output.table(table);
    for (const std::string& sum : sums) options.output.line(sum);
    return code;
  });
}

ExitCode write_texts(const LessonOptions& options) {
  const std::size_t count = write_lesson_texts(options.folder, options.existing());
  std::cout << format_text("{}: {} texts (delete the ones that you do not change)", printable(options.folder), count)
            << '\n';
  return ExitCode::ok;
}

}  // namespace

Action add_lesson(CLI::App& command) {
  auto options = std::make_shared<LessonOptions>();
  add_kernel_option(command);
  command.require_subcommand(1);
  const auto add = [&](const char* name, bool data, const char* output) -> CLI::App& {
    CLI::App& own = *command.add_subcommand(name);
    if (data) {
      own.add_option("FILE", options->files,
                     ".attnscope files with the points to show (default: the recorded samples)");
    }
    if (output != nullptr) {
      const bool folder = std::string_view(output).starts_with("Output folder");
      own.add_option("-o,--output", options->folder, output)->type_name(folder ? "FOLDER" : "FILE")->required();
      own.add_flag("--force", options->force, "Overwrite a file of another kind");
    }
    return own;
  };
  const auto add_texts = [&](CLI::App& own) {
    add_language_option(own, options->language, "Language");
    own.add_option("--texts", options->texts,
                   "Folder with texts that replace or extend built-in ones (default: $XDG_DATA_HOME/attnscope/lesson)")
        ->type_name("FOLDER");
    add_filter_option(own, options->filter);
  };
  CLI::App& write = add("export", true, "Output folder for index.html and LANG.html");
  CLI::App& homework = add("homework", true, "Output file");
  homework.add_option("--seed", options->seed, "Number that varies wording, numbers and the order of choices")
      ->check(integer_at_least(1))
      ->required();
  CLI::App& grading = add("grade", false, nullptr);
  grading.add_option("CODE", options->codes, "Hand-in codes, or files with codes")->type_name("CODE|FILE");
  grading.add_option("--data", options->files, "File of the homework; repeatable (default: the recorded samples)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  grading.add_option("--seed", options->seed, "Show the key of this homework")->check(integer_at_least(1));
  options->output.add_to(grading);
  CLI::App& plan = add("plan", true, "Output file");
  add("texts", false, "Output folder");
  for (CLI::App* each : {&write, &homework, &grading, &plan}) add_texts(*each);
  return [options, &write, &homework, &grading, &plan] {
    if (write.parsed()) return export_lesson(*options);
    if (homework.parsed()) return write_homework(*options);
    if (grading.parsed()) return grade(*options);
    return plan.parsed() ? write_plan(*options) : write_texts(*options);
  };
}

}  // namespace attnscope
