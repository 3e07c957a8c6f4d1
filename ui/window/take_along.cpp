// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/take_along.h"

#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenuBar>
#include <algorithm>
#include <map>
#include <new>
#include <sstream>
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

/// A name without an ending gets that of the filter that was chosen, else the first of `endings`.
QString ask_for_file(QWidget* window, const QString& title, const QString& stem, const QString& filter,
                     const QStringList& endings) {
  QString chosen;
  QString path = QFileDialog::getSaveFileName(window, title, usual_place(stem + endings.front()), filter, &chosen);
  if (path.isEmpty() || !QFileInfo(path).suffix().isEmpty()) return path;
  for (const QString& ending : endings) {
    if (chosen.contains(ending)) return path + ending;
  }
  return path + endings.front();
}

}  // namespace

TakeAlong::TakeAlong(std::function<Page*()> page, Say say, QMainWindow* window)
    : QObject(window->menuBar()), page_(std::move(page)), say_(std::move(say)), window_(window) {
  plot_ = {[](const Page& shown) { return shown.has_plot(); },
           QStringLiteral("There is no plot on this page; Export values shown writes what it shows.")};
  values_there_ = {[](const Page& shown) { return shown.has_values(); },
                   QStringLiteral("This page has no values to hand over now; Export CSV writes its points.")};
  const Kind command{[](const Page& shown) {
                       return shown.marked() && shown.shows_marked() &&
                              known_algorithms().find(shown.marked()->spec.algorithm) != nullptr;
                     },
                     QStringLiteral("No point that this program can measure is selected on this page.")};
  copies_ = {add(qtext(say::window::copy_picture{}), QStringLiteral("Ctrl+Shift+C"), plot_,
                 [this](Page& shown) { copy(shown); }),
             add(qtext(say::window::copy_values{}), QStringLiteral("Ctrl+Alt+C"), values_there_,
                 [this](const Page& shown) {
                   const ShownValues copied = shown.values();
                   QGuiApplication::clipboard()->setText(as_tsv(copied));
                   say_(qtext(say::window::values_copied{.lines = copied.lines.size()}), {}, {});
                 }),
             add(qtext(say::window::copy_command{}), {}, command, [this](const Page& shown) {
               const std::string copied = collect_command(shown.marked()->spec);
               QGuiApplication::clipboard()->setText(to_qstring(copied));
               say_(qtext(say::window::command_copied{.command = copied}), {}, {});
             })};
  saves_ = {
      add(qtext(say::window::export_plot{}), QStringLiteral("Ctrl+E"), plot_, [this](Page& shown) { save(shown); }),
      add(qtext(say::window::export_values{}), {}, values_there_, [this](Page& shown) { save_values(shown); })};
}

bool TakeAlong::still(Page& page, const Kind& kind) {
  page.settle();
  if (kind.there(page)) return true;
  say_({}, kind.otherwise, Banner::Topic::choice);
  return false;
}

QAction* TakeAlong::add(const QString& text, const QString& key, const Kind& kind, std::function<void(Page&)> then) {
  auto* action = new QAction(text, this);
  if (!key.isEmpty()) action->setShortcut(QKeySequence(key));
  connect(action, &QAction::triggered, this, [this, kind, then = std::move(then)] {
    Page& page = *page_();
    if (still(page, kind)) then(page);
  });
  entries_.push_back({action, kind.there});
  return action;
}

void TakeAlong::add(QMenu& menu, const std::vector<QAction*>& actions) {
  for (QAction* action : actions) menu.addAction(action);
  // Keys work while a menu is closed, whatever it showed last.
  connect(&menu, &QMenu::aboutToShow, this, [this] {
    for (const Entry& entry : entries_) entry.action->setEnabled(entry.can(*page_()));
  });
  connect(&menu, &QMenu::aboutToHide, this, [this] {
    for (const Entry& entry : entries_) entry.action->setEnabled(true);
  });
}

void TakeAlong::add_copies(QMenu& menu) {
  add(menu, copies_);
}

void TakeAlong::add_saves(QMenu& menu) {
  add(menu, saves_);
}

void TakeAlong::add_all(QMenu& menu) {
  if (!menu.isEmpty()) menu.addSeparator();
  add(menu, copies_);
  menu.addSeparator();
  add(menu, saves_);
}

void TakeAlong::copy(Page& page) {
  const PlotPicture picture = page.picture();
  QGuiApplication::clipboard()->setImage(image_of(picture, picture_size, 2));
  say_(qtext(say::window::picture_copied{.title = picture.title.toStdString()}), {}, {});
}

void TakeAlong::save(Page& page) {
  const QString path = ask_for_file(window_, qtext(say::window::export_plot_title{}), page.file_stem(),
                                    qtext(say::window::plot_filter{}),
                                    {QStringLiteral(".png"), QStringLiteral(".svg"), QStringLiteral(".pdf")});
  if (!path.isEmpty()) save_to(path);
}

void TakeAlong::save_to(const QString& path) {
  Page& page = *page_();
  if (!still(page, plot_)) return;
  say_(qtext(say::window::written{.file = one_line(path).toStdString()}),
       save_picture(path, picture_size, page.picture()), Banner::Topic::write);
}

