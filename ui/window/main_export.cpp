// SPDX-License-Identifier: GPL-3.0-or-later
// Export of the current page: copies or saves its picture and values, and copies the command that measures the selected
// point.
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>

#include "kernels/registry.h"
#include "messages/window.h"
#include "profiler/plan/command_text.h"
#include "ui/process/save_file.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {

struct ExportKind {
  bool (*is_possible)(const Page&);
  const char* otherwise;  ///< message
};

namespace {

constexpr ExportKind plot_export{[](const Page& page) { return page.has_plot(); },
                                 "This page has no plot (use Export values shown)"};
constexpr ExportKind values_export{[](const Page& page) { return page.has_values(); }, "This page has no values."};
constexpr ExportKind command_export{[](const Page& page) {
                                      return page.marked() && page.is_mark_shown() &&
                                             known_algorithms().find(page.marked()->spec.algorithm) != nullptr;
                                    },
                                    "No measurable point is selected on this page."};

/// Adds a suffix if the name has none: that of the chosen filter, else the first of `endings`.
QString ask_for_file(QWidget* window, const QString& title, const QString& stem, const QString& filter,
                     const QStringList& endings) {
  QString chosen;
  QString path = QFileDialog::getSaveFileName(window, title, default_path(stem + endings.front()), filter, &chosen);
  if (path.isEmpty() || !QFileInfo(path).suffix().isEmpty()) return path;
  for (const QString& ending : endings) {
    if (chosen.contains(ending)) return path + ending;
  }
  return path + endings.front();
}

}  // namespace

void MainWindow::build_exports() {
  const auto add = [this](const Message& text, const char* key, const ExportKind& kind, bool saves,
                          void (MainWindow::*run)(Page&)) {
    auto* action = new QAction(qtext(text), this);
    action->setShortcut(QKeySequence(QLatin1String(key)));
    connect(action, &QAction::triggered, this, [this, kind = &kind, run] {
      if (can_export(*kind)) (this->*run)(*current_page());
    });
    exports_.push_back({action, &kind, saves});
  };
  add(msg::window::copy_picture{}, "Ctrl+Shift+C", plot_export, false, &MainWindow::copy_picture);
  add(msg::window::copy_values{}, "Ctrl+Alt+C", values_export, false, &MainWindow::copy_values);
  add(msg::window::copy_command{}, "", command_export, false, &MainWindow::copy_command);
  add(msg::window::export_plot{}, "Ctrl+E", plot_export, true, &MainWindow::save_plot);
  add(msg::window::export_values{}, "", values_export, true, &MainWindow::save_values);
}

void MainWindow::add_exports(QMenu& menu, bool saves) {
  for (const Export& each : exports_) {
    if (each.saves == saves) menu.addAction(each.action);
  }
  // The actions are enabled again when the menu closes, so that their shortcuts work.
  connect(&menu, &QMenu::aboutToShow, this, [this] {
    for (const Export& each : exports_) each.action->setEnabled(each.kind->is_possible(*current_page()));
  });
  connect(&menu, &QMenu::aboutToHide, this, [this] {
    for (const Export& each : exports_) each.action->setEnabled(true);
  });
}

bool MainWindow::can_export(const ExportKind& kind) {
  current_page()->wait_until_idle();
  if (kind.is_possible(*current_page())) return true;
  show_result({}, QString::fromLatin1(kind.otherwise), Banner::Topic::choice);
  return false;
}

void MainWindow::copy_picture(Page& page) {
  const PlotPicture picture = page.picture();
  QGuiApplication::clipboard()->setImage(image_of(picture, picture_size, 2));
  show_result(qtext(msg::window::picture_copied{.title = picture.title.toStdString()}), {});
}

void MainWindow::copy_values(Page& page) {
  const ShownValues values = page.values();
  QGuiApplication::clipboard()->setText(to_tsv(values));
  show_result(qtext(msg::window::values_copied{.lines = values.lines.size()}), {});
}

void MainWindow::copy_command(Page& page) {
  const std::string command = collect_command(page.marked()->spec);
  QGuiApplication::clipboard()->setText(to_qstring(command));
  show_result(qtext(msg::window::command_copied{.command = command}), {});
}

void MainWindow::save_plot(Page& page) {
  const QString path =
      ask_for_file(this, qtext(msg::window::export_plot_title{}), page.file_stem(), qtext(msg::window::plot_filter{}),
                   {QStringLiteral(".png"), QStringLiteral(".svg"), QStringLiteral(".pdf")});
  if (!path.isEmpty()) save_plot_to(path);
}

void MainWindow::save_plot_to(const QString& path) {
  if (!can_export(plot_export)) return;  // the page may have changed while the file dialog was open
  show_result(qtext(msg::window::written{.file = one_line(path).toStdString()}),
              save_picture(path, picture_size, current_page()->picture()));
}

void MainWindow::save_values(Page& page) {
  const QString stem = page.file_stem().isEmpty() ? QStringLiteral("values") : page.file_stem();
  const QString path = ask_for_file(this, qtext(msg::window::export_values_title{}), stem,
                                    qtext(msg::window::values_filter{}), {QStringLiteral(".csv")});
  if (path.isEmpty() || !can_export(values_export)) return;
  const QByteArray text = to_csv(current_page()->values());
  show_result(qtext(msg::window::written{.file = one_line(path).toStdString()}),
              save_file(path, [&](QIODevice& out) { return write_all(out, text); }));
}

}  // namespace attnscope::ui
