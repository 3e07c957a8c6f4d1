// SPDX-License-Identifier: GPL-3.0-or-later
// A page of the window, which knows it by this alone. page_list.cpp lists them.
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

struct DeviceWork;

class Page : public QWidget {
  Q_OBJECT
 public:
  explicit Page(QWidget* parent = nullptr);

  /// What has the focus when the page is turned to.
  [[nodiscard]] virtual QWidget* view() = 0;

  /// Whether the page shows a plot now.
  [[nodiscard]] virtual bool has_plot() const { return false; }
  /// The page's choices as a file name without its ending: "io-d128-causal-1x16".
  [[nodiscard]] virtual QString file_stem() const { return {}; }
  /// Of that plot. Pre: has_plot().
  [[nodiscard]] virtual PlotPicture picture() const { return {}; }
  /// Whether values() has any.
  [[nodiscard]] virtual bool has_values() const { return seen_table() != nullptr; }
  /// What the page shows and no more; of a page without an own say its first table that can be seen.
  [[nodiscard]] virtual ShownValues values() const;

  /// What the user has chosen on the page; restore() takes it back, also before there are points. Unknown or missing
  /// entries leave things as they are.
  [[nodiscard]] QJsonObject state() const { return choices_.state(); }
  void restore(const QJsonObject& state);

  /// `words`: how far the window is that measures a GPU itself, or how it ended; empty: nothing of it is to be said.
  /// `busy`: something is measured, and nothing else can begin.
  virtual void show_progress(const QString& /*words*/, bool /*busy*/) {}

  /// Keys and what they do, for the help.
  [[nodiscard]] virtual std::vector<std::pair<QString, QString>> shortcuts() const { return {}; }
  /// Makes the page show what a picture of the window should: a selection, where it has one.
  virtual void pose() {}

  /// Shows what there is by now, where the page stayed behind.
  void catch_up();
  /// Whether it stands behind another page, and what it would show has changed since.
  [[nodiscard]] bool outdated() const { return outdated_; }
  void setVisible(bool visible) override;
  /// What stands over what the page shows while that is not what was asked for; empty where it is.
  [[nodiscard]] QString late_words() const;
  /// Whether it shows what was last chosen and is visible: of many points that is worked out aside, and the page shows
  /// what it did until then.
  [[nodiscard]] bool settled() const;
  /// Waits until it does: for pictures and files.
  void settle();
  /// A page takes the height that the window gives it. Else every change of a text would have the window ask all pages,
  /// also those behind, how high they would like to be at several widths.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

  /// Marks the point that was selected last, on whichever page: at once where the page can be seen, else when it is
  /// turned to. Says nothing of it (point_selected()).
  void mark(const ShownPoint& point);
  [[nodiscard]] const std::optional<ShownPoint>& marked() const { return marked_; }
  /// Whether the page shows it.
  [[nodiscard]] bool shows_marked() const { return mark_shown_; }

 signals:
  void point_selected(const attnscope::ui::ShownPoint& point);
  /// The point that was selected last is shown now that what was worked out aside is there: shows_marked().
  void mark_found();
  /// That point is to be explored, or pinned where one explores.
  void explore_wanted(const attnscope::PointSpec& spec, const QString& gpu);
  void pin_wanted(const attnscope::PointSpec& spec, const QString& gpu);
  /// That point, by its id in `file`, is to be shown among others over the tile.
  void map_wanted(const QString& file, qint64 point);
  /// A menu is about to open over the page: the window adds what it offers of every page.
  void menu_opened(QMenu* menu);
  /// It shows what was asked for.
  void answered();
  /// A GPU itself is to be measured; what is being measured is to be stopped.
  void device_work_wanted(const attnscope::ui::DeviceWork& work);
  void stop_wanted();

 protected:
  /// What a menu over the page offers of what is selected there.
  virtual void fill_menu(QMenu& /*menu*/) {}
  void contextMenuEvent(QContextMenuEvent* event) override;
  /// Every choice of the page belongs in here.
  [[nodiscard]] Choices& choices() { return choices_; }
  /// Shows what is chosen after restore(), whose choices may all be others.
  virtual void show_choices() {}
  /// Shows what is visible by now; through fall_behind() and catch_up() alone.
  virtual void show_anew() {}
  /// Marks a point in what the page shows now; false: it does not show it. `moves`: the page may move what it shows to
  /// have it in sight. What is selected meanwhile is not told.
  virtual bool show_mark(const ShownPoint& /*point*/, bool /*moves*/) { return false; }
  /// Whether what the page shows may stay until what was asked for is there: a picture of other points, but not words
  /// that say why there is none.
  [[nodiscard]] virtual bool may_stay() const { return true; }
  /// Once the page shows something else by itself.
  void renew_mark();
  /// The user has selected a point on this page.
  void tell_selected(const attnscope::ui::ShownPoint& point);
  /// What the page shows is another: it looks anew, at once where it can be seen. Behind another page it waits until it
  /// is turned to, so that a change costs what is seen of it, however many pages there are.
  void fall_behind();
  /// From now on whenever what is visible changes.
  void keep_up_with(Workspace& workspace);

  /// What the page shows is worked out by that: a word over what is shown says that it takes a while, and what it
  /// throws aside. For what the page has as long as it lives.
  void watch(LiveWork& work);
  /// Nobody says that it takes a while, but pictures and files wait for it.
  void wait_for(LiveWork& work) { waited_for_.push_back(&work); }
  /// Whether what was asked for is on its way.
  [[nodiscard]] bool waiting() const;
  /// Says over what is shown that it is not yet, or never will be, what was asked for; nothing where it is.
  void say_late();

 private:
  /// Whether it can be seen, or stands in no window that could hide it.
  [[nodiscard]] bool in_sight() const { return !isHidden() || !testAttribute(Qt::WA_WState_ExplicitShowHide); }
  void show_marked(bool moves);
  /// What is asked for takes a while: after some patience a word over what is shown says so.
  void begin_late();
  void take_answer();
  [[nodiscard]] bool busy() const { return std::ranges::any_of(watched_, &LiveWork::busy); }
  /// With rows; null where there is none.
  [[nodiscard]] const PlainTable* seen_table() const;
  /// What waits until the page shows what was asked last.
  void mark_what_is_shown();
  void place_late();

  Choices choices_;
  bool outdated_ = false;
  std::optional<ShownPoint> marked_;
  bool mark_behind_ = false;  ///< marked_ is to be shown when the page is turned to
  bool mark_stale_ = false;   ///< it was shown in what the page showed before
  bool mark_shown_ = false;
  bool marking_ = false;
  Workspace* workspace_ = nullptr;  ///< that it keeps up with
  std::vector<LiveWork*> watched_;
  std::vector<LiveWork*> waited_for_;
  QTimer late_;  ///< how long nobody is told that he waits
  QLabel* late_words_ = nullptr;
  QString failure_;  ///< of what was asked last; empty: none
};

/// Under which key a page's state has its zoom.
inline QString zoom_key() {
  return QStringLiteral("zoom");
}
/// Keeps where the plot is zoomed to with what is chosen on the page.
void keep_zoom(Choices& choices, LegendPlot& plot);

}  // namespace attnscope::ui
