// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QMainWindow>
#include <QStringList>
#include <QTabWidget>

#include "ui/theme.h"
#include "ui/workspace.h"

class QActionGroup;
class QFrame;
class QMenu;

namespace attnscope::ui {

class CollectPanel;
class DetailsPanel;
class IoCurvePage;
class PointsPage;
class TileHeatmapPage;

enum class PageId { io, tiles, table };

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `remember`: restores and saves geometry, theme and recent files.
  explicit MainWindow(bool remember, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens files in the background; with none, the recorded sample.
  void open_files(const QStringList& files);
  void show_page(PageId page);
  void set_theme(ThemeChoice choice);
  /// The plot of the page shown, as PNG, SVG or PDF by the name's ending. An error goes into the banner.
  void save_plot(const QString& path);
  /// The ticked runs of all files as one table. An error goes into the banner.
  void save_csv(const QString& path);

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] IoCurvePage* io_page() const { return io_; }
  [[nodiscard]] TileHeatmapPage* tiles_page() const { return tiles_; }
  [[nodiscard]] PointsPage* points_page() const { return points_; }
  [[nodiscard]] DetailsPanel* details() const { return details_; }
  [[nodiscard]] CollectPanel* collect() const { return collect_; }
  [[nodiscard]] QString banner_text() const;
  void show_banner(const QString& message);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_pages();
  void build_docks();
  void build_menus();
  void build_banner();
  void follow_collection();
  void show_details(const ShownPoint& point);
  void update_status();
  void refresh_recent();
  void remember_file(const QString& path);
  void open_dialog();
  void export_plot();
  void export_csv_file();
  void say_written(const QString& path, const QString& error);
  void show_about();
  void show_shortcuts();
  void show_explanation();

  bool remember_;
  Workspace workspace_;
  QTabWidget* tabs_ = nullptr;
  IoCurvePage* io_ = nullptr;
  TileHeatmapPage* tiles_ = nullptr;
  PointsPage* points_ = nullptr;
  CollectPanel* collect_ = nullptr;
  DetailsPanel* details_ = nullptr;
  QDockWidget* details_dock_ = nullptr;
  QFrame* banner_ = nullptr;
  QLabel* banner_label_ = nullptr;
  QLabel* status_files_ = nullptr;
  QLabel* status_values_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QMenu* view_menu_ = nullptr;
  QActionGroup* theme_actions_ = nullptr;
};

}  // namespace attnscope::ui
