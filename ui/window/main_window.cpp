// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/main_window.h"

#include <QActionGroup>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QShortcut>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "messages/collect_panel.h"
#include "messages/window.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/import_dialog.h"
#include "ui/panels/runs_panel.h"
#include "ui/process/device_list.h"
#include "ui/process/json_program.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"
#include "ui/window/lesson.h"
#include "ui/window/query_bar.h"
#include "ui/window/sample_banner.h"

namespace attnscope::ui {
namespace {

QString open_file_names(const Workspace& workspace) {
  QStringList names;
  for (const QString& file : workspace.files()) names << workspace.file_name(file);
  return names.join(QStringLiteral(", "));
}

QString details_key() {
  return QStringLiteral("window/details-expanded");
}

}  // namespace

QSize default_window_size(const QSize& available) {
  constexpr QSize largest{1440, 900};
  constexpr int frame = 40;  // estimate of title bar and border, which are unknown before the window is shown
  return QSize(available.width() * 15 / 16, available.height() - frame).boundedTo(largest);
}

MainWindow::MainWindow(bool remember, QWidget* parent) : QMainWindow(parent), remember_(remember) {
  setWindowTitle(QStringLiteral("Attnscope"));
  setAcceptDrops(true);
  setDockOptions(AllowTabbedDocks | AllowNestedDocks);
  if (const QScreen* screen = QGuiApplication::primaryScreen()) {
    resize(default_window_size(screen->availableGeometry().size()));
  }
  build_center();
  build_docks();
  build_menus();
  build_status_bar();
  lesson_ = new LessonLauncher(workspace_, *banner_, *statusBar(), this);
  follow_workspace();
  follow_collection();
  follow_edits();
  connect(&workspace_, &Workspace::points_changed, this, &MainWindow::select_pending);
  if (remember_) {
    set_theme(parse_theme(QSettings().value(QStringLiteral("window/theme")).toString()));
    DeviceList::load_remote();
  }
  build_watchers();
}

MainWindow::~MainWindow() = default;

void MainWindow::build_center() {
  auto* central = new QWidget(this);
  auto* column = new QVBoxLayout(central);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  banner_ = new Banner(central);
  query_ = new QueryBar(workspace_, central);
  column->addWidget(query_);
  tabs_ = new QTabWidget(central);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(qtext(msg::window::pages{}));
  tabs_->tabBar()->setAccessibleName(tabs_->accessibleName());
  column->addWidget(tabs_, 1);
  // At the bottom, so that showing the banner moves nothing under the pointer.
  column->addWidget(banner_);
  setCentralWidget(central);
  tabs_->installEventFilter(this);  // places the filter
  for (const PageKind& kind : page_kinds()) {
    Page* page = kind.make(workspace_, tabs_);
    pages_.push_back(page);
    if (auto* explorer = qobject_cast<ExplorerPage*>(page)) explorer_ = explorer;
    if (auto* map = qobject_cast<TileHeatmapPage*>(page)) map_ = map;
    if (auto* of_problem = qobject_cast<ProblemPage*>(page)) problem_pages_.push_back(of_problem);
    tabs_->addTab(page, icon_of(kind), qtext(kind.title()));
    connect(page, &Page::point_selected, this, [this, page](const ShownPoint& point) { show_details(page, point); });
    connect(page, &Page::collect_requested, this, &MainWindow::prepare_collection);
    page->remember_defaults();
    connect(page, &Page::explore_requested, this,
            [this](const PointSpec& spec, const QString& gpu) { explore(&ExplorerPage::explore, spec, gpu); });
    connect(page, &Page::pin_requested, this,
            [this](const PointSpec& spec, const QString& gpu) { explore(&ExplorerPage::pin_point, spec, gpu); });
    connect(page, &Page::map_requested, this, &MainWindow::show_map);
  }
  tabs_->setFocus();  // otherwise the filter field would get stray keys
  connect(tabs_, &QTabWidget::currentChanged, this, [this] { banner_->clear(Banner::Topic::choice); });
}

void MainWindow::build_status_bar() {
  open_files_label_ = new ElidedLabel(this);
  open_files_label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // takes the width left by the others
  selected_label_ = new ElidedLabel(this);
  selected_label_->setObjectName(QStringLiteral("selected-point"));
  selected_label_->hide();
  values_label_ = new ElidedLabel(this);
  values_label_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  statusBar()->addWidget(open_files_label_, 1);
  statusBar()->addPermanentWidget(selected_label_, 2);
  statusBar()->addPermanentWidget(values_label_, 1);
  for (const auto changed : {&Workspace::points_changed, &Workspace::runs_changed, &Workspace::opening_changed}) {
    connect(&workspace_, changed, this, &MainWindow::refresh_status);
  }
  refresh_status();
}

void MainWindow::show_selected(const std::optional<ShownPoint>& point) {
  selected_label_->setVisible(point.has_value());
  if (!point) return;
  const QString text = qtext(msg::window::selected{.device = device_title(point->run->summary).toStdString(),
                                                   .point = describe(point->spec),
                                                   .run = point->run->title.toStdString()});
  selected_label_->setText(text);
  selected_label_->setToolTip(plain_tooltip(text));
}

void MainWindow::refresh_status() {
  QStringList names{open_file_names(workspace_)};
  if (const QString opening = workspace_.opening(); !opening.isEmpty()) {
    names << qtext(msg::window::opening{.files = opening.toStdString()});
  }
  names.removeAll(QString());
  open_files_label_->setText(names.isEmpty() ? qtext(msg::window::no_file{}) : names.join(QStringLiteral(" · ")));
  QStringList paths;
  for (const QString& file : workspace_.files()) paths << one_line(file);
  open_files_label_->setToolTip(plain_tooltip(paths.join(QLatin1Char('\n'))));

  if (workspace_.is_gathering()) return;  // visible() would compute the points at once
  const std::shared_ptr<const PointSet> points = workspace_.visible();
  std::map<analysis::RunIndex, std::size_t> of_run;
  for (Row row = 0; row < points->size(); ++row) ++of_run[points->table().run_index(row)];
  std::map<Provenance, std::size_t> count;
  std::set<QString> devices;
  for (const auto& [run, rows] : of_run) {
    const RunSummary& summary = points->run(run).summary;
    count[summary.provenance] += rows;
    if (const QString name = device_title(summary); !name.isEmpty()) devices.insert(name);
  }
  QStringList parts;
  for (const auto& [origin, shown] : count) {
    Message of_origin = msg::window::points_of{.origin = title(origin), .points = shown};
    if (shown == 1) of_origin = msg::window::one_point_of{.origin = title(origin)};
    parts << qtext(of_origin);
  }
  if (!parts.isEmpty()) parts << QStringList(devices.begin(), devices.end()).join(QStringLiteral(", "));
  values_label_->setText(parts.join(QStringLiteral(" · ")));
  values_label_->setToolTip(plain_tooltip(values_label_->text()));
}

void MainWindow::prepare_collection(const QString& preset, const QStringList& axes) {
  CollectForm& form = collect_->form();
  if (!preset.isEmpty()) form.set_preset(preset);
  form.set_axes(axes.join(QLatin1Char(' ')));
  QWidget* dock = collect_->parentWidget();
  dock->show();
  dock->raise();
  form.setFocus();
}

void MainWindow::follow_workspace() {
  add_sample_banner();
  for (const QKeySequence& keys : {QKeySequence(QStringLiteral("Ctrl+L")), QKeySequence(QKeySequence::Find)}) {
    connect(new QShortcut(keys, this), &QShortcut::activated, query_, &QueryBar::focus_field);
  }
  connect(&workspace_, &Workspace::runs_changed, this, &MainWindow::update_title);
  connect(&workspace_, &Workspace::points_changed, this, &MainWindow::offer_finished_sweep);
  connect(&workspace_, &Workspace::opened, this, [this](const QString& path) {
    update_title();
    add_recent_file(path);
    banner_->remove_messages(Banner::Topic::open, path);
  });
  connect(&workspace_, &Workspace::open_failed, this,
          [this](const QString& path, const QString& reason) { banner_->add(Banner::Topic::open, reason, path); });
  connect(&workspace_, &Workspace::runs_changed, this, [this] { banner_->keep_for_open_files(workspace_.files()); });
  connect(&workspace_, &Workspace::rows_skipped, this,
          [this](const QString& path, const QString& what) { banner_->add(Banner::Topic::rows, what, path); });
  connect(&workspace_, &Workspace::file_replaced, this, [this](const QString& path, const QString& what) {
    banner_->remove_messages(path);  // earlier messages were about the replaced file
    banner_->add(Banner::Topic::replaced, what, path);
    clear_details_of(path);
  });
  connect(&workspace_, &Workspace::points_changed, this, [this] { banner_->clear(Banner::Topic::choice); });
  connect(details_, &DetailsPanel::explore_requested, this, &MainWindow::explore_selected);
  connect(explorer_, &ExplorerPage::pin_changed, details_, [this] { details_->set_pinned(explorer_->pinned_point()); });
  connect(&workspace_, &Workspace::points_changed, details_, [this] { details_->set_points(workspace_.visible()); });
  connect(details_, &DetailsPanel::expanded_changed, this, [this](bool expanded) {
    if (remember_) QSettings().setValue(details_key(), expanded);
  });
  if (remember_) details_->set_expanded(QSettings().value(details_key()).toBool());
}

void MainWindow::add_sample_banner() {
  auto* sample = new SampleBanner(workspace_, collect_->form().devices(), remember_, centralWidget());
  static_cast<QVBoxLayout*>(centralWidget()->layout())->insertWidget(0, sample);
  connect(sample, &SampleBanner::measure_requested, this, [this] {
    collect_->parentWidget()->show();
    collect_->setFocus();
  });
  connect(sample, &SampleBanner::doctor_requested, this, [this] { show_page(QStringLiteral("doctor")); });
  connect(sample, &SampleBanner::explorer_requested, this, [this] { tabs_->setCurrentWidget(explorer_); });
  connect(sample, &SampleBanner::lesson_requested, lesson_, &LessonLauncher::show);
}

void MainWindow::clear_details_of(const QString& path) {
  const std::optional<ShownPoint>& shown = details_->point();
  if (!shown || shown->run->file != path) return;
  details_->show_point(std::nullopt);
  show_selected(std::nullopt);
}

void MainWindow::follow_collection() {
  const auto show_progress = [this](const QString& words) {
    for (Page* page : pages_) page->show_progress(words, collect_->is_running());
  };
  connect(collect_, &CollectPanel::begin_requested, this, [this] { banner_->clear(Banner::Topic::collect); });
  connect(collect_, &CollectPanel::ceilings_progressed, this, show_progress);
  for (const Page* page : pages_) {
    connect(page, &Page::device_work_requested, collect_, &CollectPanel::measure);
    connect(page, &Page::stop_requested, collect_, &CollectPanel::cancel);
  }
  connect(collect_, &CollectPanel::collection_started, this,
          [this, show_progress](const QString& database, qint64 run) {
            show_progress({});
            sweep_ = Sweep{database, run};
            workspace_.follow(database);
            runs_->reveal(database, run);
          });
  connect(collect_, &CollectPanel::points_stored, &workspace_, &Workspace::follow);
  connect(collect_, &CollectPanel::collection_ended, this, [this, show_progress](const QString& database, qint64 run) {
    if (run > 0) show_progress({});
    workspace_.stop_following(database);
    runs_->reveal(database, run);
    if (closes_when_stopped_) close();
  });
  connect(collect_, &CollectPanel::ceilings_measured, this,
          [this](const CeilingsTask& /*work*/) { show_page(QStringLiteral("ceilings")); });
  connect(collect_, &CollectPanel::interruption_found, this, [this](const QString& words) {
    keep_panels_open();
    collect_->parentWidget()->show();
    banner_->offer(Banner::Topic::collect, words, {}, qtext(msg::collect_panel::resume_now{}).remove(QLatin1Char('&')),
                   [this] { collect_->resume(); });
  });
  connect(collect_, &CollectPanel::error_occurred, this,
          [this](const QString& message) { banner_->add(Banner::Topic::collect, message); });
}

void MainWindow::follow_edits() {
  auto* editor = new RunEditor(this);
  const auto edit = [this, editor](const QString& file, const QStringList& words) {
    banner_->clear(Banner::Topic::write);
    if (!is_recorded_sample(file)) return editor->edit(file, words);
    banner_->add(Banner::Topic::write, qtext("{} is a recorded sample and read-only (edit a copy)", file.toStdString()),
                 file);
  };
  connect(runs_, &RunsPanel::edit_requested, this, edit);
  connect(collect_, &CollectPanel::edit_requested, this, edit);
  connect(editor, &RunEditor::done, this, [this, editor](const QString& file, const QStringList& words) {
    workspace_.refresh(file);
    const qsizetype deletes = words.indexOf(QStringLiteral("--delete"));
    if (deletes < 0) return;
    QStringList back = words;
    back[deletes] = QStringLiteral("--restore");
    banner_->offer(Banner::Topic::write, qtext(msg::window::run_deleted{}), file, qtext(msg::window::restore{}),
                   [editor, file, back] { editor->edit(file, back); });
  });
  connect(editor, &RunEditor::failed, this,
          [this](const QString& file, const QString& why) { banner_->add(Banner::Topic::write, why, file); });
}

void MainWindow::offer_finished_sweep() {
  const auto place = sweep_ ? workspace_.index_of(sweep_->file, sweep_->run) : std::nullopt;
  if (!place) return;
  const LoadedRun& run = workspace_.runs()[*place];
  if (run.info->summary.state == StoredRunState::running) return;
  const std::int64_t id = std::exchange(sweep_, std::nullopt)->run;
  if (run.size() == 0) return;
  const QString file = run.info->file;
  const Message words = msg::window::sweep_collected{.points = points_text(run.size())};
  banner_->offer(Banner::Topic::collect, qtext(words), file, qtext(msg::window::show_sweep{}), [this, file, id] {
    auto* current = qobject_cast<ProblemPage*>(current_page());
    if (current != nullptr && current->show_problem_of_run(file, id)) return;
    const auto shows = [&](ProblemPage* page) { return page->show_problem_of_run(file, id); };
    const auto page = std::ranges::find_if(problem_pages_, shows);
    if (page != problem_pages_.end()) tabs_->setCurrentWidget(*page);
  });
}

void MainWindow::open_files(const QStringList& files) {
  if (!files.isEmpty()) return open_requested(files);
  for (const QString& sample : sample_paths()) workspace_.open(sample);
}

void MainWindow::open_requested(const QStringList& files) {
  // Messages of earlier attempts are obsolete.
  for (const Banner::Topic topic : {Banner::Topic::open, Banner::Topic::replaced, Banner::Topic::rows}) {
    banner_->clear(topic);
  }
  for (const QString& file : files) workspace_.open(file);
}

void MainWindow::open_samples(const QStringList& samples) {
  if (!samples.isEmpty()) return open_requested(samples);
  banner_->add(Banner::Topic::open,
               QStringLiteral("The recorded sample is not installed (collect on a simulated device instead)"));
}

Page* MainWindow::page(const QString& id) const {
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    if (to_qstring(page_kinds()[i].id) == id) return pages_[i];
  }
  return nullptr;
}

