// SPDX-License-Identifier: GPL-3.0-or-later
// The window: pages in tabs, panels in docks, menus, and a banner for what went wrong. It uses most of its pages
// by the Page interface alone.
#pragma once

#include <QMainWindow>
#include <QStringList>
#include <QTabWidget>
#include <map>
#include <optional>
#include <vector>

#include "ui/pages/page.h"
#include "ui/runs/workspace.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"

class QActionGroup;
class QMenu;

namespace attnscope::ui {

class CollectPanel;
class DetailsPanel;
class ExplorerPage;
class LessonInBrowser;
class ProblemPage;
class QueryBar;
class RecentFiles;
class RunsPanel;
class TakeAlong;
class TextSize;
class TileHeatmapPage;
class WindowView;

/// The size of a first window on a screen with that much room for windows: frame and panels leave it whole.
[[nodiscard]] QSize default_window_size(const QSize& available);

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `remember`: takes up and keeps theme and recent files. What it shows is kept by a Session.
  explicit MainWindow(bool remember, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens files in the background; with none, the recorded sample.
  void open_files(const QStringList& files);
  /// By its id; an unknown one changes nothing.
  void show_page(const QString& id);
  /// Null when there is none of that id.
  [[nodiscard]] Page* page(const QString& id) const;
  [[nodiscard]] QString page_id() const;
  /// Marks it on all pages, with its details on those that show it.
  void select(const ShownPoint& point);
  /// Panels stay open when the window is shown first, however narrow it is.
  void keep_panels() { hides_at_first_ = false; }
  /// What was written stands in the status bar for a while, an error in the banner.
  void say_written(const QString& words, const QString& error, Banner::Topic topic = Banner::Topic::write);
  void set_theme(ThemeChoice choice);
  /// The pages that explore turn to it: a kernel that the window was given.
  void explore_algorithm(const std::string& name);

  /// A user's kernel that a next window is to know; empty where none was asked for. This window does not learn of it:
  /// its workers look at what is known.
  [[nodiscard]] const QString& kernel_to_open() const { return kernel_to_open_; }
  /// Whether the window ended for it while somebody worked with it, not with an editor beside it.
  [[nodiscard]] bool was_active() const { return was_active_; }
  /// Whether it ended for the program to start again, with what it showed.
  [[nodiscard]] bool starts_again() const { return starts_again_; }

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] DetailsPanel* details() const { return details_; }
  [[nodiscard]] CollectPanel* collect() const { return collect_; }
  [[nodiscard]] RunsPanel* runs_panel() const { return runs_; }
  [[nodiscard]] TextSize& text_size() const { return *text_size_; }
  [[nodiscard]] Banner& banner() { return *banner_; }
  [[nodiscard]] QueryBar& query() const { return *query_; }
  [[nodiscard]] TakeAlong& take_along() { return *take_along_; }
  [[nodiscard]] WindowView& shown_view() const { return *shown_view_; }

 signals:
  /// One more is wanted, beside this one.
  void window_wanted();

 protected:
  void showEvent(QShowEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_center();
  void build_docks();
  void build_menus();
  void build_file_menu();
  void build_edit_menu();
  void build_view_menu();
  void build_help_menu();
  void follow_workspace();
  void follow_collection();
  void follow_edits();
  /// Once it is read, a bar offers to turn to what a sweep has measured.
  void offer_sweep();
  void open_by_hand(const QStringList& files);
  /// Shows what becomes of each table, one after the other, imports it where that is wanted, and opens the result.
  void import_files(QStringList tables);
  void open_samples(const QStringList& samples);
  void show_details(const Page* page, const ShownPoint& point);
  /// Of the page that is shown: what was selected last, where it shows that, else what was selected on it.
  void show_details_of_page();
  void name_window();
  void open_dialog();
  /// Ends this window for the next one, which knows the kernel; says why where it cannot.
  void open_kernel(const QString& statement);
  /// Files of kernels: a saved statement is loaded again, a saved source compiled.
  void follow_saved(const QStringList& files);
  [[nodiscard]] bool measures() const;
  void forget_details_of(const QString& path);
  void ask_before_stopping(const QString& title, const QString& question, const QString& what_stays);
  /// The point whose details are shown.
  void explore_selected();
  /// Turns to the page that explores, which takes the point over or pins it.
  void explore(bool (ExplorerPage::*take)(const PointSpec&, const QString&), const PointSpec& spec, const QString& gpu);
  void show_map(const QString& file, qint64 point);
  [[nodiscard]] Page* current_page() const;
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const;

  bool remember_;
  bool closes_when_stopped_ = false;
  struct Sweep {
    QString file;
    std::int64_t run = 0;
  };
  QString kernel_to_open_;
  bool was_active_ = true;
  bool starts_again_ = false;
  std::optional<Sweep> sweep_;  ///< started from the panel, and not yet seen to its end
  Workspace workspace_;
  Banner* banner_ = nullptr;
  QueryBar* query_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  std::vector<Page*> pages_;          ///< as page_kinds() has them
  ExplorerPage* explorer_ = nullptr;  ///< one of them, as are these
  TileHeatmapPage* map_ = nullptr;
  std::vector<ProblemPage*> problem_pages_;
  std::map<const Page*, ShownPoint> selected_;  ///< what each page's details are of
  RunsPanel* runs_ = nullptr;
  TakeAlong* take_along_ = nullptr;
  CollectPanel* collect_ = nullptr;
  DetailsPanel* details_ = nullptr;
  QDockWidget* details_dock_ = nullptr;
  TextSize* text_size_ = nullptr;
  WindowView* shown_view_ = nullptr;
  bool hides_at_first_ = true;  ///< nobody has said which panels are open
  RecentFiles* recent_ = nullptr;
  QActionGroup* theme_actions_ = nullptr;
  LessonInBrowser* lesson_ = nullptr;
};

}  // namespace attnscope::ui
