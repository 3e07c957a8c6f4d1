// SPDX-License-Identifier: Apache-2.0
// Edits of what a person says of runs, and the log by which they are undone and done again, also by another process.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "messages/file.h"
#include "messages/row.h"
#include "profiler/plan/text.h"
#include "storage/rows.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

using nlohmann::json;
using Kind = StorageError::Kind;

/// Of one line, and nothing in it steers what shows it.
bool is_plain(std::string_view text) {
  return printable(text) == text;
}

json to_json(const RunWords& words) {
  return {{"name", words.name},
          {"note", words.note},
          {"tags", words.tags},
          {"hidden", words.hidden},
          {"deleted", words.deleted}};
}

/// As an edit from nothing, so that what a file says is held to what may be written.
Message out_of_bounds(const RunWords& words) {
  return out_of_bounds(RunEdit{.name = words.name,
                               .note = words.note,
                               .tag = words.tags,
                               .untag = {},
                               .hidden = std::nullopt,
                               .deleted = std::nullopt});
}

}  // namespace

std::optional<RunWords> words_from(const std::string& logged) {
  try {
    const json text = json::parse(logged);
    const RunEdit said{.name = text.at("name").get<std::string>(),
                       .note = text.at("note").get<std::string>(),
                       .tag = text.at("tags").get<std::vector<std::string>>(),
                       .untag = {},
                       .hidden = text.at("hidden").get<bool>(),
                       .deleted = text.at("deleted").get<bool>()};
    if (out_of_bounds(said).empty()) return edited({}, said);
  } catch (const json::exception&) {  // no edit wrote that
  }
  return std::nullopt;
}

Message out_of_bounds(const RunEdit& edit) {
  if (edit.name && edit.name->size() > longest_run_name) {
    return say::row::long_run_name{.bytes = edit.name->size(), .most = longest_run_name};
  }
  if (edit.name && !is_plain(*edit.name)) return say::row::odd_run_name{.name = *edit.name};
  if (edit.note && edit.note->size() > longest_run_note) {
    return say::row::long_run_note{.bytes = edit.note->size(), .most = longest_run_note};
  }
  if (edit.note) {
    std::string line = *edit.note;
    std::ranges::replace(line, '\n', ' ');
    std::ranges::replace(line, '\t', ' ');
    if (!is_plain(line)) return say::row::odd_run_note{};
  }
  if (edit.tag.size() > most_run_tags) return say::row::many_run_tags{.most = most_run_tags};
  for (const std::string& tag : edit.tag) {
    const bool one_word = !tag.empty() && tag.find_first_of(" ,\"") == std::string::npos;
    if (!one_word || !is_plain(tag) || tag.size() > longest_run_tag) {
      return say::row::odd_run_tag{.tag = tag, .most = longest_run_tag};
    }
  }
  return {};
}

RunWords edited(RunWords words, const RunEdit& edit) {
  if (edit.name) words.name = *edit.name;
  if (edit.note) words.note = *edit.note;
  if (edit.hidden) words.hidden = *edit.hidden;
  if (edit.deleted) words.deleted = *edit.deleted;
  std::erase_if(words.tags, [&](const std::string& tag) { return std::ranges::count(edit.untag, tag) > 0; });
  words.tags.insert(words.tags.end(), edit.tag.begin(), edit.tag.end());
  std::ranges::sort(words.tags);
  words.tags.erase(std::unique(words.tags.begin(), words.tags.end()), words.tags.end());
  return words;
}

RunWords RunStore::Impl::read_words(Reader& in, std::int64_t run) {
  RunWords words;
  // Each by itself: what is sound stays when another edit is written.
  const auto part = [&](const auto& take) {
    Message why;
    try {
      take();
    } catch (const RowError& error) {
      why = error.message();
    } catch (const json::exception&) {
      why = say::row::no_utf8{};
    }
    if (!why.empty()) note({.where = say::row::words_of_run{.run = run}, .why = why});
  };
  const auto require = [](const RunWords& said) {
    if (const Message wrong = out_of_bounds(said); !wrong.empty()) throw RowError(wrong);
  };
  part([&] { words.deleted = in.flag(); });
  part([&] { words.hidden = in.flag(); });
  for (std::string RunWords::*text : {&RunWords::name, &RunWords::note}) {
    part([&] {
      RunWords said;
      said.*text = in.optional_text().value_or("");
      require(said);
      words.*text = said.*text;
    });
  }
  part([&] {
    for (std::string& tag : json::parse(in.text()).get<std::vector<std::string>>()) {
      part([&] {
        RunWords said{words};
        said.tags.push_back(std::move(tag));
        require(said);
        words.tags = std::move(said.tags);
      });
    }
  });
  return words;
}

