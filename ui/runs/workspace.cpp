// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/workspace.h"

#include <QFile>
#include <QFileInfo>
#include <QMetaObject>
#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <utility>

#include "messages/run_list.h"
#include "storage/compared_runs.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr std::chrono::milliseconds follow_interval{400};
QString canonical(const QString& path) {
  const QFileInfo info(path);
  const QString real = info.canonicalFilePath();
  return real.isEmpty() ? info.absoluteFilePath() : real;
}

}  // namespace

Workspace::Workspace(QObject* parent, std::size_t most)
    : QObject(parent),
      max_points_(most),
      gather_(
          [](GatherTask asked, const StaleCheck& outdated) {
            if (asked.checked == nullptr) asked.checked = make_background_deleted<PointSet>(asked.parts);
            if (!outdated() && !asked.query.empty()) {
              asked.visible =
                  make_background_deleted<PointSet>(*asked.checked, asked.query.rows(asked.checked->table()));
            }
            return asked;
          },
          [this](const GatherTask& found) {
            // A call of visible() may have computed the sets already.
            if (checked_ == nullptr) checked_ = found.checked;
            if (visible_ == nullptr) visible_ = found.visible;
            end_gathering();
          }) {
  // On failure the points stay empty; callers of visible() get the exception.
  gather_.on_failure([this](const QString& /*reason*/) { end_gathering(); });
  reader_.setMaxThreadCount(1);
  follow_timer_.setInterval(follow_interval);
  connect(&follow_timer_, &QTimer::timeout, this, &Workspace::poll);
}

Workspace::~Workspace() {
  qDeleteAll(QObjectList(children()));  // children use members of this object
  reader_.waitForDone();
}

void Workspace::open(const QString& path) {
  const QString file = canonical(path);
  if (files_.contains(file)) {
    read_in_background(file);
    emit opened(file);
    return;
  }
  begin_opening(file);
  read_file_async(file, [this](FileContents& contents) {
    end_opening(contents.path);
    // Other files may have been opened since.
    const std::size_t room = remaining_points(contents.path);
    std::size_t points = 0;
    for (const auto& [run, read] : contents.points) points += read.size();
    if (points > room) contents.error = too_many_points_error(contents.path, points, room);
    accept(contents, true);
  });
}

/// Reads in the background; `then` is called in this thread.
void Workspace::read_file_async(const QString& path, std::function<void(FileContents&)> then) {
  ++pending_reads_;
  reader_.start([this, path, before = known(path), most = remaining_points(path), then = std::move(then)] {
    auto contents = std::make_shared<FileContents>(read_file(path, before, most));
    QMetaObject::invokeMethod(
        this,
        [this, contents, then] {
          --pending_reads_;
          then(*contents);
        },
        Qt::QueuedConnection);
  });
}

void Workspace::begin_opening(const QString& path) {
  opening_ << path;
  emit opening_changed();
  if (runs_.empty()) announce_points();  // updates views that show "opening"
}

void Workspace::end_opening(const QString& path) {
  if (!opening_.removeOne(path)) return;
  emit opening_changed();
  if (runs_.empty()) announce_points();
}

QString Workspace::opening() const {
  QStringList names;
  for (const QString& path : opening_) names << file_name(path);
  names.removeDuplicates();
  return names.join(QStringLiteral(", "));
}

QString Workspace::open_blocking(const QString& path) {
  FileContents contents = read_file(canonical(path));
  accept(contents, true);
  wait_until_idle();
  return contents.error;
}

QString Workspace::file_name(const QString& path) const {
  const auto known = file_names_.find(path);
  return one_line(known == file_names_.end() ? QFileInfo(path).fileName() : known->second);
}

QStringList Workspace::requested_files() const {
  QStringList files = files_ + opening_;
  files.removeDuplicates();
  return files;
}

void Workspace::set_checked_runs(const CheckedRuns& checked_runs) {
  stop_gathering();
  unread_checked_runs_.clear();
  for (const auto& [run, checked] : checked_runs) unread_checked_runs_[{canonical(run.first), run.second}] = checked;
  for (LoadedRun& run : runs_) run.visible = initially_visible(run.info->file, run.info->summary);
  emit runs_changed();
  announce_points();
}

