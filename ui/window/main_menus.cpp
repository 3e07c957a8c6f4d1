// SPDX-License-Identifier: GPL-3.0-or-later
// Menus and keyboard shortcuts of the window.
#include <QAbstractTableModel>
#include <QActionGroup>
#include <QDialog>
#include <QDockWidget>
#include <QFileDialog>
#include <QMenuBar>
#include <QSettings>
#include <QStatusBar>
#include <QVBoxLayout>
#include <map>
#include <utility>

#include "messages/import_dialog.h"
#include "messages/window.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/import_dialog.h"
#include "ui/panels/report_dialog.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"
#include "ui/window/application.h"
#include "ui/window/help.h"
#include "ui/window/lesson.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {
namespace {

/// Anchor of the heading in the explanation about a page; empty: the start.
QString heading_of_page(const QString& page) {
  const std::pair<QLatin1String, QLatin1String> headings[] = {
      {QLatin1String("tiles"), QLatin1String("how-to-read-the-plots")},
      {QLatin1String("explorer"), QLatin1String("predictions")},
      {QLatin1String("roofline"), QLatin1String("how-to-read-the-plots")},
      {QLatin1String("table"), QLatin1String("provenance")},
      {QLatin1String("ceilings"), QLatin1String("ceilings")},
      {QLatin1String("compare"), QLatin1String("verdicts")}};
  for (const auto& [id, heading] : headings) {
    if (page == id) return heading;
  }
  return {};
}

constexpr QLatin1String recent_key("files/recent");

class ValuesModel : public QAbstractTableModel {
 public:
  ValuesModel(ShownValues values, QObject* parent) : QAbstractTableModel(parent), values_(std::move(values)) {}
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override {
    return parent.isValid() ? 0 : static_cast<int>(values_.lines.size());
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override {
    return parent.isValid() ? 0 : static_cast<int>(values_.keys.size());
  }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
    if (role != Qt::DisplayRole) return {};
    return values_.lines[static_cast<std::size_t>(index.row())].value(index.column());
  }
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    return orientation == Qt::Horizontal && role == Qt::DisplayRole ? values_.keys.value(section) : QVariant();
  }

 private:
  ShownValues values_;
};

}  // namespace

void MainWindow::build_menus() {
  build_file_menu();
  build_edit_menu();
  build_view_menu();
  build_help_menu();
}

