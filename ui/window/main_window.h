// SPDX-License-Identifier: GPL-3.0-or-later
// Main window: pages in tabs, panels in docks, menus and banner. Uses most pages through the Page interface only.
#pragma once

#include <QFileSystemWatcher>
#include <QJsonObject>
#include <QMainWindow>
#include <QSet>
#include <QStringList>
#include <QTabWidget>
#include <QTimer>
#include <map>
#include <optional>
#include <utility>
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
class LessonLauncher;
class ProblemPage;
class QueryBar;
class RunsPanel;
class ElidedLabel;
class TileHeatmapPage;
struct ExportKind;

/// Returns the initial window size for a screen, so that frame and panels fit.
[[nodiscard]] QSize default_window_size(const QSize& available);

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `remember`: restores and saves theme and recent files. Other state is saved by Session.
  explicit MainWindow(bool remember, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens files in the background; the recorded sample if there are none.
  void open_files(const QStringList& files);
  /// Ignores unknown ids.
  void show_page(const QString& id);
  /// Returns null for an unknown id.
  [[nodiscard]] Page* page(const QString& id) const;
  [[nodiscard]] QString page_id() const;
  /// Selects the point on all pages that have it and shows its details.
  void select(const ShownPoint& point);
  /// Keeps panels open in a narrow window.
  void keep_panels_open() {
    hide_panels_initially_ = false;
    place_details(true);
  }
  /// Shows a result in the status bar, or an error in the banner.
  void show_result(const QString& words, const QString& error, Banner::Topic topic = Banner::Topic::write);
  void set_theme(ThemeChoice choice);
  /// Saves the plot of the current page; the suffix sets the format.
  void save_plot_to(const QString& path);
  /// Returns files, page, page choices (zoom, pins, what-if), filter, visible runs, selected point, panels, window
  /// geometry and the collect form.
  [[nodiscard]] QJsonObject view();
  /// Entries that are missing leave the state unchanged; files that are not listed are closed.
  void restore(const QJsonObject& view);
  void explore_algorithm(const std::string& name);

  /// Manifest of a user-defined kernel to load in the next window; empty if none. This window does not load it, because
  /// its workers use the known kernels.
  [[nodiscard]] const QString& pending_kernel() const { return kernel_to_open_; }
  /// Returns true if the window was active when it closed to load that kernel.
  [[nodiscard]] bool was_active() const { return was_active_; }

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] Banner& banner() { return *banner_; }
  [[nodiscard]] QueryBar& query() const { return *query_; }

 signals:
  void window_requested();
  /// The user chose another language: requests a new window with the same view.
  void language_changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_center();
  /// Gives the collect panel the height of its content; without room for the runs above it, both are tabs.
  void fit_collect_dock();
  void build_docks();
  void build_status_bar();
  void refresh_status();
  void show_selected(const std::optional<ShownPoint>& point);
  void build_menus();
  void build_file_menu();
  void build_edit_menu();
  void build_view_menu();
  void build_help_menu();
  void follow_workspace();
  void add_sample_banner();
  void follow_collection();
  void follow_edits();
  void build_watchers();
  void watch_files();
  /// Rereads files that were appended to or replaced.
  void check_files();
  void check_kernel_files();
  /// Offers to show a finished sweep once it has been read.
  void offer_finished_sweep();
  void open_requested(const QStringList& files);
  /// Shows an import dialog for each table, one after the other, and opens the results.
  void import_files(QStringList tables);
  void add_recent_file(const QString& path);
  void show_recent_files();
  void build_exports();
  /// Adds the actions that save, or those that copy.
  void add_exports(QMenu& menu, bool saves);
  /// Shows a message if the current page has nothing of that kind.
  [[nodiscard]] bool can_export(const ExportKind& kind);
  void copy_picture(Page& page);
  void copy_values(Page& page);
  void copy_command(Page& page);
  void save_plot(Page& page);
  void save_values(Page& page);
  void capture_panels();
  void restore_files(const QJsonObject& view);
  void restore_panels(const QJsonObject& view);
  void select_pending();
  /// Moves the filter between its row above the tabs and, in a low window, the end of the row of the tabs.
  void place_filter();
  /// Adds the entries of every page's context menu.
  void extend_page_menu(Page& page, QMenu& menu);
  void show_plot_table();
  void open_samples(const QStringList& samples);
  void show_details(const Page* page, const ShownPoint& point);
  void prepare_collection(const QString& preset, const QStringList& axes);
  /// Places Details right of the page, or below it as a strip. `restored`: the docks were restored.
  void place_details(bool restored = false);
  void update_title();
  void open_dialog();
  /// Closes this window; the next one loads the kernel. Shows an error if the manifest is invalid.
  void open_kernel(const QString& manifest);
  void handle_saved_kernels(const QStringList& files);
  [[nodiscard]] bool is_measuring() const;
  /// Emits language_changed() once no measurement is running.
  void change_language();
  void clear_details_of(const QString& path);
  void confirm_stop(const QString& title, const QString& question, const QString& kept_text);
  void explore_selected();
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
  std::optional<Sweep> sweep_;  ///< started from the panel, not yet finished and read
  Workspace workspace_;
  QFileSystemWatcher file_watcher_;
  QTimer files_timer_;
  std::map<QString, std::pair<FileStamp, FileStamp>> known_files_;  ///< stamps of each file and its write-ahead log
  QFileSystemWatcher kernel_watcher_;
  QTimer kernels_timer_;
  QSet<QString> written_kernel_files_;
  Banner* banner_ = nullptr;
  QueryBar* query_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  std::vector<Page*> pages_;          ///< in the order of page_kinds()
  ExplorerPage* explorer_ = nullptr;  ///< a member of pages_, as the next two
  TileHeatmapPage* map_ = nullptr;
  std::vector<ProblemPage*> problem_pages_;
  RunsPanel* runs_ = nullptr;
  struct Export {
    QAction* action;
    const ExportKind* kind;
    bool saves;
  };
  std::vector<Export> exports_;
  CollectPanel* collect_ = nullptr;
  DetailsPanel* details_ = nullptr;
  ElidedLabel* open_files_label_ = nullptr;
  ElidedLabel* selected_label_ = nullptr;  ///< the selected point
  ElidedLabel* values_label_ = nullptr;    ///< number of visible points by provenance, and their GPUs
  QDockWidget* details_dock_ = nullptr;
  bool filter_pending_ = false;  ///< place_filter() is queued
  bool filter_in_tabs_ = false;
  struct Selected {
    QString file;
    qint64 point = 0;
  };
  QJsonObject panels_;
  QJsonObject geometry_;
  std::optional<Selected> pending_selection_;
  bool hide_panels_initially_ = true;  ///< no saved state of panels
  QMenu* recent_ = nullptr;
  QActionGroup* theme_actions_ = nullptr;
  LessonLauncher* lesson_ = nullptr;
};

}  // namespace attnscope::ui