Workspace::CheckedRuns Workspace::checked_runs() const {
  CheckedRuns all = unread_checked_runs_;
  for (const LoadedRun& run : runs_) {
    const RunSummary& summary = run.info->summary;
    if (run.visible == summary.annotations.hidden) all[{run.info->file, summary.uid}] = run.visible;
  }
  return all;
}

bool Workspace::initially_visible(const QString& file, const RunSummary& run) {
  const auto by_hand = unread_checked_runs_.extract({file, run.uid});
  return by_hand.empty() ? !run.annotations.hidden : by_hand.mapped();
}

std::optional<std::size_t> Workspace::index_of(const QString& path, std::int64_t run) const {
  const QString file = canonical(path);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].info->file == file && runs_[i].info->summary.id == run) return i;
  }
  return {};
}

void Workspace::close(const QString& path) {
  const QString file = canonical(path);
  if (!files_.removeOne(file)) return;
  file_names_ = distinct_file_names(files_);
  followed_.erase(file);
  stop_gathering();
  skipped_.erase(file);
  stamps_.erase(file);
  std::erase_if(runs_, [&](const LoadedRun& run) { return run.info->file == file; });
  noise_.erase(file);
  const bool had_ceilings = std::erase_if(ceilings_, [&](const FileCeilings& each) { return each.file == file; }) > 0;
  name_runs();
  if (had_ceilings) emit ceilings_changed();
  emit runs_changed();
  announce_points();
}

void Workspace::refresh(const QString& path) {
  const QString file = canonical(path);
  if (files_.contains(file)) read_in_background(file);
}

void Workspace::follow(const QString& path) {
  const QString file = canonical(path);
  const bool news = followed_.try_emplace(file, false).second;
  if (!follow_timer_.isActive()) follow_timer_.start();
  if (news && runs_.empty()) announce_points();  // updates views that show "opening"
}

void Workspace::stop_following(const QString& path) {
  const QString file = canonical(path);
  followed_.erase(file);
  read_in_background(file);
}

void Workspace::poll() {
  if (followed_.empty()) {
    follow_timer_.stop();
    return;
  }
  for (auto& [path, reading] : followed_) {
    if (reading || !QFileInfo::exists(path)) continue;
    reading = true;
    read_in_background(path);
  }
}

void Workspace::read_in_background(const QString& path) {
  read_file_async(path, [this](FileContents& contents) { handle_read(contents); });
}

void Workspace::handle_read(FileContents& contents) {
  const QString path = contents.path;
  const auto entry = followed_.find(path);
  const bool followed = entry != followed_.end();
  if (followed) entry->second = false;
  const bool open = files_.contains(path);
  if (contents.error.isEmpty()) {
    // false if the file was closed while it was read
    if (open || contents.whole) accept(contents, !open);
  } else if (open && !followed && QFileInfo::exists(path)) {
    QFile file(path);
    const bool database = file.open(QIODevice::ReadOnly) && file.read(15) == "SQLite format 3";
    if (!database) close(path);  // overwritten with something else; a busy file keeps its points
    emit open_failed(path, contents.error);
  }
  // A file that is being created may not be readable yet; the next poll retries.
}

std::optional<KnownFile> Workspace::known(const QString& path) const {
  const auto stamp = stamps_.find(path);
  if (stamp == stamps_.end()) return std::nullopt;
  KnownFile known{.stamp = stamp->second};
  for (const LoadedRun& run : runs_) {
    if (run.info->file == path) known.runs.emplace(run.info->summary.id, run.info->summary);
  }
  return known;
}

std::size_t Workspace::remaining_points(const QString& path) const {
  std::size_t others = 0;
  for (const LoadedRun& run : runs_) {
    if (run.info->file != path) others += run.size();
  }
  return max_points_ - std::min(max_points_, others);
}

void Workspace::accept(FileContents& contents, bool first) {
  if (!contents.error.isEmpty()) {
    emit open_failed(contents.path, contents.error);
    return;
  }
  const QString path = contents.path;
  try {
    add_contents(contents, first);
  } catch (const std::bad_alloc&) {
    contents = {};
    close(path);
    contents.path = path;
    contents.error = out_of_memory_error(path);
    emit open_failed(path, contents.error);
  }
}