void RunStore::Impl::set_words(std::int64_t run, const RunWords& words, const std::string& edited_at) {
  SQLite::Statement& update = statement(
      "UPDATE runs SET name = nullif(?, ''), note = nullif(?, ''), hidden = ?, deleted = ?, edited_at = ? WHERE id = "
      "?");
  Binder(update) << words.name << words.note << words.hidden << words.deleted << edited_at << run;
  update.exec();
  SQLite::Statement& clear = statement("DELETE FROM run_tags WHERE run_id = ?");
  Binder(clear) << run;
  clear.exec();
  for (const std::string& tag : words.tags) {
    SQLite::Statement& insert = statement("INSERT INTO run_tags (run_id, tag) VALUES (?, ?)");
    Binder(insert) << run << tag;
    insert.exec();
  }
}

std::vector<EditedRun> RunStore::Impl::step_back_or_forth(bool back) {
  std::optional<StorageError> passed_over;
  std::vector<EditedRun> edits = write_on_disk([&] {
    SQLite::Statement& query = statement(fmt::format(
        "SELECT step, run_uid, id, {} FROM run_edits LEFT JOIN runs ON uid = run_uid WHERE step = (SELECT {}) ORDER BY "
        "run_uid",
        logged_words,
        back ? "max(step) FROM run_edits WHERE undone = 0" : "min(step) FROM run_edits WHERE undone <> 0"));
    std::vector<EditedRun> found;
    std::int64_t step = 0;
    while (query.executeStep()) {
      step = query.getColumn(0).getInt64();
      const std::string uid = query.getColumn(1).getString();
      std::optional<RunWords> before = words_from(query.getColumn(3).getString());
      std::optional<RunWords> after = words_from(query.getColumn(4).getString());
      if (query.getColumn(2).isNull()) {
        passed_over.emplace(Kind::other,
                            say::file::edit_of_no_run{.file = file.string(), .step = step, .run = printable(uid)});
      } else if (!before || !after) {
        passed_over.emplace(Kind::damaged, say::file::edit_unreadable{.file = file.string(), .step = step});
      } else {
        if (back) std::swap(before, after);
        found.push_back({.run = query.getColumn(2).getInt64(), .uid = uid, .before = *before, .after = *after});
      }
    }
    if (passed_over) found.clear();  // a step is done whole or not at all, and the next call is of the one beyond it
    const std::string now = now_utc();
    for (const EditedRun& edit : found) set_words(edit.run, edit.after, now);
    SQLite::Statement& mark = statement("UPDATE run_edits SET undone = ? WHERE step = ?");
    Binder(mark) << back << step;
    mark.exec();
    return found;
  });
  checkpoint();
  if (passed_over) throw *passed_over;
  return edits;
}

std::vector<EditedRun> RunStore::edit(std::span<const std::int64_t> runs, const RunEdit& edit) {
  impl_->require_storable(out_of_bounds(edit));
  std::vector<EditedRun> changed = impl_->write_on_disk([&] {
    const std::vector<RunSummary> all = impl_->read_runs(nullptr, true);
    std::vector<EditedRun> edits;
    for (const std::int64_t run : runs) {
      const auto found = std::ranges::find(all, run, &RunSummary::id);
      if (found == all.end()) throw StorageError(Kind::other, say::file::no_run{.file = file().string(), .run = run});
      RunWords after = edited(found->words, edit);
      if (after == found->words || std::ranges::count(edits, run, &EditedRun::run) > 0) continue;
      if (after.tags.size() > most_run_tags) impl_->require_storable(say::row::many_run_tags{.most = most_run_tags});
      edits.push_back({.run = run, .uid = found->uid, .before = found->words, .after = std::move(after)});
    }
    if (edits.empty()) return edits;
    impl_->statement("DELETE FROM run_edits WHERE undone <> 0").exec();  // another way was taken
    const std::int64_t step = impl_->scalar(impl_->statement("SELECT coalesce(max(step), 0) + 1 FROM run_edits"));
    const std::string now = now_utc();
    for (const EditedRun& each : edits) {
      impl_->set_words(each.run, each.after, now);
      SQLite::Statement& insert =
          impl_->statement("INSERT INTO run_edits (step, run_uid, edited_at, before, after) VALUES (?, ?, ?, ?, ?)");
      Binder(insert) << step << each.uid << now << to_json(each.before).dump() << to_json(each.after).dump();
      insert.exec();
    }
    return edits;
  });
  impl_->checkpoint();
  return changed;
}

std::vector<EditedRun> RunStore::undo() {
  return impl_->step_back_or_forth(true);
}

std::vector<EditedRun> RunStore::redo() {
  return impl_->step_back_or_forth(false);
}

}  // namespace attnscope