void MainWindow::build_file_menu() {
  QMenu* file = menuBar()->addMenu(qtext(msg::window::file{}));
  QAction* another = file->addAction(qtext(msg::window::new_window{}), this, &MainWindow::window_requested);
  another->setShortcut(QKeySequence::New);
  QAction* open = file->addAction(qtext(msg::window::open{}), this, &MainWindow::open_dialog);
  open->setShortcut(QKeySequence::Open);
  file->addAction(qtext(msg::import_dialog::menu{}), this, [this] {
    const QStringList tables = QFileDialog::getOpenFileNames(this, qtext(msg::import_dialog::choose_title{}), {},
                                                             qtext(msg::import_dialog::filter{}));
    if (!tables.isEmpty()) import_files(tables);
  });
  file->addAction(qtext(msg::window::open_sample{}), this, [this] { open_samples(sample_paths()); });
  file->addAction(qtext(msg::window::open_second_sample{}), this, [this] {
    const QString sample = second_sample();
    open_samples(sample.isEmpty() ? QStringList() : QStringList{sample});
  });
  file->addAction(qtext(msg::window::open_kernel{}), this, [this] {
    const QString manifest = QFileDialog::getOpenFileName(this, qtext(msg::window::open_kernel_title{}), {},
                                                          qtext(msg::window::open_kernel_filter{}));
    if (!manifest.isEmpty()) open_kernel(manifest);
  });
  recent_ = file->addMenu(qtext(msg::window::open_recent{}));
  recent_->setObjectName(QStringLiteral("recent"));
  recent_->setToolTipsVisible(true);
  show_recent_files();
  file->addSeparator();
  build_exports();
  add_exports(*file, true);
  for (Page* page : pages_)
    connect(page, &Page::menu_opened, this, [this, page](QMenu* menu) { extend_page_menu(*page, *menu); });
  QAction* report = file->addAction(qtext(msg::window::report{}), this, [this] {
    auto* dialog = new ReportDialog(workspace_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
  });
  report->setShortcut(QKeySequence(QStringLiteral("Ctrl+R")));
  file->addSeparator();
  QAction* quit = file->addAction(qtext(msg::window::quit{}), this, &QWidget::close);
  quit->setShortcut(QKeySequence(QStringLiteral("Ctrl+Q")));
}

void MainWindow::extend_page_menu(Page& page, QMenu& menu) {
  // A page has this entry for places without a point.
  if (menu.findChild<QAction*>(QStringLiteral("explore")) == nullptr) {
    auto* explore = new QAction(qtext(msg::window::explore{}), &menu);
    explore->setObjectName(QStringLiteral("explore"));
    explore->setEnabled(details_->point().has_value());
    connect(explore, &QAction::triggered, this, &MainWindow::explore_selected);
    menu.insertAction(menu.actions().value(0), explore);
  }
  menu.addSeparator();
  add_exports(menu, false);
  menu.addSeparator();
  add_exports(menu, true);
  menu.addSeparator();
  menu.addAction(qtext(msg::window::reset_view{}), &page, &Page::reset_view);
}

void MainWindow::add_recent_file(const QString& path) {
  constexpr int most = 8;
  if (!remember_ || sample_paths().contains(path) || path == second_sample()) return;
  QSettings settings;
  QStringList files = settings.value(recent_key).toStringList();
  files.removeAll(path);
  files.prepend(path);
  settings.setValue(recent_key, QStringList(files.mid(0, most)));
  show_recent_files();
}

void MainWindow::show_recent_files() {
  recent_->clear();
  const QStringList files = remember_ ? QSettings().value(recent_key).toStringList() : QStringList();
  const std::map<QString, QString> names = distinct_file_names(files);
  for (const QString& path : files) {
    // A single & would underline the next character.
    QString name = names.at(path);
    name.replace(QLatin1Char('&'), QStringLiteral("&&"));
    QAction* action = recent_->addAction(name, this, [this, path] { open_requested({path}); });
    action->setToolTip(plain_tooltip(path));
    action->setStatusTip(path);
  }
  recent_->setEnabled(!files.isEmpty());
}

void MainWindow::import_files(QStringList tables) {
  if (tables.isEmpty()) return;
  auto* dialog = new ImportDialog(tables.takeFirst(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ImportDialog::imported, this, [this](const QString& file) { open_requested({file}); });
  connect(dialog, &QDialog::finished, this, [this, tables] { import_files(tables); });
  dialog->open();
}

void MainWindow::build_edit_menu() {
  QMenu* menu = menuBar()->addMenu(qtext(msg::window::edit{}));
  add_exports(*menu, false);
}

void MainWindow::build_view_menu() {
  QMenu* view = menuBar()->addMenu(qtext(msg::window::view{}));
  for (int i = 0; i < tabs_->count(); ++i) {
    QAction* page = view->addAction(tabs_->tabIcon(i), tabs_->tabText(i), this, [this, i] {
      tabs_->setCurrentIndex(i);
      pages_[static_cast<std::size_t>(i)]->view()->setFocus(Qt::ShortcutFocusReason);
    });
    page->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)));
  }
  view->addSeparator();
  for (QDockWidget* dock : findChildren<QDockWidget*>()) view->addAction(dock->toggleViewAction());
  view->addSeparator();
  QMenu* sizes = view->addMenu(qtext(msg::window::text_size{}));
  const auto add_size = [sizes](const Message& label, const QList<QKeySequence>& keys, double factor) {
    sizes->addAction(qtext(label), [factor] { set_text_scale(text_scale() * factor); })->setShortcuts(keys);
  };
  // Also accept the plus key without Shift.
  constexpr double step = 1.15;
  add_size(msg::window::text_larger{}, {QKeySequence::ZoomIn, QKeySequence(QStringLiteral("Ctrl+="))}, step);
  add_size(msg::window::text_smaller{}, {QKeySequence::ZoomOut}, 1 / step);
  add_size(msg::window::text_default{}, {QKeySequence(QStringLiteral("Ctrl+0"))}, 0);
  view->addSeparator();
  QAction* explore = view->addAction(qtext(msg::window::explore{}), this, &MainWindow::explore_selected);
  explore->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+X")));
  view->addAction(qtext(msg::window::reset_view{}), this, [this] { current_page()->reset_view(); });
  QAction* table = view->addAction(qtext(msg::window::plot_table{}), this, &MainWindow::show_plot_table);
  table->setShortcut(QKeySequence(QStringLiteral("Ctrl+T")));
  view->addSeparator();
  QMenu* theme = view->addMenu(qtext(msg::window::theme{}));
  theme_actions_ = new QActionGroup(this);
  const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::system, qtext(msg::window::system_theme{})},
                                                     {ThemeChoice::light, qtext(msg::window::light_theme{})},
                                                     {ThemeChoice::dark, qtext(msg::window::dark_theme{})},
                                                     {ThemeChoice::contrast, qtext(msg::window::contrast_theme{})}};
  for (const auto& [choice, text] : choices) {
    QAction* action = theme->addAction(text, this, [this, choice = choice] { set_theme(choice); });
    action->setCheckable(true);
    action->setData(to_string(choice));
    action->setChecked(choice == ThemeChoice::system);
    theme_actions_->addAction(action);
  }
  add_language_menu(*view, remember_, [this] {
    if (is_measuring()) statusBar()->showMessage(qtext(msg::window::language_after_measurement{}), 6000);
    change_language();
  });
}

void MainWindow::show_plot_table() {
  Page& page = *current_page();
  page.wait_until_idle();
  if (!page.has_values()) {
    return show_result({}, QStringLiteral("This page has no values."), Banner::Topic::choice);
  }
  const QString title = page.has_plot() ? page.picture().title : tabs_->tabText(tabs_->currentIndex());
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(qtext(msg::window::plot_table_title{.title = title.toStdString()}));
  dialog->resize(760, 480);
  auto* table = new PlainTable(new ValuesModel(page.values(), dialog), dialog->windowTitle(), dialog);
  table->setObjectName(QStringLiteral("plot-table"));
  table->resizeColumnsToContents();
  if (table->model()->rowCount() > 0) table->select_only_row(0);
  (new QVBoxLayout(dialog))->addWidget(table);
  table->setFocus();
  dialog->open();
}

void MainWindow::build_help_menu() {
  QMenu* help = menuBar()->addMenu(qtext(msg::window::help{}));
  help->addAction(qtext(msg::window::lesson{}), this, [this] { lesson_->show(); });
  QAction* explain = help->addAction(qtext(msg::window::explain{}), this, [this] {
    show_document(this, QStringLiteral("explanation"), heading_of_page(page_id()));
  });
  explain->setShortcut(QKeySequence::HelpContents);
  help->addAction(qtext(msg::window::documentation{}), this,
                  [this] { show_document(this, QStringLiteral("tutorial")); });
  help->addAction(qtext(msg::window::shortcuts{}), this, [this] { show_shortcuts(this, shortcuts()); });
  help->addSeparator();
  help->addAction(qtext(msg::window::about{}), this, [this] { show_about(this); });
}

}  // namespace attnscope::ui
