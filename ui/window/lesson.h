// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the lesson with the open points as a web page into the user's cache and opens it in the browser.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <memory>
#include <utility>
#include <vector>

#include "ui/process/background_task.h"
#include "ui/runs/workspace.h"
#include "ui/widgets/banner.h"

class QStatusBar;

namespace attnscope::ui {

/// Returns the slugs of the lesson's pages, built-in and the user's own.
[[nodiscard]] QStringList lesson_page_ids();
/// Returns "en", "zh".
[[nodiscard]] QStringList lesson_languages();
/// Returns the language used last (remember_lesson_language()), else the window's, else English.
[[nodiscard]] QString lesson_language();
void remember_lesson_language(const QString& language);

struct LessonRequest {
  QString page = {};  ///< slug or number of a page; empty: the last page read
  QString language = lesson_language();
  QString theme = {};   ///< "dark", "light"; empty: the system's
  QString folder = {};  ///< empty: the user's cache
};

/// Data of a lesson: points of the visible runs, ceilings and file names.
struct LessonData {
  std::shared_ptr<const PointSet> points;
  std::vector<StoredCeilings> ceilings;
  QString data;
};
[[nodiscard]] LessonData collect_lesson_data(const Workspace& workspace);

struct LessonFile {
  QString path;
  QStringList problems;  ///< problems in the user's own texts, one line each
  QString error;         ///< one line; empty on success
};
/// Blocking, thread-safe, never throws.
[[nodiscard]] LessonFile write_lesson_file(const LessonData& points, const LessonRequest& request);

[[nodiscard]] bool open_in_browser(const QString& path);

/// Shows and saves the lesson for a window.
class LessonLauncher : public QObject {
  Q_OBJECT
 public:
  /// Results are shown in the status bar, errors in the banner.
  LessonLauncher(Workspace& workspace, Banner& banner, QStatusBar& status, QWidget* window);

  /// Opens the lesson once all files have been read; opens the recorded samples if there is no file.
  void show();
  /// Saves the lesson into a folder that the user chooses.
  void save();

 private:
  void write_when_loaded();
  void show_written(const LessonFile& written);
  void show_outcome(const QString& words, const QString& error);

  Workspace& workspace_;
  Banner& banner_;
  QStatusBar& status_;
  QWidget* window_;
  bool wanted_ = false;
  /// Lessons written in the background.
  using Task = BackgroundTask<std::pair<LessonData, LessonRequest>, LessonFile>;
  Task shown_;
  Task saved_;
};

}  // namespace attnscope::ui
