// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/main_window.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QStyle>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "storage/exchange/export.h"
#include "ui/format.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/points_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/save_file.h"

namespace attnscope::ui {
namespace {

constexpr int most_recent_files = 8;
constexpr int state_version = 1;
constexpr QSize export_size{1100, 720};

}  // namespace

MainWindow::MainWindow(bool remember, QWidget* parent) : QMainWindow(parent), remember_(remember) {
  setWindowTitle(QStringLiteral("Attnscope"));
  setAcceptDrops(true);
  setDockOptions(AnimatedDocks | AllowTabbedDocks | AllowNestedDocks);
  build_banner();
  build_pages();
  build_docks();
  build_menus();
  follow_collection();
  resize(1280, 800);

  status_files_ = new QLabel(this);
  status_values_ = new QLabel(this);
  statusBar()->addWidget(status_files_, 1);
  statusBar()->addPermanentWidget(status_values_);

  connect(&workspace_, &Workspace::points_changed, this, &MainWindow::update_status);
  connect(&workspace_, &Workspace::opened, this, &MainWindow::remember_file);
  connect(&workspace_, &Workspace::open_failed, this,
          [this](const QString&, const QString& reason) { show_banner(reason); });

  if (remember_) {
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray(), state_version);
    set_theme(parse_theme(settings.value(QStringLiteral("window/theme")).toString()));
    tabs_->setCurrentIndex(settings.value(QStringLiteral("window/page"), 0).toInt());
    details_dock_->hide();
  }
  refresh_recent();
  update_status();
}

MainWindow::~MainWindow() = default;

void MainWindow::build_banner() {
  auto* central = new QWidget(this);
  auto* column = new QVBoxLayout(central);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  banner_ = new QFrame(central);
  banner_->setObjectName(QStringLiteral("banner"));
  banner_->setStyleSheet(QStringLiteral(
      "QFrame#banner { background: #fdecd2; border-bottom: 1px solid #d9a441; }"
      "QFrame#banner QLabel { color: #4a3200; } QFrame#banner QToolButton { color: #4a3200; border: none; }"));
  auto* row = new QHBoxLayout(banner_);
  row->setContentsMargins(12, 6, 6, 6);
  banner_label_ = new QLabel(banner_);
  banner_label_->setWordWrap(true);
  banner_label_->setTextFormat(Qt::PlainText);
  banner_label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* close = new QToolButton(banner_);
  close->setText(QStringLiteral("✕"));
  close->setToolTip(tr("Dismiss"));
  close->setAccessibleName(tr("Dismiss the message"));
  row->addWidget(banner_label_, 1);
  row->addWidget(close, 0, Qt::AlignTop);
  connect(close, &QToolButton::clicked, banner_, &QWidget::hide);
  banner_->hide();
  column->addWidget(banner_);
  tabs_ = new QTabWidget(central);
  tabs_->setDocumentMode(true);
  column->addWidget(tabs_, 1);
  setCentralWidget(central);
}

void MainWindow::build_pages() {
  io_ = new IoCurvePage(workspace_, tabs_);
  tiles_ = new TileHeatmapPage(workspace_, tabs_);
  points_ = new PointsPage(workspace_, tabs_);
  tabs_->addTab(io_, tr("IO and time vs N"));
  tabs_->addTab(tiles_, tr("Tile heatmap"));
  tabs_->addTab(points_, tr("Table"));
  connect(io_, &IoCurvePage::point_selected, this, &MainWindow::show_details);
  connect(tiles_, &TileHeatmapPage::point_selected, this, &MainWindow::show_details);
  connect(points_, &PointsPage::point_selected, this, &MainWindow::show_details);
}

void MainWindow::build_docks() {
  const auto add_dock = [this](const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(content);
    addDockWidget(area, dock);
    return dock;
  };
  collect_ = new CollectPanel(this);
  details_ = new DetailsPanel(this);
  QDockWidget* runs =
      add_dock(tr("Runs"), QStringLiteral("runs"), new RunsPanel(workspace_, this), Qt::LeftDockWidgetArea);
  QDockWidget* collect = add_dock(tr("Collect"), QStringLiteral("collect"), collect_, Qt::LeftDockWidgetArea);
  details_dock_ = add_dock(tr("Details"), QStringLiteral("details"), details_, Qt::RightDockWidgetArea);
  details_dock_->hide();
  resizeDocks({runs, collect}, {260, 440}, Qt::Vertical);
  resizeDocks({runs}, {290}, Qt::Horizontal);
  resizeDocks({details_dock_}, {340}, Qt::Horizontal);
}