Page* MainWindow::current_page() const {
  return pages_[static_cast<std::size_t>(tabs_->currentIndex())];
}

QString MainWindow::page_id() const {
  return to_qstring(page_kinds()[static_cast<std::size_t>(tabs_->currentIndex())].id);
}

void MainWindow::show_page(const QString& id) {
  if (Page* wanted = page(id)) tabs_->setCurrentWidget(wanted);
}

void MainWindow::set_theme(ThemeChoice choice) {
  apply_theme(choice);
  for (QAction* action : theme_actions_->actions()) {
    if (action->data().toString() == to_string(choice)) action->setChecked(true);
  }
  if (remember_) QSettings().setValue(QStringLiteral("window/theme"), to_string(choice));
}

void MainWindow::show_details(const Page* page, const ShownPoint& point) {
  for (Page* other : pages_) {
    if (other != page) other->mark(point);
  }
  details_->show_point(point);
  show_selected(point);
  details_dock_->show();
}

void MainWindow::select(const ShownPoint& point) {
  for (Page* page : pages_) page->mark(point, false);  // the choices are those of the session
  details_->show_point(point);
  show_selected(point);
}

void MainWindow::explore_selected() {
  const std::optional<ShownPoint> point = details_->point();
  if (!point)
    return show_result({}, QStringLiteral("No point is selected (click one in a plot or table)"),
                       Banner::Topic::choice);
  explore(&ExplorerPage::explore, point->spec, QString::fromStdString(point->run->summary.device_name));
}

