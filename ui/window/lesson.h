// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson is a page: it is written of the points that are open, below the user's cache, and shown by the browser.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "ui/process/live.h"
#include "ui/runs/workspace.h"
#include "ui/widgets/banner.h"

class QStatusBar;

namespace attnscope::ui {

/// Slugs of the lesson's pages, of the built-in texts and the user's own.
[[nodiscard]] QStringList lesson_page_ids();
/// "en", "zh"
[[nodiscard]] QStringList lesson_languages();
/// What was asked for the last time (remember_lesson_language()), else the window's, else English.
[[nodiscard]] QString lesson_language();
void remember_lesson_language(const QString& language);

struct LessonRequest {
  QString page = {};  ///< a slug, or a page's number; empty: where the reader was
  QString language = lesson_language();
  QString theme = {};  ///< "dark", "light"; empty: the system's
};

/// What the lesson stands on: the ticked runs, as they are now.
struct LessonPoints {
  std::shared_ptr<const PointSet> points;
  std::vector<StoredCeilings> ceilings;
  QString data;  ///< names of the files
};
[[nodiscard]] LessonPoints lesson_points(const Workspace& workspace);

struct LessonFile {
  QString path;
  QStringList problems;  ///< of the user's own texts, a line each
  QString error;         ///< one line; empty: it is written
};
/// Into `folder`; empty: the one below the cache. Blocking, in any thread. Never throws.
[[nodiscard]] LessonFile write_lesson_file(const LessonPoints& points, const LessonRequest& request,
                                           const QString& folder = {});

/// False where no browser could be started.
[[nodiscard]] bool open_in_browser(const QString& path);

/// What a lesson is written of, and where to; without a folder below the user's cache.
struct LessonTask {
  LessonPoints points;
  LessonRequest request;
  QString folder;
};

/// For a window: the lesson of what is open there.
class LessonInBrowser : public QObject {
  Q_OBJECT
 public:
  /// What went well is said in the status bar, what did not in the banner.
  LessonInBrowser(Workspace& workspace, Banner& banner, QStatusBar& status, QWidget* window);

  /// Once what is being opened has been read; opens the recorded samples where there is no file.
  void show();
  /// Into a folder that is asked for: for who has no browser here.
  void save();

 private:
  void write_when_read();
  void tell(const LessonFile& written);
  void say(const QString& words, const QString& error);

  Workspace& workspace_;
  Banner& banner_;
  QStatusBar& status_;
  QWidget* window_;
  bool wanted_ = false;
  Live<LessonTask, LessonFile> shown_;
  Live<LessonTask, LessonFile> saved_;
};

}  // namespace attnscope::ui