void MainWindow::build_menus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  QAction* open = file->addAction(tr("&Open…"), this, &MainWindow::open_dialog);
  open->setShortcut(QKeySequence::Open);
  file->addAction(tr("Open &sample"), this, [this] {
    const QString sample = recorded_sample();
    if (sample.isEmpty()) {
      show_banner(tr("The recorded sample is not installed. Collect on the simulated device instead."));
    } else {
      workspace_.open(sample);
    }
  });
  recent_menu_ = file->addMenu(tr("Open &recent"));
  file->addSeparator();
  QAction* plot = file->addAction(tr("Export &plot…"), this, &MainWindow::export_plot);
  plot->setShortcut(QKeySequence(QStringLiteral("Ctrl+E")));
  QAction* csv = file->addAction(tr("Export &CSV…"), this, &MainWindow::export_csv_file);
  csv->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+E")));
  file->addSeparator();
  QAction* quit = file->addAction(tr("&Quit"), this, &QWidget::close);
  quit->setShortcut(QKeySequence(QStringLiteral("Ctrl+Q")));

  view_menu_ = menuBar()->addMenu(tr("&View"));
  for (int i = 0; i < tabs_->count(); ++i) {
    QAction* page = view_menu_->addAction(tabs_->tabText(i), this, [this, i] { tabs_->setCurrentIndex(i); });
    page->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
  }
  view_menu_->addSeparator();
  const QList<QDockWidget*> docks = findChildren<QDockWidget*>();
  for (QDockWidget* dock : docks) {
    QAction* toggle = dock->toggleViewAction();
    view_menu_->addAction(toggle);
    if (dock == details_dock_) toggle->setShortcut(QKeySequence(QStringLiteral("F9")));
  }
  view_menu_->addSeparator();
  QMenu* theme = view_menu_->addMenu(tr("&Theme"));
  theme_actions_ = new QActionGroup(this);
  const std::pair<ThemeChoice, QString> choices[] = {
      {ThemeChoice::system, tr("&System")}, {ThemeChoice::light, tr("&Light")}, {ThemeChoice::dark, tr("&Dark")}};
  for (const auto& [choice, text] : choices) {
    QAction* action = theme->addAction(text, this, [this, choice = choice] { set_theme(choice); });
    action->setCheckable(true);
    action->setData(to_string(choice));
    action->setChecked(choice == ThemeChoice::system);
    theme_actions_->addAction(action);
  }

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  QAction* explain = help->addAction(tr("&What am I looking at?"), this, &MainWindow::show_explanation);
  explain->setShortcut(QKeySequence::HelpContents);
  help->addAction(tr("&Keyboard shortcuts"), this, &MainWindow::show_shortcuts);
  help->addSeparator();
  help->addAction(tr("&About Attnscope"), this, &MainWindow::show_about);
}

void MainWindow::follow_collection() {
  connect(collect_, &CollectPanel::collection_started, &workspace_, &Workspace::follow);
  connect(collect_, &CollectPanel::collection_grew, &workspace_, &Workspace::follow);
  connect(collect_, &CollectPanel::collection_ended, &workspace_, &Workspace::stop_following);
  connect(collect_, &CollectPanel::trouble, this, &MainWindow::show_banner);
}

void MainWindow::open_files(const QStringList& files) {
  if (!files.isEmpty()) {
    for (const QString& file : files) workspace_.open(file);
    return;
  }
  const QString sample = recorded_sample();
  if (!sample.isEmpty()) workspace_.open(sample);
}

void MainWindow::show_page(PageId page) {
  tabs_->setCurrentIndex(static_cast<int>(page));
}

void MainWindow::set_theme(ThemeChoice choice) {
  apply_theme(choice);
  for (QAction* action : theme_actions_->actions()) {
    if (action->data().toString() == to_string(choice)) action->setChecked(true);
  }
  if (remember_) QSettings().setValue(QStringLiteral("window/theme"), to_string(choice));
}

void MainWindow::show_banner(const QString& message) {
  banner_label_->setText(message);
  banner_->setAccessibleName(message);
  banner_->show();
}

QString MainWindow::banner_text() const {
  return banner_->isHidden() ? QString() : banner_label_->text();
}

