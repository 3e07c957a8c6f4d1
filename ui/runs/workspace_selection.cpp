// SPDX-License-Identifier: GPL-3.0-or-later
// Of files with more points than are kept in memory: what fits the filter, and which of it has its values read.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "ui/process/shared_of_many.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

bool Workspace::large() const {
  return std::ranges::any_of(runs_, [](const LoadedRun& run) { return run.visible && run.settings != nullptr; });
}

QString Workspace::selected_share() const {
  const std::size_t total = selected_ == nullptr ? 0 : selected_->total.load();
  return total == 0 ? QString() : QStringLiteral("%1%").arg(std::min<std::size_t>(selected_->read * 100 / total, 100));
}

SelectionAsk Workspace::selection_ask(bool goes_on) const {
  SelectionAsk ask;
  std::set<const RunInfo*> large_runs;
  const Originals originals(runs_);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const LoadedRun& run = runs_[i];
    if (!run.visible || run.settings == nullptr || originals.of(i, true)) continue;
    ask.large.push_back({run.info, run.settings, analysis_run(*run.info), run.points.ids()});
    large_runs.insert(run.info.get());
  }
  ask.ticked = ticked();
  const analysis::PointTable& table = ask.ticked->table();
  std::vector<bool> of_large(table.runs().size());
  for (std::size_t run = 0; run < of_large.size(); ++run) {
    of_large[run] = large_runs.contains(&ask.ticked->run(static_cast<analysis::RunIndex>(run)));
  }
  for (Row row = 0; row < ask.ticked->size(); ++row) {
    if (!of_large[table.run_index(row)]) ask.others.push_back(row);
  }
  ask.query = query_;
  ask.most = most_loaded_;
  if (!goes_on) ask.before = listing_;
  return ask;
}

void Workspace::supersede() {
  if (!selecting()) return;
  select_.drop();
  if (lists_anew_) listing_.reset();  // it was finding out about points that the one before does not have
  selected_.reset();
  if (opening_.isEmpty()) progress_timer_.stop();
}

void Workspace::select_anew(bool goes_on) {
  if (selecting() && goes_on) {
    select_again_ = true;  // it is never through where every point begins it anew
    return;
  }
  const bool was = selecting() || listing_ != nullptr;
  supersede();
  selection_error_.clear();
  outrun_.clear();
  if (!large()) {
    listing_.reset();
    all_settings_.reset();
    if (was) emit listing_changed();
    return;
  }
  progress_timer_.start();
  SelectionAsk ask = selection_ask(goes_on);
  selected_ = ask.progress;
  lists_anew_ = ask.before == nullptr;
  if (!goes_on) listing_.reset();
  select_.ask(std::move(ask), always_aside);
  emit listing_changed();
}

void Workspace::take_selection(Selection& selection) {
  selected_.reset();
  if (opening_.isEmpty()) progress_timer_.stop();
  bool again = std::exchange(select_again_, false);
  if (!selection.error.isEmpty()) {
    // Where another file has come in its place, reading it says so and shows that one.
    selection_error_ = selection.error;
    all_settings_.reset();
    emit rows_skipped(selection.file, selection.error);
    emit points_changed();  // pages without points say why
    emit listing_changed();
    read_in_background(selection.file);
    return;
  }
  for (const auto& [file, words] : selection.skipped) {
    if (std::exchange(skipped_[file], words) != words) emit rows_skipped(file, words);
  }
  listing_ = selection.listing;
  all_settings_ = listing_ == nullptr ? nullptr : listing_->points;
  const std::set<QString> outrun = std::exchange(outrun_, {});
  if (selection.reads) {
    // Points that came meanwhile, which are in these now as far as they fit.
    again = again || gathering();
    stop_gathering();
    ++taken_selections_;
    for (LoadedRun& run : runs_) {
      if (run.settings == nullptr) continue;
      const auto chosen = selection.points.find({run.info->file, run.info->summary.id});
      delete_in_background([before = std::make_shared<RunPoints>(std::move(run.points))] {});
      run.points = chosen == selection.points.end() ? RunPoints() : std::move(chosen->second);
      if (outrun.contains(run.info->file)) outdated_.emplace(run.info->file, run.info->summary.id);
    }
    ticked_.reset();
    visible_.reset();
  }
  // Pages without points say why.
  const bool others = selection.reads || visible()->empty();
  const auto say = [this, others, again] {
    if (others) emit points_changed();
    emit listing_changed();
    if (again) select_anew(true);
  };
  if (!selection.reads) return say();
  for (const QString& file : outrun) read_in_background(file);
  gather_then(say);
}

bool Workspace::are_of_others(const FileContents& contents, const LoadedRun& run) const {
  const bool chosen = !contents.whole && run.settings != nullptr && contents.anew.contains(run.info->summary.id);
  return chosen && contents.selection != taken_selections_;
}

}  // namespace attnscope::ui
