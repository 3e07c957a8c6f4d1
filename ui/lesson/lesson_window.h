// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson's window: steps, claims and results beside a list of them, for one learner or, with F11, for a room.
#pragma once

#include <QMainWindow>
#include <QTimer>
#include <map>
#include <memory>

#include "ui/lesson/lesson_answers.h"
#include "ui/lesson/lesson_data.h"
#include "ui/lesson/step_view.h"
#include "ui/runs/workspace.h"

class QAction;
class QComboBox;
class QLabel;
class QListWidget;
class QStackedWidget;
class QToolBar;

namespace attnscope::ui {

class ElidedLabel;

class LessonWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `remember`: answers, language, size of the text and the page, from one start to the next.
  LessonWindow(Workspace& workspace, bool remember, QWidget* parent = nullptr);

  /// A step by its number or slug, or "claims" or "results"; an unknown one changes nothing and gives false.
  bool show_page(const QString& id);
  [[nodiscard]] QString page_id() const;
  [[nodiscard]] LessonPage* page() const;
  /// "en", "zh"; an unknown one changes nothing.
  void set_language(const QString& language);
  [[nodiscard]] QString language() const { return language_; }
  void set_text_scale(double scale);
  [[nodiscard]] double text_scale() const { return scale_; }
  void set_presenting(bool on);
  [[nodiscard]] bool presenting() const { return presenting_; }
  [[nodiscard]] const LessonData& data() const { return *data_; }
  [[nodiscard]] LessonAnswers& answers() { return answers_; }
  /// What was wrong with a teacher's own texts; empty when nothing was.
  [[nodiscard]] QString problems() const;

 signals:
  void explore_wanted(const attnscope::PointSpec& spec, const QString& gpu);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build_bar();
  void add_keys();
  /// All pages anew: other texts, points, colours or letters.
  void rebuild();
  void make_page(int place);
  /// Letters of a larger window are larger: 1 up to 1920x1080, 2 at 3840x2160, in steps of a quarter.
  [[nodiscard]] double window_scale() const;
  void go(int by);
  void turn_to(int place);

  Workspace& workspace_;
  bool remember_;
  LessonAnswers answers_;
  std::unique_ptr<LessonData> data_;
  QString language_;
  double scale_ = 1.15;
  double own_scale_ = 1.15;  ///< of the learner's, while it is shown to a room
  double own_size_;          ///< of the system's font, in points
  double built_scale_ = 1;   ///< the window's, that the pages were made with
  bool presenting_ = false;
  QTimer soon_;
  QToolBar* bar_ = nullptr;
  QComboBox* languages_ = nullptr;
  QAction* present_ = nullptr;
  ElidedLabel* keys_ = nullptr;
  QListWidget* list_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  QLabel* problems_ = nullptr;
  std::vector<QString> ids_;
  std::vector<LessonPage*> made_;      ///< null: not looked at yet
  std::map<QString, PageState> kept_;  ///< of pages that were made before and are not yet made anew, by id
};

/// Ids that LessonWindow::show_page() takes, of the built-in texts and the user's own.
[[nodiscard]] QStringList lesson_page_ids();
/// The recorded samples that the lesson stands on where nothing is open.
[[nodiscard]] QStringList lesson_samples();

}  // namespace attnscope::ui