void MainWindow::show_details(const ShownPoint& point) {
  details_->show_point(point);
  details_dock_->show();
}

void MainWindow::update_status() {
  QStringList names;
  for (const QString& file : workspace_.files()) names << QFileInfo(file).fileName();
  status_files_->setText(names.isEmpty() ? tr("No file open") : names.join(QStringLiteral(", ")));
  status_files_->setToolTip(workspace_.files().join(QLatin1Char('\n')));

  std::map<Provenance, std::size_t> count;
  std::set<QString> devices;
  for (const LoadedRun& run : workspace_.runs()) {
    if (!run.visible) continue;
    count[run.info->summary.provenance] += run.points.size();
    if (const std::string& name = run.info->summary.device_name; !name.empty()) {
      devices.insert(QString::fromStdString(name));
    }
  }
  QStringList parts;
  for (const auto& [origin, points] : count) {
    if (points > 0) parts << tr("%1 %2 points").arg(points).arg(to_qstring(attnscope::to_string(origin)));
  }
  const QStringList device_names(devices.begin(), devices.end());
  if (!parts.isEmpty()) parts << device_names.join(QStringLiteral(", "));
  status_values_->setText(parts.join(QStringLiteral(" · ")));
  setWindowTitle(names.isEmpty() ? QStringLiteral("Attnscope")
                                 : QStringLiteral("%1 – Attnscope").arg(names.join(QStringLiteral(", "))));
}

void MainWindow::remember_file(const QString& path) {
  update_status();
  if (!remember_ || path == recorded_sample()) return;
  QSettings settings;
  QStringList recent = settings.value(QStringLiteral("files/recent")).toStringList();
  recent.removeAll(path);
  recent.prepend(path);
  settings.setValue(QStringLiteral("files/recent"), QStringList(recent.mid(0, most_recent_files)));
  refresh_recent();
}

void MainWindow::refresh_recent() {
  recent_menu_->clear();
  const QStringList recent =
      remember_ ? QSettings().value(QStringLiteral("files/recent")).toStringList() : QStringList();
  for (const QString& path : recent) {
    QAction* action =
        recent_menu_->addAction(QFileInfo(path).fileName(), this, [this, path] { workspace_.open(path); });
    action->setToolTip(path);
    action->setStatusTip(path);
  }
  recent_menu_->setEnabled(!recent.isEmpty());
}

void MainWindow::open_dialog() {
  const QStringList files = QFileDialog::getOpenFileNames(this, tr("Open measurements"), {},
                                                          tr("Attnscope files (*.attnscope);;All files (*)"));
  for (const QString& file : files) workspace_.open(file);
}

void MainWindow::export_plot() {
  const bool heatmap = tabs_->currentWidget() == tiles_;
  if (tabs_->currentWidget() == points_ || (heatmap && !tiles_->has_grid())) {
    show_banner(tr("There is no plot on this page; Export CSV writes the table."));
    return;
  }
  const QString stem = heatmap ? tiles_->file_stem() : io_->file_stem();
  QString chosen;
  QString path =
      QFileDialog::getSaveFileName(this, tr("Export plot"), stem + QStringLiteral(".png"),
                                   tr("PNG image (*.png);;SVG drawing (*.svg);;PDF document (*.pdf)"), &chosen);
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) {
    path += chosen.contains(QLatin1String("svg"))   ? QStringLiteral(".svg")
            : chosen.contains(QLatin1String("pdf")) ? QStringLiteral(".pdf")
                                                    : QStringLiteral(".png");
  }
  save_plot(path);
}

void MainWindow::save_plot(const QString& path) {
  const QString suffix = QFileInfo(path).suffix().toLower();
  const auto save = [&](auto* view) {
    if (suffix == QLatin1String("svg")) return view->save_svg(path, export_size);
    if (suffix == QLatin1String("pdf")) return view->save_pdf(path, export_size);
    return view->save_png(path, export_size);
  };
  say_written(path, tabs_->currentWidget() == tiles_ ? save(tiles_->view()) : save(io_->plot()));
}

void MainWindow::export_csv_file() {
  const auto& runs = workspace_.runs();
  if (std::none_of(runs.begin(), runs.end(), [](const LoadedRun& run) { return run.visible; })) {
    show_banner(tr("There is nothing to export: no run is ticked."));
    return;
  }
  const QString path = QFileDialog::getSaveFileName(this, tr("Export CSV"), QStringLiteral("attnscope.csv"),
                                                    tr("Comma-separated values (*.csv)"));
  if (!path.isEmpty()) save_csv(path);
}

