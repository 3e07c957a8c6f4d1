// SPDX-License-Identifier: Apache-2.0
// Names, notes, tags and flags of runs.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

using nlohmann::json;
using Kind = FileError::Kind;

/// Returns true for one line without control characters.
bool is_plain(std::string_view text) {
  return printable(text) == text;
}

}  // namespace

Message bounds_error(const RunEdit& edit) {
  if (edit.name && edit.name->size() > max_run_name_bytes) {
    return make_message("the run name has {} bytes (maximum: {})", edit.name->size(), max_run_name_bytes);
  }
  if (edit.name && !is_plain(*edit.name))
    return make_message("run name \"{}\" is not one line of printable text", *edit.name);
  if (edit.note && edit.note->size() > max_run_note_bytes) {
    return make_message("the run note has {} bytes (maximum: {})", edit.note->size(), max_run_note_bytes);
  }
  if (edit.note) {
    std::string line = *edit.note;
    std::ranges::replace(line, '\n', ' ');
    std::ranges::replace(line, '\t', ' ');
    if (!is_plain(line)) return "the run note contains control characters";
  }
  if (edit.tag.size() > max_run_tags)
    return make_message("a run can have at most {} tags (remove some first)", max_run_tags);
  for (const std::string& tag : edit.tag) {
    const bool one_word = !tag.empty() && tag.find_first_of(" ,\"") == std::string::npos;
    if (!one_word || !is_plain(tag) || tag.size() > max_run_tag_bytes) {
      return make_message("invalid run tag \"{}\" (no spaces, commas or quotation marks; at most {} bytes)", tag,
                          max_run_tag_bytes);
    }
  }
  return {};
}

RunAnnotations edited(RunAnnotations annotations, const RunEdit& edit) {
  if (edit.name) annotations.name = *edit.name;
  if (edit.note) annotations.note = *edit.note;
  if (edit.hidden) annotations.hidden = *edit.hidden;
  if (edit.deleted) annotations.deleted = *edit.deleted;
  std::erase_if(annotations.tags, [&](const std::string& tag) { return std::ranges::count(edit.untag, tag) > 0; });
  annotations.tags.insert(annotations.tags.end(), edit.tag.begin(), edit.tag.end());
  std::ranges::sort(annotations.tags);
  annotations.tags.erase(std::unique(annotations.tags.begin(), annotations.tags.end()), annotations.tags.end());
  return annotations;
}

RunAnnotations RunStore::Impl::read_annotations(Reader& in, std::int64_t run) {
  RunAnnotations annotations;
  Message why;
  try {
    annotations.deleted = in.flag();
    annotations.hidden = in.flag();
    const std::string name = in.optional<std::string>().value_or("");
    const std::string note = in.optional<std::string>().value_or("");
    const auto tags = json::parse(in.text()).get<std::vector<std::string>>();
    const RunEdit stated{
        .name = name, .note = note, .tag = tags, .untag = {}, .hidden = std::nullopt, .deleted = std::nullopt};
    why = bounds_error(stated);
    if (why.empty()) annotations = edited(annotations, stated);
  } catch (const RowError& error) {
    why = error.message();
  } catch (const json::exception&) {
    why = "not valid UTF-8";
  }
  if (!why.empty()) note({.where = make_message("name, note and tags of run {}", run), .why = why});
  return annotations;
}

void RunStore::Impl::apply_edit(std::int64_t run, const RunEdit& edit, const std::string& edited_at) {
  execute(
      "UPDATE runs SET name = nullif(coalesce(?, name), ''), note = nullif(coalesce(?, note), ''), hidden = "
      "coalesce(?, "
      "hidden), deleted = coalesce(?, deleted), edited_at = ? WHERE id = ?",
      edit.name, edit.note, edit.hidden, edit.deleted, edited_at, run);
  for (const std::string& tag : edit.untag) execute("DELETE FROM run_tags WHERE run_id = ? AND tag = ?", run, tag);
  for (const std::string& tag : edit.tag) execute("INSERT OR IGNORE INTO run_tags VALUES (?, ?)", run, tag);
}

std::vector<EditedRun> RunStore::edit(std::span<const std::int64_t> runs, const RunEdit& edit) {
  impl_->require_storable(bounds_error(edit));
  return impl_->write_synced([&] {
    const std::vector<RunSummary> all = impl_->read_runs(nullptr, true);
    std::vector<EditedRun> edits;
    for (const std::int64_t run : runs) {
      const auto found = std::ranges::find(all, run, &RunSummary::id);
      if (found == all.end()) throw FileError(Kind::other, "{} has no run {}", file().string(), run);
      RunAnnotations after = edited(found->annotations, edit);
      if (after == found->annotations || std::ranges::count(edits, run, &EditedRun::run) > 0) continue;
      if (after.tags.size() > max_run_tags)
        impl_->require_storable(make_message("a run can have at most {} tags (remove some first)", max_run_tags));
      edits.push_back({.run = run, .uid = found->uid, .annotations = std::move(after)});
    }
    const std::string now = now_utc();
    for (const EditedRun& each : edits) impl_->apply_edit(each.run, edit, now);
    return edits;
  });
}

}  // namespace attnscope
