// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/export_actions.h"

#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenuBar>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "messages/window.h"
#include "profiler/plan/command_text.h"
#include "ui/process/save_file.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

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

ExportActions::ExportActions(std::function<Page*()> page, ReportResult say, QMainWindow* window)
    : QObject(window->menuBar()), page_(std::move(page)), report_result_(std::move(say)), window_(window) {
  plot_ = {[](const Page& shown) { return shown.has_plot(); },
           QStringLiteral("This page has no plot (use Export values shown)")};
  values_kind_ = {[](const Page& shown) { return shown.has_values(); }, QStringLiteral("This page has no values.")};
  const Kind command{[](const Page& shown) {
                       return shown.marked() && shown.is_mark_shown() &&
                              known_algorithms().find(shown.marked()->spec.algorithm) != nullptr;
                     },
                     QStringLiteral("No measurable point is selected on this page.")};
  copies_ = {add(qtext(msg::window::copy_picture{}), QStringLiteral("Ctrl+Shift+C"), plot_,
                 [this](Page& shown) { copy(shown); }),
             add(qtext(msg::window::copy_values{}), QStringLiteral("Ctrl+Alt+C"), values_kind_,
                 [this](const Page& shown) {
                   const ShownValues copied = shown.values();
                   QGuiApplication::clipboard()->setText(to_tsv(copied));
                   report_result_(qtext(msg::window::values_copied{.lines = copied.lines.size()}), {}, {});
                 }),
             add(qtext(msg::window::copy_command{}), {}, command, [this](const Page& shown) {
               const std::string copied = collect_command(shown.marked()->spec);
               QGuiApplication::clipboard()->setText(to_qstring(copied));
               report_result_(qtext(msg::window::command_copied{.command = copied}), {}, {});
             })};
  saves_ = {
      add(qtext(msg::window::export_plot{}), QStringLiteral("Ctrl+E"), plot_, [this](Page& shown) { save(shown); }),
      add(qtext(msg::window::export_values{}), {}, values_kind_, [this](Page& shown) { save_values(shown); })};
}

bool ExportActions::recheck(Page& page, const Kind& kind) {
  page.wait_until_idle();
  if (kind.there(page)) return true;
  report_result_({}, kind.otherwise, Banner::Topic::choice);
  return false;
}

QAction* ExportActions::add(const QString& text, const QString& key, const Kind& kind,
                            std::function<void(Page&)> then) {
  auto* action = new QAction(text, this);
  if (!key.isEmpty()) action->setShortcut(QKeySequence(key));
  connect(action, &QAction::triggered, this, [this, kind, then = std::move(then)] {
    Page& page = *page_();
    if (recheck(page, kind)) then(page);
  });
  entries_.push_back({action, kind.there});
  return action;
}

void ExportActions::add(QMenu& menu, const std::vector<QAction*>& actions) {
  for (QAction* action : actions) menu.addAction(action);
  // The actions are enabled again when the menu closes, so that their shortcuts work.
  connect(&menu, &QMenu::aboutToShow, this, [this] {
    for (const Entry& entry : entries_) entry.action->setEnabled(entry.can(*page_()));
  });
  connect(&menu, &QMenu::aboutToHide, this, [this] {
    for (const Entry& entry : entries_) entry.action->setEnabled(true);
  });
}

void ExportActions::add_copies(QMenu& menu) {
  add(menu, copies_);
}

void ExportActions::add_saves(QMenu& menu) {
  add(menu, saves_);
}

void ExportActions::add_all(QMenu& menu) {
  if (!menu.isEmpty()) menu.addSeparator();
  add(menu, copies_);
  menu.addSeparator();
  add(menu, saves_);
}

void ExportActions::copy(Page& page) {
  const PlotPicture picture = page.picture();
  QGuiApplication::clipboard()->setImage(image_of(picture, picture_size, 2));
  report_result_(qtext(msg::window::picture_copied{.title = picture.title.toStdString()}), {}, {});
}

void ExportActions::save(Page& page) {
  const QString path = ask_for_file(window_, qtext(msg::window::export_plot_title{}), page.file_stem(),
                                    qtext(msg::window::plot_filter{}),
                                    {QStringLiteral(".png"), QStringLiteral(".svg"), QStringLiteral(".pdf")});
  if (!path.isEmpty()) save_to(path);
}

void ExportActions::save_to(const QString& path) {
  Page& page = *page_();
  if (!recheck(page, plot_)) return;
  report_result_(qtext(msg::window::written{.file = one_line(path).toStdString()}),
                 save_picture(path, picture_size, page.picture()), Banner::Topic::write);
}

void ExportActions::save_values(Page& page) {
  const QString stem = page.file_stem().isEmpty() ? QStringLiteral("values") : page.file_stem();
  const QString path = ask_for_file(window_, qtext(msg::window::export_values_title{}), stem,
                                    qtext(msg::window::values_filter{}), {QStringLiteral(".csv")});
  if (path.isEmpty() || !recheck(page, values_kind_)) return;
  const QByteArray text = to_csv(page.values());
  report_result_(qtext(msg::window::written{.file = one_line(path).toStdString()}),
                 save_file(path, [&](QIODevice& out) { return write_all(out, text); }), Banner::Topic::write);
}

}  // namespace attnscope::ui