void MainWindow::save_csv(const QString& path) {
  try {
    std::vector<RunStore> stores;
    std::vector<ExportSource> sources;
    stores.reserve(static_cast<std::size_t>(workspace_.files().size()));  // sources point into it
    for (const QString& file : workspace_.files()) {
      std::vector<std::int64_t> runs;
      for (const LoadedRun& run : workspace_.runs()) {
        if (run.visible && run.info->file == file) runs.push_back(run.info->summary.id);
      }
      if (runs.empty()) continue;
      stores.push_back(RunStore::open(file.toStdString(), RunStore::Mode::read_only));
      sources.push_back({&stores.back(), std::move(runs)});
    }
    if (sources.empty()) {
      show_banner(tr("There is nothing to export: no run is ticked."));
      return;
    }
    std::ostringstream table;
    export_csv(sources, table);
    const QByteArray text = QByteArray::fromStdString(std::move(table).str());
    say_written(path, save_file(path, [&](QIODevice& out) { return write_all(out, text); }));
  } catch (const std::exception& error) {
    show_banner(QString::fromUtf8(error.what()));
  }
}

void MainWindow::say_written(const QString& path, const QString& error) {
  if (error.isEmpty()) {
    statusBar()->showMessage(tr("Written: %1").arg(path), 6000);
  } else {
    show_banner(error);
  }
}

void MainWindow::show_about() {
  QMessageBox::about(
      this, tr("About Attnscope"),
      tr("<h3>Attnscope %1</h3><p>Shows what attention kernels do to GPU memory, beside what theory says they must "
         "do.</p><p>The window is free software under the GNU General Public License, version 3 or later; the "
         "kernels, the profiler and the command line are under the Apache License 2.0. Drawn with QCustomPlot and "
         "Qt %2.</p>")
          .arg(QStringLiteral(ATTNSCOPE_VERSION), QString::fromLatin1(qVersion())));
}

void MainWindow::show_shortcuts() {
  QMessageBox box(QMessageBox::NoIcon, tr("Keyboard shortcuts"), {}, QMessageBox::Close, this);
  QString rows;
  const std::pair<QString, QString> keys[] = {
      {QStringLiteral("Ctrl+1, 2, 3"), tr("IO and time vs N, tile heatmap, table")},
      {QStringLiteral("Ctrl+O"), tr("open files")},
      {QStringLiteral("Ctrl+E"), tr("export the plot (PNG, SVG, PDF)")},
      {QStringLiteral("Ctrl+Shift+E"), tr("export the shown runs as CSV")},
      {QStringLiteral("F9"), tr("show or hide the details")},
      {tr("Left, Right on the curves"), tr("read out the next N")},
      {tr("Home on the curves, or double click"), tr("whole view again")},
      {tr("Arrows on the heatmap"), tr("walk through the tiles")},
      {tr("Home on the heatmap"), tr("to the fastest tile")},
      {QStringLiteral("Ctrl+F, Ctrl+C"), tr("filter the table, copy its rows")},
      {tr("Space in the run list"), tr("show or hide the run")},
      {QStringLiteral("F1"), tr("what am I looking at?")},
  };
  for (const auto& [key, meaning] : keys) {
    rows += QStringLiteral("<tr><td style='padding-right:18px'><b>%1</b></td><td>%2</td></tr>").arg(key, meaning);
  }
  box.setText(QStringLiteral("<table cellpadding='3'>%1</table>").arg(rows));
  box.exec();
}