void MainWindow::explore(bool (ExplorerPage::*take)(const PointSpec&, const QString&), const PointSpec& spec,
                         const QString& gpu) {
  tabs_->setCurrentWidget(explorer_);
  if ((explorer_->*take)(spec, gpu)) return;
  show_result({},
              qtext("Unknown GPU {}; the point is explored on the selected GPU instead.", one_line(gpu).toStdString()),
              Banner::Topic::choice);
}

void MainWindow::explore_algorithm(const std::string& name) {
  explorer_->explore_algorithm(name);
}

void MainWindow::show_map(const QString& file, qint64 point) {
  tabs_->setCurrentWidget(map_);
  if (map_->show_problem_of_point(file, point)) return;
  show_result({}, qtext(msg::window::tiles_hidden{}), Banner::Topic::choice);
  // A point that was just measured appears after the next read of the file.
  const auto again = [this, file, point] {
    if (current_page() == map_ && map_->show_problem_of_point(file, point)) banner_->clear(Banner::Topic::choice);
  };
  connect(&workspace_, &Workspace::points_changed, this, again,
          static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
}

void MainWindow::update_title() {
  const QString names = open_file_names(workspace_);
  setWindowTitle(names.isEmpty() ? QStringLiteral("Attnscope") : QStringLiteral("%1 – Attnscope").arg(names));
}

void MainWindow::open_dialog() {
  const QStringList files =
      QFileDialog::getOpenFileNames(this, qtext(msg::window::open_title{}), {}, qtext(msg::window::open_filter{}));
  if (!files.isEmpty()) open_requested(files);
}

bool MainWindow::is_measuring() const {
  return collect_->is_running() || !explorer_->pending_work_text().isEmpty();
}

void MainWindow::change_language() {
  constexpr int retry_ms = 500;
  if (!is_measuring()) {
    for (ProblemPage* page : problem_pages_) page->keep_choices();
    return emit language_changed();
  }
  QTimer::singleShot(retry_ms, this, &MainWindow::change_language);
}

void MainWindow::show_result(const QString& words, const QString& error, Banner::Topic topic) {
  banner_->clear(Banner::Topic::write);
  banner_->clear(Banner::Topic::choice);
  if (error.isEmpty()) {
    statusBar()->showMessage(words, 6000);
  } else {
    banner_->add(topic, error);
  }
}

std::vector<std::pair<QString, QString>> MainWindow::shortcuts() const {
  std::vector<std::pair<QString, QString>> keys;
  keys.reserve(pages_.size());
  for (int i = 0; i < tabs_->count(); ++i) keys.emplace_back(QStringLiteral("Ctrl+%1").arg(i + 1), tabs_->tabText(i));
  keys.insert(keys.end(), {{QStringLiteral("Ctrl+O"), qtext(msg::window::key_open{})},
                           {QStringLiteral("Ctrl+N"), qtext(msg::window::key_new_window{})},
                           {QStringLiteral("Ctrl+L, Ctrl+F"), qtext(msg::window::key_filter{})},
                           {QStringLiteral("Ctrl+E"), qtext(msg::window::key_export_plot{})},
                           {QStringLiteral("Ctrl+Shift+C, Ctrl+Alt+C"), qtext(msg::window::key_copy_page{})},
                           {QStringLiteral("Ctrl+R"), qtext(msg::window::key_report{})},
                           {QStringLiteral("Ctrl+Shift+X"), qtext(msg::window::key_explore{})},
                           {QStringLiteral("Ctrl+T"), qtext(msg::window::key_table{})},
                           {QStringLiteral("F7, F8, F9"), qtext(msg::window::key_panels{})},
                           {QStringLiteral("Ctrl++, Ctrl+-, Ctrl+0"), qtext(msg::window::key_text{})}});
  for (const Page* page : pages_) {
    for (const auto& row : page->shortcuts()) keys.push_back(row);
  }
  keys.insert(keys.end(), {{qtext(msg::window::on_run_list{}), qtext(msg::window::key_run{})},
                           {QStringLiteral("F1"), qtext(msg::window::key_explain{})}});
  return keys;
}

void MainWindow::confirm_stop(const QString& title, const QString& question, const QString& kept_text) {
  if (closes_when_stopped_ || findChild<QMessageBox*>(QStringLiteral("stop-and-quit")) != nullptr) return;
  auto* box = new QMessageBox(QMessageBox::Question, title, question, QMessageBox::NoButton, this);
  box->setObjectName(QStringLiteral("stop-and-quit"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setInformativeText(kept_text);
  QPushButton* stop = box->addButton(qtext(msg::window::stop_and_quit{}), QMessageBox::AcceptRole);
  box->setDefaultButton(box->addButton(qtext(msg::window::keep_running{}), QMessageBox::RejectRole));
  connect(stop, &QPushButton::clicked, this, [this] {
    closes_when_stopped_ = true;
    explorer_->cancel_work();
    if (collect_->is_running()) {
      collect_->cancel();
    } else {
      close();
    }
  });
  box->open();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (collect_->is_running()) {
    event->ignore();
    return confirm_stop(qtext(msg::window::sweep_running{}),
                        qtext(msg::window::stop_and_quit_question{.progress = collect_->progress_text().toStdString()}),
                        qtext(msg::window::completed_points_kept{}));
  }
  if (const QString work = explorer_->pending_work_text(); !work.isEmpty() && !closes_when_stopped_) {
    event->ignore();
    return confirm_stop(qtext(msg::window::pending_points{}),
                        qtext(msg::window::pending_points_question{.work = work.toStdString()}),
                        qtext(msg::window::measured_points_kept{}));
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  QStringList tables;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) (is_importable(url.toLocalFile()) ? tables : files) << url.toLocalFile();
  }
  if (!files.isEmpty()) open_requested(files);
  if (!tables.isEmpty()) import_files(tables);
}

}  // namespace attnscope::ui
