// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of the window's pages; page_list.cpp lists them.
#pragma once

#include <QJsonObject>
#include <QLabel>
#include <QString>
#include <QTimer>
#include <QWidget>
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ui/pages/choice.h"
#include "ui/plots/plot_export.h"
#include "ui/process/live.h"
#include "ui/runs/workspace.h"
#include "ui/text/values.h"

class QMenu;

namespace attnscope::ui {

class LegendPlot;
class PlainTable;

struct CeilingsTask;

class Page : public QWidget {
  Q_OBJECT
 public:
  explicit Page(QWidget* parent = nullptr);

  /// Widget that gets the focus when the page is shown.
  [[nodiscard]] virtual QWidget* view() = 0;

  [[nodiscard]] virtual bool has_plot() const { return false; }
  /// File name without extension, from the page's choices: "io-d128-causal-1x16".
  [[nodiscard]] virtual QString file_stem() const { return {}; }
  /// Picture of the plot. Pre: has_plot().
  [[nodiscard]] virtual PlotPicture picture() const { return {}; }
  [[nodiscard]] virtual bool has_values() const { return seen_table() != nullptr; }
  /// Values that the page shows; default: those of its first visible table.
  [[nodiscard]] virtual ShownValues values() const;

  /// Choices of the user. restore() also works before points are loaded, and ignores unknown or missing keys.
  [[nodiscard]] QJsonObject state() const { return choices_.state(); }
  void restore(const QJsonObject& state);

  /// `words`: progress or result of a measurement of ceilings; empty: none. `busy`: a measurement is running, no other
  /// can start.
  virtual void show_progress(const QString& /*words*/, bool /*busy*/) {}

  [[nodiscard]] virtual std::vector<std::pair<QString, QString>> shortcuts() const { return {}; }
  /// Prepares the page for a screenshot, e.g. selects a point.
  virtual void pose() {}

  void catch_up();
  /// Returns whether the page is hidden and its data changed since the last refresh.
  [[nodiscard]] bool outdated() const { return outdated_; }
  void setVisible(bool visible) override;
  /// Text over outdated content: computing, or failed. Empty if the content is up to date.
  [[nodiscard]] QString late_words() const;
  /// Returns whether the page shows the last choices and all visible points. With many points the update runs in a
  /// background thread.
  [[nodiscard]] bool settled() const;
  /// Waits until the page is up to date; for pictures and files.
  void settle();
  /// Pages take the height that the window gives them. Otherwise each text change would query all pages, hidden ones
  /// included, for their height at several widths.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

  /// Marks the point that was selected last on any page; a hidden page marks it when shown. Does not emit
  /// point_selected().
  void mark(const ShownPoint& point);
  [[nodiscard]] const std::optional<ShownPoint>& marked() const { return marked_; }
  /// Returns whether the marked point is visible on the page.
  [[nodiscard]] bool shows_marked() const { return mark_shown_; }

 signals:
  void point_selected(const attnscope::ui::ShownPoint& point);
  /// The marked point is shown now, after a background update.
  void mark_found();
  /// The user wants this point in the explorer, chosen or pinned.
  void explore_wanted(const attnscope::PointSpec& spec, const QString& gpu);
  void pin_wanted(const attnscope::PointSpec& spec, const QString& gpu);
  /// The user wants this point, by its id in `file`, in a tile map.
  void map_wanted(const QString& file, qint64 point);
  /// A context menu is about to open; the window adds its own entries.
  void menu_opened(QMenu* menu);
  void answered();
  /// The user wants to measure a GPU's ceilings, or to stop the measurement.
  void device_work_wanted(const attnscope::ui::CeilingsTask& work);
  void stop_wanted();

 protected:
  /// Adds entries for the selection to the context menu.
  virtual void fill_menu(QMenu& /*menu*/) {}
  void contextMenuEvent(QContextMenuEvent* event) override;
  /// Choices to save and restore; every choice of the page has to be added.
  [[nodiscard]] Choices& choices() { return choices_; }
  /// Shows all choices after restore().
  virtual void show_choices() {}
  /// Rebuilds the page from the visible points. Called by fall_behind() and catch_up() only.
  virtual void show_anew() {}
  /// Marks a point in the current content; returns false if it is not shown. `moves`: the page may scroll to it.
  /// Marks a point in the current content; returns false if it is not shown. `moves`: the page may scroll to it.
  /// No signal is emitted for the selection.
  virtual bool show_mark(const ShownPoint& /*point*/, bool /*moves*/) { return false; }
  /// Returns whether the old content may stay visible until the update is done: yes for a picture, no for an
  /// explanation of an empty page.
  [[nodiscard]] virtual bool may_stay() const { return true; }
  /// Marks the point again after the content changed.
  void renew_mark();
  /// Emits point_selected() for a point that the user selected on this page.
  void tell_selected(const attnscope::ui::ShownPoint& point);
  /// Marks the page as outdated. A visible page refreshes at once, a hidden one when shown.
  void fall_behind();
  /// Refreshes the page whenever the visible points change.
  void keep_up_with(Workspace& workspace);

  /// Shows an overlay while `work` takes long, and its error if it fails. `work` has to live as long as the page.
  void watch(BackgroundWork& work);
  /// No overlay for `work`, but settle() waits for it.
  void wait_for(BackgroundWork& work) { waited_for_.push_back(&work); }
  [[nodiscard]] bool waiting() const;
  /// Shows the overlay if the update is pending or failed; hides it otherwise.
  void say_late();

 private:
  /// Returns whether the page is visible or has no window that could hide it.
  [[nodiscard]] bool in_sight() const { return !isHidden() || !testAttribute(Qt::WA_WState_ExplicitShowHide); }
  void show_marked(bool moves);
  /// Starts the delay before the overlay is shown.
  void begin_late();
  void take_answer();
  [[nodiscard]] bool busy() const { return std::ranges::any_of(watched_, &BackgroundWork::busy); }
  /// First visible table with rows; null: none.
  [[nodiscard]] const PlainTable* seen_table() const;
  void mark_what_is_shown();
  void place_late();

  Choices choices_;
  bool outdated_ = false;
  std::optional<ShownPoint> marked_;
  bool mark_behind_ = false;  ///< marked_ has to be shown when the page is shown.
  bool mark_stale_ = false;   ///< The content changed since the mark was shown.
  bool mark_shown_ = false;
  bool marking_ = false;
  Workspace* workspace_ = nullptr;  ///< Source of the visible points.
  std::vector<BackgroundWork*> watched_;
  std::vector<BackgroundWork*> waited_for_;
  QTimer late_;  ///< Delay before the overlay is shown.
  QLabel* late_words_ = nullptr;
  QString failure_;  ///< Error of the last update; empty: none.
};

inline QString zoom_key() {
  return QStringLiteral("zoom");
}
/// Saves and restores the zoom of the plot with the page's choices.
void keep_zoom(Choices& choices, LegendPlot& plot);

}  // namespace attnscope::ui