void TakeAlong::save_values(Page& page) {
  const QString stem = page.file_stem().isEmpty() ? QStringLiteral("values") : page.file_stem();
  const QString path = ask_for_file(window_, qtext(say::window::export_values_title{}), stem,
                                    qtext(say::window::values_filter{}), {QStringLiteral(".csv")});
  if (path.isEmpty() || !still(page, values_there_)) return;
  const QByteArray text = as_csv(page.values());
  say_(qtext(say::window::written{.file = one_line(path).toStdString()}),
       save_file(path, [&](QIODevice& out) { return write_all(out, text); }), Banner::Topic::write);
}

namespace {

/// What one file has of the table.
struct Part {
  std::vector<RunPtr> runs;
  std::vector<std::int64_t> points;
};

std::map<QString, Part> parts_of(const PointSet& points) {
  std::map<QString, Part> parts;
  const auto add = [&](Row row) {
    const RunPtr& run = points.run_of(row);
    Part& part = parts[run->file];
    if (std::ranges::find(part.runs, run) == part.runs.end()) part.runs.push_back(run);
    part.points.push_back(points.id(row));
  };
  for (Row row = 0; row < points.size(); ++row) add(row);
  return parts;
}

/// A run of the part that is not in the file at its path; null when all are.
RunPtr replaced_run(const Part& part, const RunStore& store) {
  const std::vector<RunSummary> there = store.runs();
  for (const RunPtr& run : part.runs) {
    const bool same_run = std::ranges::any_of(there, [&](const RunSummary& summary) {
      return summary.id == run->summary.id && summary.uid == run->summary.uid;
    });
    if (!same_run || !stamp_of(store.file()).same_file(run->stamp)) return run;
  }
  return nullptr;
}

SavedTable file_replaced(const RunPtr& run) {
  return {.error = qtext("Nothing was written: {} was replaced by another file since it was read. It is read anew; "
                         "look at it and export again.",
                         run->file.toStdString()),
          .replaced = run};
}

/// That the table lacks rows that are damaged; empty when it does not.
QString lacking(const std::vector<RunStore>& stores) {
  for (const RunStore& store : stores) {
    const std::vector<BadRow> skipped = store.bad_rows();
    if (skipped.empty()) continue;
    const std::string file = store.file().string();
    return qtext("{} is damaged: numbers in the table may be missing or wrong.", file);
  }
  return {};
}

SavedTable save_parts(const std::map<QString, Part>& parts, const QStringList& files, const QString& path) {
  std::vector<RunStore> stores;
  std::vector<ExportSource> sources;
  std::vector<const Part*> of_source;
  stores.reserve(parts.size());  // sources point into it
  std::size_t wanted = 0;
  for (const QString& file : files) {
    const auto part = parts.find(file);
    if (part == parts.end()) continue;
    stores.push_back(RunStore::open(file.toStdString(), RunStore::Mode::read_only));
    if (const RunPtr run = replaced_run(part->second, stores.back())) return file_replaced(run);
    std::vector<std::int64_t> runs;
    for (const RunPtr& run : part->second.runs) runs.push_back(run->summary.id);
    sources.push_back({&stores.back(), std::move(runs), part->second.points});
    of_source.push_back(&part->second);
    wanted += part->second.points.size();
  }
  std::ostringstream table;
  SavedTable saved{.written = export_csv(sources, table)};
  // It may have been replaced while it was read, too.
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (const RunPtr run = replaced_run(*of_source[i], stores[i])) return file_replaced(run);
  }
  const QString lacks = lacking(stores);
  if (saved.written.points != wanted && lacks.isEmpty()) return file_replaced(of_source.front()->runs.front());
  const QByteArray text = QByteArray::fromStdString(std::move(table).str());
  saved.error = save_file(path, [&](QIODevice& out) { return write_all(out, text); });
  if (saved.error.isEmpty()) saved.error = lacks;
  return saved;
}

}  // namespace

SavedTable save_shown_points(const Workspace& workspace, const QString& path) {
  try {
    const auto ticked = [](const LoadedRun& run) { return run.visible; };
    if (std::ranges::none_of(workspace.runs(), ticked)) {
      return {.error = QStringLiteral("There is nothing to export: no run is ticked."), .nothing_to_write = true};
    }
    const std::size_t ticked_points = workspace.ticked_points();
    if (ticked_points == 0)
      return {.error = QStringLiteral("There is nothing to export: the ticked runs have no points."),
              .nothing_to_write = true};
    const std::shared_ptr<const PointSet> points = workspace.visible();
    if (points->empty()) {
      return {.error = qtext("There is nothing to export: the filter “{}” hides all {}.",
                             workspace.query().toStdString(), counted_points(ticked_points)),
              .nothing_to_write = true};
    }
    return save_parts(parts_of(*points), workspace.files(), path);
  } catch (const std::bad_alloc&) {
    return {.error =
                qtext("There is not enough memory to write {}: tick fewer runs, or close files.", path.toStdString())};
  } catch (const std::exception& error) {
    return {.error = QString::fromUtf8(error.what())};
  }
}

}  // namespace attnscope::ui
