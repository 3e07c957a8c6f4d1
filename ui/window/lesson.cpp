// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson.h"

#include <QDesktopServices>
#include <QFileDialog>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>
#include <QUrl>
#include <exception>
#include <string>
#include <utility>

#include "messages/language.h"
#include "messages/window.h"
#include "profiler/lesson/lesson_files.h"
#include "storage/run_store.h"
#include "ui/process/save_file.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

namespace lesson = analysis::lesson;

QString language_key() {
  return QStringLiteral("lesson/language");
}

/// Returns a fixed path: the browser stores a reader's answers per path.
QString lesson_folder() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) + QStringLiteral("/attnscope/lesson");
}

}  // namespace

QStringList lesson_page_ids() {
  QStringList ids;
  for (const lesson::Screen& screen : lesson::load_lesson("en", custom_lesson_texts()).screens) {
    ids << QString::fromStdString(screen.id);
  }
  return ids << QStringLiteral("claims") << QStringLiteral("results") << QStringLiteral("glossary");
}

QStringList lesson_languages() {
  QStringList all;
  for (const std::string_view language : lesson::languages) all << QString::fromStdString(std::string(language));
  return all;
}

QString lesson_language() {
  const QStringList all = lesson_languages();
  for (const QString& wanted : {QSettings().value(language_key()).toString(), qtext(msg::language::code{})}) {
    if (all.contains(wanted)) return wanted;
  }
  return QStringLiteral("en");
}

void remember_lesson_language(const QString& language) {
  QSettings().setValue(language_key(), language);
}

LessonData collect_lesson_data(const Workspace& workspace) {
  LessonData all{.points = workspace.checked(), .ceilings = {}, .data = {}};
  for (const FileCeilings& each : workspace.ceilings()) all.ceilings.push_back(each.set);
  QStringList names;
  for (const QString& file : workspace.files()) names << workspace.file_name(file);
  all.data = names.join(QStringLiteral(", "));
  return all;
}

LessonFile write_lesson_file(const LessonData& points, const LessonRequest& request) {
  try {
    lesson::Evidence evidence = lesson::make_evidence(points.points->table());
    if (const StoredCeilings* rates = newest_rates(points.ceilings, evidence.gpu)) evidence.ceilings = rates->ceilings;
    for (const StoredCeilings& each : points.ceilings)
      evidence.all_ceilings.push_back({each.device_name, each.ceilings});
    const WrittenLesson written = write_lesson(
        (request.folder.isEmpty() ? lesson_folder() : request.folder).toStdString(), custom_lesson_texts(), evidence,
        {.language = request.language.toStdString(),
         .page{.data = points.data.toStdString(),
               .start = request.page.toStdString(),
               .theme = request.theme.toStdString()}});
    LessonFile file{.path = QString::fromStdString(written.pages.front().string()), .problems = {}, .error = {}};
    for (const Message& problem : written.problems) file.problems << one_line(qtext(problem));
    return file;
  } catch (const std::exception& failure) {
    return {.path = {}, .problems = {}, .error = one_line(QString::fromUtf8(failure.what()))};
  }
}

bool open_in_browser(const QString& path) {
  return QDesktopServices::openUrl(QUrl::fromLocalFile(path));
}

namespace {

LessonFile write_task(const std::pair<LessonData, LessonRequest>& task, const StaleCheck& /*outdated*/) {
  return write_lesson_file(task.first, task.second);
}

}  // namespace

LessonLauncher::LessonLauncher(Workspace& workspace, Banner& banner, QStatusBar& status, QWidget* window)
    : QObject(window),
      workspace_(workspace),
      banner_(banner),
      status_(status),
      window_(window),
      shown_(write_task, [this](const LessonFile& written) { show_written(written); }),
      saved_(write_task, [this](const LessonFile& written) {
        show_outcome(qtext(msg::window::written{.file = one_line(written.path).toStdString()}), written.error);
      }) {
  // Queued: runs are added after opening_changed().
  connect(&workspace_, &Workspace::opening_changed, this, &LessonLauncher::write_when_loaded, Qt::QueuedConnection);
}

void LessonLauncher::show() {
  if (workspace_.files().isEmpty() && !workspace_.is_loading()) {
    for (const QString& sample : lesson_samples()) workspace_.open(sample);
  }
  wanted_ = true;
  write_when_loaded();
}

void LessonLauncher::write_when_loaded() {
  if (!wanted_ || !workspace_.opening().isEmpty()) return;
  wanted_ = false;
  const bool dark = plot_colors(window_->palette()).dark;
  const LessonRequest request{.theme = dark ? QStringLiteral("dark") : QStringLiteral("light")};
  shown_.request({collect_lesson_data(workspace_), request}, always_in_background);
}

void LessonLauncher::show_written(const LessonFile& written) {
  if (!written.error.isEmpty()) return show_outcome({}, written.error);
  const std::string file = one_line(written.path).toStdString();
  const bool opened = open_in_browser(written.path);
  show_outcome(opened ? qtext(msg::window::lesson_opened{.file = file}) : QString(), {});
  for (const QString& problem : written.problems) banner_.add(Banner::Topic::write, problem);
  if (opened) return;
  // The banner drops offers that refer to no open file.
  banner_.offer(Banner::Topic::write, qtext("Cannot start a browser. The lesson is in {}", file),
                workspace_.files().value(0), qtext(msg::window::save_lesson{}), [this] { save(); });
}

void LessonLauncher::save() {
  const QString folder =
      QFileDialog::getExistingDirectory(window_, qtext(msg::window::save_lesson_title{}), default_path());
  if (folder.isEmpty()) return;
  saved_.request({collect_lesson_data(workspace_), LessonRequest{.folder = folder}}, always_in_background);
}

void LessonLauncher::show_outcome(const QString& words, const QString& error) {
  banner_.clear(Banner::Topic::write);
  if (!error.isEmpty()) return banner_.add(Banner::Topic::write, error);
  constexpr int message_ms = 30'000;  // milliseconds
  status_.showMessage(words, message_ms);
}

}  // namespace attnscope::ui