void MainWindow::show_explanation() {
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("What am I looking at?"));
  auto* text = new QTextBrowser(dialog);
  text->setObjectName(QStringLiteral("explanation"));
  text->setFrameShape(QFrame::NoFrame);
  text->document()->setDocumentMargin(10);
  text->setHtml(tr(
      "<h3>Why N²d²/M beats N²</h3>"
      "<p>Attention reads Q, K, V and writes O: 4Nd numbers a head, the <i>compulsory minimum</i>. A GPU computes far "
      "faster than its memory delivers, so what an algorithm moves beyond that decides its time.</p>"
      "<p><b>Standard attention</b> writes all N × N scores S to memory, reads them for the softmax, writes P and "
      "reads "
      "it back: about <b>4N²</b> numbers. Nothing of them stays on the chip from one kernel to the next.</p>"
      "<p><b>FlashAttention</b> never writes a score. An SM has room for M numbers. Tiles of K, V, Q and O share it, "
      "so "
      "a K tile has about Bc = M/4d rows. Every K, V tile needs one pass over Q and O, which reads Q and O and writes "
      "O: 3Nd numbers. There are N/Bc = 4Nd/M passes, together about 12 <b>N²d²/M</b>. The softmax of a row is "
      "finished piece by piece: keep its largest score and its sum, and rescale what was added before when a larger "
      "score comes.</p>"
      "<p><b>Both grow as N²</b>: on these axes they are parallel, with slope 2. What differs is the constant: d²/M in "
      "place of 1. On an H200 M is 116,224 16-bit numbers, so d²/M is 1/28 for d 64 and 1/7 for d 128. With the counts "
      "in front (4 and 12) it moves 9 times less for d 64, 2.4 times for d 128. A <i>fit</i> shows a larger c: real "
      "kernels also keep O in 32 bits between passes, and read Q, K and V again for every tile of S. More on-chip "
      "memory "
      "helps in proportion; a larger d costs its square. FlashAttention-2 turns the loops around, Q and O stay and K "
      "and V "
      "pass by: 2N²d/Br, the same law, without the O that comes and goes.</p>"
      "<p><b>Try it.</b> Switch d between 64 and 128 and watch the gap shrink. Turn on <i>Kernels</i> and see S and P "
      "go out and come back. On the tile page, double Bc and see FA1's bytes halve.</p>"
      "<h3>The backward pass</h3>"
      "<p>Training needs dQ, dK and dV, and all of them need P again. Standard attention has kept "
      "P: it reads it, and writes and reads dP and dS beside it, about <b>7N²</b> numbers. <b>FlashAttention computes "
      "P once "
      "more</b> from Q and K. The forward pass has left one number a row, the logarithm of the softmax's sum "
      "(<i>LSE</i>), so that P = exp(QKᵀ/√d − LSE) comes out tile by tile on the chip, with no second look for the "
      "row's maximum. That is one matrix product in five, on units that would "
      "otherwise wait for memory: computing P anew is faster than reading it back, and needs no room for N² "
      "numbers.</p>"
      "<h3>Decoding</h3>"
      "<p>A model that writes text asks with one query, or a few, against all n_k keys so far. Every K and V is read "
      "once and used at once: 2·n_k·d numbers a K/V head are the minimum <i>and</i> about all that any algorithm "
      "moves, so that the lines here have slope 1 and the best possible time is those bytes over the memory's "
      "bandwidth. What is missing is work to share: there is one tile of queries for each head, and a batch of one "
      "with 16 heads leaves most of an H200's 132 SMs idle, too few to draw that bandwidth. <b>Splitting the keys</b> "
      "gives each SM a part of them; every part comes with its own maximum and sum, and a last small kernel "
      "weighs the parts and adds them up. More splits than fill the SMs only add partial results to write and read "
      "back.</p>"
      "<h3>How to read the plots</h3>"
      "<p><b>Two levels.</b> <i>SM↔L2</i> is what the kernel asks for: it must meet the exact model. <i>DRAM</i> is "
      "what the L2 could not serve: left of the <i>L2 limit</i> line it stays near the minimum, right of it it climbs "
      "towards SM↔L2.</p>"
      "<p><b>Where a number comes from.</b> Filled marks on solid lines are measured by counters. Hollow discs and "
      "squares on dotted lines are simulated. Hollow diamonds and triangles on dash-dotted lines are imported: another "
      "program measured them. Half-filled discs are times whose clocks the GPU had throttled. Dashed lines are theory; "
      "“fit” takes its constant from the points. ✕ at the top is "
      "a point without a value: hover for the reason.</p>"
      "<p><b>Tile heatmap.</b> Each cell is one Br × Bc. Hatched cells cannot run on this GPU, ◆ is the tile of the "
      "paper's rule, the outline the best tile of what is shown, dashes the fastest. FA2's traffic depends on Br "
      "alone, FA1's on Bc alone.</p>"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(text);
  column->addWidget(buttons);
  dialog->resize(660, 640);
  dialog->show();  // beside the plot, not in front of it
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (remember_) {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveState(state_version));
    settings.setValue(QStringLiteral("window/page"), tabs_->currentIndex());
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) workspace_.open(url.toLocalFile());
  }
}

}  // namespace attnscope::ui
