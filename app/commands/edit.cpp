// SPDX-License-Identifier: Apache-2.0
// edit: changes names, tags, notes and flags of runs. The window runs this command, too.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct EditOptions {
  std::string file;
  std::vector<std::string> runs;
  std::string name;
  std::string note;
  bool no_name = false;
  bool no_note = false;
  bool hide = false;
  bool show = false;
  bool remove = false;
  bool restore = false;
  bool list = false;
  RunEdit edit;
  Output output;
};

RunEdit edit_of(const EditOptions& options) {
  RunEdit edit = options.edit;
  if (options.no_name || !options.name.empty()) edit.name = options.name;
  if (options.no_note || !options.note.empty()) edit.note = options.note;
  if (options.hide || options.show) edit.hidden = options.hide;
  if (options.remove || options.restore) edit.deleted = options.remove;
  return edit;
}

/// Finds a run by number, else by uid, else by name.
std::int64_t run_of(const std::string& word, const std::vector<RunSummary>& runs, const std::string& file) {
  std::vector<std::int64_t> found;
  for (const auto& is_meant :
       {+[](const RunSummary&run, const std::string&given) { return fmt::to_string(run.id) == given; },
        +[](const RunSummary&run, const std::string&given) { return run.uid == given; },
        +[](const RunSummary&run, const std::string&given) { return run.annotations.name == given; }}) {
    for (const RunSummary& run : runs) {
      if (is_meant(run, word)) found.push_back(run.id);
    }
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
      throw CommandError(ExitCode::usage, "runs {} of {} are all named {} (give the run number)",
                         fmt::join(found, ", "), file, word);
    }
  }
  std::vector<std::int64_t> ids;
  constexpr std::size_t most_ids = 12;
  ids.reserve(runs.size());
  for (const RunSummary& run : runs) ids.push_back(run.id);
  const bool all = ids.size() <= most_ids;
  ids.resize(std::min(ids.size(), most_ids));
  throw CommandError(ExitCode::usage, "{} has no run {}, only {}{} (`attnscope edit FILE --list` lists its runs)", file,
                     word, ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", ")), all ? "" : ", ...");
}

void print_annotations(const std::vector<EditedRun>& runs, Output& out) {
  TableRows rows;
  const auto flag = [](bool is) { return std::string(is ? "yes" : "no"); };
  for (const EditedRun& run : runs) {
    const RunAnnotations& annotations = run.annotations;
    rows.push_back({fmt::to_string(run.run), annotations.name, fmt::format("{}", fmt::join(annotations.tags, " ")),
                    flag(annotations.hidden), flag(annotations.deleted),
                    out.is_text_output() ? one_line(annotations.note) : annotations.note, run.uid});
  }
  out.table(text_table({number_column("run"), {"name"}, {"tags"}, {"hidden"}, {"deleted"}, {"note"}, {"uid"}},
                       std::move(rows)));
}

ExitCode list(const RunStore& store, Output& out) {
  std::vector<EditedRun> all;
  for (const RunSummary& run : store.runs(true)) {
    all.push_back({.run = run.id, .uid = run.uid, .annotations = run.annotations});
  }
  print_annotations(all, out);
  return log_skipped_rows(store, ExitCode::ok);
}

ExitCode edit(EditOptions& options) {
  const RunEdit wanted = edit_of(options);
  const bool edits = wanted != RunEdit();
  if (options.list && (edits || !options.runs.empty()))
    throw CommandError(ExitCode::usage, "--list cannot be combined with other options");
  if (!options.list && options.runs.empty())
    throw CommandError(ExitCode::usage, "no run given (select it with --run, or list the runs with --list)");
  if (!options.list && !edits)
    throw CommandError(ExitCode::usage,
                       "no change given (use --name, --tag, --untag, --note, --hide, --show, --delete or --restore)");
  if (const Message wrong = bounds_error(wanted); !wrong.empty()) throw CommandError(ExitCode::usage, wrong);

  std::vector<std::int64_t> runs;
  {
    // Checks the file and the runs before locking the file for writing.
    const RunStore store = RunStore::open(options.file, RunStore::Mode::read_only);
    if (options.list) return list(store, options.output);
    const std::vector<RunSummary> there = store.runs(true);
    for (const std::string& word : options.runs) runs.push_back(run_of(word, there, options.file));
  }
  RunStore store = RunStore::open(options.file, RunStore::Mode::collect);
  const std::vector<EditedRun> changed = store.edit(runs, wanted);
  if (changed.empty() && options.output.is_text_output()) {
    options.output.line(format_text("{}: nothing to change", printable(options.file)));
  } else {
    print_annotations(changed, options.output);
  }
  return log_skipped_rows(store, ExitCode::ok);
}

}  // namespace

Action add_edit(CLI::App& command) {
  auto options = std::make_shared<EditOptions>();
  command.add_option("FILE", options->file, ".attnscope file")->required();
  command.add_option("--run", options->runs, "Run number, uid or name; repeatable")
      ->type_name("RUN")
      ->allow_extra_args(false);
  CLI::Option* name = command.add_option("--name", options->name, "Set the name")->type_name("NAME");
  command.add_flag("--no-name", options->no_name, "Remove the name")->excludes(name);
  command.add_option("--tag", options->edit.tag, "Add a tag (one word)")->type_name("TAG")->allow_extra_args(false);
  command.add_option("--untag", options->edit.untag, "Remove a tag")->type_name("TAG")->allow_extra_args(false);
  CLI::Option* note = command.add_option("--note", options->note, "Set the note")->type_name("NOTE");
  command.add_flag("--no-note", options->no_note, "Remove the note")->excludes(note);
  CLI::Option* hide =
      command.add_flag("--hide", options->hide, "Do not plot the run in the window until it is selected");
  command.add_flag("--show", options->show, "Undo --hide")->excludes(hide);
  CLI::Option* remove =
      command.add_flag("--delete", options->remove, "Mark the run as deleted; `export --format attnscope` removes it");
  command.add_flag("--restore", options->restore, "Undo --delete")->excludes(remove);
  command.add_flag("--list", options->list, "List names, tags and notes of all runs, including deleted ones");
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return edit(*options); }); };
}

}  // namespace attnscope