void Workspace::add_contents(FileContents& contents, bool first) {
  const QString& path = contents.path;
  const std::optional<KnownFile> before = known(path);
  const bool same_file = before && before->stamp.same_file(contents.stamp);
  if (!contents.whole && !same_file) return read_in_background(path);  // closed or replaced during the read
  stop_gathering();
  if (first && !files_.contains(path)) {
    files_.append(path);
    file_names_ = distinct_file_names(files_);
  }
  const bool replaced = before && !before->is_continued_by(contents.stamp, contents.runs) && contents.whole;
  if (replaced) {
    skipped_.erase(path);
    emit file_replaced(path, qtext("{} was replaced by another file and is reread.", path.toStdString()));
  }
  if (!contents.skipped.isEmpty() && std::exchange(skipped_[path], contents.skipped) != contents.skipped) {
    emit rows_skipped(path, contents.skipped);
  }
  stamps_[path] = contents.stamp;
  const Change change = update_runs(contents);
  const bool runs_differ = change == Change::runs || first || replaced;
  const bool points_differ = update_noise(contents) || change != Change::none || runs_differ;
  if (points_differ) name_runs();
  if (first) emit opened(path);
  update_ceilings(contents);
  if (runs_differ) emit runs_changed();
  if (points_differ) announce_points();
  resume_gathering();
  const bool running =
      std::ranges::any_of(contents.runs, [](const RunSummary& run) { return run.state == StoredRunState::running; });
  if (running) follow(path);
}

Workspace::Change Workspace::update_runs(FileContents& contents) {
  const auto of_file = [&](const LoadedRun& run) { return run.info->file == contents.path; };
  const auto place = std::ranges::find_if(runs_, of_file) - runs_.begin();
  std::map<std::int64_t, LoadedRun> before;
  for (LoadedRun& run : runs_) {
    if (of_file(run)) before.emplace(run.info->summary.id, std::move(run));
  }
  std::erase_if(runs_, [](const LoadedRun& run) { return run.info == nullptr; });
  Change change = before.size() == contents.runs.size() ? Change::none : Change::runs;
  std::vector<LoadedRun> now;
  for (const RunSummary& summary : contents.runs) {
    RunInfo info{.file = contents.path, .summary = summary, .stamp = contents.stamp};
    const auto known = before.find(summary.id);
    if (known == before.end() || known->second.info->summary.uid != summary.uid) {
      now.push_back(
          {std::make_shared<RunInfo>(std::move(info)), RunPoints(), initially_visible(contents.path, summary)});
      change = Change::runs;
      if (summary.points > 0 && !contents.points.contains(summary.id)) {  // deleted and restored during the read
        stamps_.erase(contents.path);
        read_in_background(contents.path);
      }
    } else {
      LoadedRun& run = now.emplace_back(std::move(known->second));
      const RunSummary& was = run.info->summary;
      if (was.annotations.hidden != summary.annotations.hidden) run.visible = !summary.annotations.hidden;
      if (was.state != summary.state || was.finished_at != summary.finished_at || was.points != summary.points ||
          was.annotations != summary.annotations) {
        info.title = run.info->title;
        info.device = run.info->device;
        run.info = std::make_shared<RunInfo>(std::move(info));
        change = Change::runs;
      }
    }
    const auto read = contents.points.find(summary.id);
    if (read == contents.points.end()) continue;
    RunPoints& points = now.back().points;
    const bool equal = points.size() == read->second.size() && read->second.is_subset_of(points);
    if (!equal && change == Change::none) change = Change::points;
    points = std::move(read->second);
  }
  runs_.insert(runs_.begin() + place, std::make_move_iterator(now.begin()), std::make_move_iterator(now.end()));
  return change;
}

void Workspace::update_ceilings(const FileContents& contents) {
  const auto is_of_file = [&](const FileCeilings& each) { return each.file == contents.path; };
  std::vector<std::string> before;
  for (const FileCeilings& each : ceilings_) {
    if (is_of_file(each)) before.push_back(each.set.uid);
  }
  std::vector<std::string> now;
  for (const StoredCeilings& set : contents.ceilings) now.push_back(set.uid);
  if (before == now) return;
  std::erase_if(ceilings_, is_of_file);
  for (const StoredCeilings& set : contents.ceilings) ceilings_.push_back({contents.path, set});
  emit ceilings_changed();
}

bool Workspace::update_noise(const FileContents& contents) {
  std::vector<StoredNoise>& held = noise_[contents.path];
  if (std::ranges::equal(held, contents.noise, {}, &StoredNoise::uid, &StoredNoise::uid)) return false;
  held = contents.noise;
  return true;
}

void Workspace::name_runs() {
  checked_points_.reset();
  std::vector<StoredNoise> noise;
  for (const auto& [path, of_file] : noise_) noise.insert(noise.end(), of_file.begin(), of_file.end());
  std::vector<QString> titles = distinct_titles(runs_);
  const RunCopies originals(runs_);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].info->summary.annotations.name.empty()) continue;  // keep the name that the user gave the copy
    if (const auto of = originals.of(i, false)) titles[i] = qtext(msg::run_list::copy_of{titles[*of].toStdString()});
  }
  std::vector<analysis::Run> devices;
  devices.reserve(runs_.size());
  for (const LoadedRun& run : runs_) devices.push_back(analysis_run(*run.info));
  analysis::name_devices(devices);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const RunInfo& info = *runs_[i].info;
    const auto own_noise = find_noise_model(info.summary, noise);
    if (info.title == titles[i] && info.device == devices[i].device && info.noise == own_noise) continue;
    RunInfo named = info;
    named.noise = own_noise;
    named.title = titles[i];
    named.device = devices[i].device;
    runs_[i].info = std::make_shared<RunInfo>(std::move(named));
  }
}

std::vector<PointSet::Part> Workspace::checked_parts() const {
  std::vector<PointSet::Part> shown;
  const RunCopies originals(runs_);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const LoadedRun& run = runs_[i];
    if (run.visible && !originals.of(i, true)) shown.push_back({run.info, &run.points});
  }
  return shown;
}

std::shared_ptr<const PointSet> Workspace::checked() const {
  if (checked_ == nullptr) checked_ = make_background_deleted<PointSet>(checked_parts());
  return checked_;
}

std::shared_ptr<const PointSet> Workspace::visible() const {
  if (query_.empty()) return checked();
  if (visible_ == nullptr) {
    const std::shared_ptr<const PointSet> all = checked();
    visible_ = make_background_deleted<PointSet>(*all, query_.rows(all->table()));
  }
  return visible_;
}

Message Workspace::set_query(const QString& text) {
  auto query = analysis::PointQuery::parse(text.toStdString(), checked()->table());
  if (!query) return query.error();
  const QString words = text.trimmed();
  if (words == query_text_) return {};
  query_ = std::move(query).value();
  query_text_ = words;
  visible_.reset();
  emit query_changed();
  gather();
  return {};
}

void Workspace::gather() {
  gather_.discard();
  points_pending_ = false;
  if (checked_points() <= max_synchronous_points || (checked_ != nullptr && query_.empty())) {
    emit points_changed();
    return;
  }
  gather_.request({.parts = checked_ == nullptr ? checked_parts() : std::vector<PointSet::Part>(),
                   .query = query_,
                   .checked = checked_,
                   .visible = nullptr},
                  always_in_background);
  points_pending_ = true;
  emit points_pending();
}

void Workspace::end_gathering() {
  points_pending_ = false;
  emit points_changed();
}

void Workspace::resume_gathering() {
  if (points_pending_ && !is_gathering()) gather();
}

void Workspace::announce_points() {
  checked_points_.reset();
  checked_.reset();
  visible_.reset();
  gather();
}

std::size_t Workspace::checked_points() const {
  if (checked_points_) return *checked_points_;
  std::size_t points = 0;
  for (const PointSet::Part& part : checked_parts()) points += part.points->size();
  checked_points_ = points;
  return points;
}

void Workspace::set_run_visible(std::size_t run, bool visible) {
  if (run >= runs_.size() || runs_[run].visible == visible) return;
  runs_[run].visible = visible;
  announce_points();
}

void Workspace::show_only(std::size_t run) {
  for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].visible = i == run;
  checked_points_.reset();
  emit runs_changed();
  announce_points();
}

}  // namespace attnscope::ui
