// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of the window's pages, the text that a page shows if it has no content, and the list of pages
// (page_list.cpp).
#pragma once

#include <QBoxLayout>
#include <QIcon>
#include <QLabel>
#include <QStackedLayout>
#include <QTimer>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/predict/published_errors.h"
#include "ui/pages/facet_chip.h"
#include "ui/plots/plot_export.h"
#include "ui/process/background_task.h"
#include "ui/runs/point_set.h"
#include "ui/runs/workspace.h"
#include "ui/text/values.h"
#include "ui/widgets/elided_label.h"

class QMenu;

namespace attnscope::ui {

struct EmptyStateText {
  QString title;
  QString text;  ///< Rich text.
  /// Name of a recorded sample with suitable data (profiler/files/recorded_samples.h); empty: none.
  std::string_view sample = {};
  struct Action {
    QString text;
    std::function<void()> run;
  };
  std::vector<Action> nearest = {};    ///< Nearest combinations with points.
  std::function<void()> collect = {};  ///< Fills the form for a collection; null: not offered.
};

/// Returns why no point is visible and what to do: all filtered out, no file open, file loading, sweep without points
/// yet, no run selected, all points damaged.
[[nodiscard]] EmptyStateText no_points_text(const Workspace& workspace);
[[nodiscard]] bool has_active_run(const Workspace& workspace);

class EmptyState : public QLabel {
  Q_OBJECT
 public:
  /// Links in the text open the recorded sample or clear the filter of `workspace`.
  EmptyState(QWidget* parent, Workspace& workspace);
  void set_text(const EmptyStateText& words);
  /// A long word is cut and does not widen the window.
  [[nodiscard]] QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }
  /// The text is centered vertically.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

 private:
  void follow_link(const QString& link);

  Workspace& workspace_;
  EmptyStateText shown_;
};

/// Returns the outcomes and one reason for each if no point of the table ran. Null if a point ran or the table is
/// empty.
[[nodiscard]] std::optional<EmptyStateText> none_ran_text(const analysis::PointTable& table);

/// Group of simulated points with one published error.
struct SimulatedGroup {
  std::string algorithm;  ///< analysis::error_group()
  Pass pass = Pass::fwd;
  std::string gpu;        ///< "NVIDIA H200"
  std::string l2_source;  ///< GPU whose L2 model was used if this GPU's L2 was never measured; else empty.
  const analysis::PublishedErrors* errors = nullptr;  ///< see analysis::validated_errors()

  bool operator<(const SimulatedGroup& other) const {
    return std::tie(algorithm, pass, gpu, l2_source) <
           std::tie(other.algorithm, other.pass, other.gpu, other.l2_source);
  }
};
[[nodiscard]] std::set<SimulatedGroup> simulated_groups(const PointSet& points, std::span<const Row> rows);

/// Shows "FA2 DRAM ±0.4% (p95 1.4%), time ±5% (p95 17%)"; hidden if there are no groups.
class ErrorNote : public ElidedLabel {
  Q_OBJECT
 public:
  explicit ErrorNote(QWidget* parent = nullptr);
  void show_errors(const std::set<SimulatedGroup>& parts);
};

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
  /// Text shown instead of the content; empty while the content is shown.
  [[nodiscard]] QString replacement_text() const;
  /// File name without extension, from the page's choices: "io-d128-causal-1x16".
  [[nodiscard]] virtual QString file_stem() const { return {}; }
  /// Pre: has_plot().
  [[nodiscard]] virtual PlotPicture picture() const { return {}; }
  [[nodiscard]] virtual bool has_values() const { return first_visible_table() != nullptr; }
  /// Values that the page shows; default: those of its first visible table.
  [[nodiscard]] virtual ShownValues values() const;

  /// Choices of the user. restore() also works before points are loaded, and ignores unknown or missing keys.
  [[nodiscard]] QJsonObject state() const { return choices_.state(); }
  void restore(const QJsonObject& state);
  void remember_defaults() { defaults_ = state(); }
  /// Makes all choices automatic or as remembered, shows all series, and resets the zoom.
  void reset_view();

  /// `words`: progress or result of a measurement of ceilings; empty: none. `busy`: a measurement is running, no other
  /// can start.
  virtual void show_progress(const QString& /*words*/, bool /*busy*/) {}

  [[nodiscard]] virtual std::vector<std::pair<QString, QString>> shortcuts() const { return {}; }
  virtual void prepare_screenshot() {}

  void refresh_if_outdated();
  /// Returns whether the page is hidden and its data changed since the last refresh.
  [[nodiscard]] bool is_outdated() const { return outdated_; }
  void setVisible(bool visible) override;
  /// Text over outdated content: pending, or the error. Empty if the content is up to date.
  [[nodiscard]] QString overlay_text() const;
  /// Returns whether the page shows the last choices and all visible points. With many points the update runs in a
  /// background thread.
  [[nodiscard]] bool is_up_to_date() const;
  /// Waits until the page is up to date; for pictures and files.
  void wait_until_idle();
  /// Pages take the height that the window gives them. Otherwise each text change would query all pages, hidden ones
  /// included, for their height at several widths.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

  /// Marks the point that was selected last on any page; a hidden page marks it when shown. `follow`: the page shows
  /// the point's problem if it has the point. Does not emit point_selected().
  void mark(const ShownPoint& point, bool follow = true);
  [[nodiscard]] const std::optional<ShownPoint>& marked() const { return marked_; }
  [[nodiscard]] bool is_mark_shown() const { return mark_shown_; }

 signals:
  void point_selected(const attnscope::ui::ShownPoint& point);
  void explore_requested(const attnscope::PointSpec& spec, const QString& gpu);
  void pin_requested(const attnscope::PointSpec& spec, const QString& gpu);
  /// Requests a tile map with this point; `point`: its id in `file`.
  void map_requested(const QString& file, qint64 point);
  /// A context menu is about to open; the window adds its own entries.
  void menu_opened(QMenu* menu);
  /// Requests a collection of these points: a preset, empty for any, and axes in `collect` syntax.
  void collect_requested(const QString& preset, const QStringList& axes);
  /// Requests to measure a GPU's ceilings, or to stop the measurement.
  void device_work_requested(const attnscope::ui::CeilingsTask& work);
  void stop_requested();

 protected:
  /// Adds the content, which show_text() replaces by an explanation.
  void add_content(QBoxLayout& column, QWidget* content, Workspace& workspace);
  void add_error_note(QBoxLayout& column);
  /// `simulated`: groups of simulated points in the content, for the error note.
  void show_content(const std::set<SimulatedGroup>& simulated = {});
  void show_text(const EmptyStateText& words);
  virtual void fill_menu(QMenu& /*menu*/) {}
  void contextMenuEvent(QContextMenuEvent* event) override;
  /// Choices to save and restore; the page must add each of its choices.
  [[nodiscard]] Choices& choices() { return choices_; }
  virtual void show_choices() {}
  virtual void reset_choices() {}
  /// Shows the problem of a point that was selected on another page, if the page has the point.
  virtual void follow(const ShownPoint& /*point*/) {}
  /// Rebuilds the page from the visible points. Called by mark_stale() and refresh_if_outdated() only.
  virtual void rebuild_page() {}
  /// Marks a point in the current content without emitting a signal; returns false if it is not shown. `moves`: the
  /// page may scroll to it.
  virtual bool show_mark(const ShownPoint& /*point*/, bool /*moves*/) { return false; }
  /// Returns whether the old content may stay visible until the update is done: yes for a picture, no for an
  /// explanation of an empty page.
  [[nodiscard]] virtual bool can_stay_visible() const { return true; }
  void restore_mark();
  /// Emits point_selected() for a point that the user selected on this page.
  void emit_selected(const attnscope::ui::ShownPoint& point);
  /// Marks the page as outdated. A visible page refreshes at once, a hidden one when shown.
  void mark_stale();
  void follow_visible_points(Workspace& workspace);

  /// Shows an overlay while `work` takes long, and its error if it fails. `work` has to live as long as the page.
  void watch(BackgroundWork& work);
  /// Makes wait_until_idle() wait for `work`, without an overlay.
  void wait_for(BackgroundWork& work) { awaited_work_.push_back(&work); }
  [[nodiscard]] bool is_waiting() const;
  void update_overlay();

 private:
  /// Returns whether the page is visible or has no window that could hide it.
  [[nodiscard]] bool is_on_screen() const { return !isHidden() || !testAttribute(Qt::WA_WState_ExplicitShowHide); }
  void show_marked(bool moves);
  void schedule_overlay();
  [[nodiscard]] bool is_busy() const { return std::ranges::any_of(watched_work_, &BackgroundWork::is_busy); }
  [[nodiscard]] const PlainTable* first_visible_table() const;
  void update_mark();

  Choices choices_;
  QJsonObject defaults_;
  bool outdated_ = false;
  std::optional<ShownPoint> marked_;
  bool mark_pending_ = false;  ///< marked_ has to be shown when the page is shown.
  bool follow_pending_ = false;
  bool mark_outdated_ = false;  ///< The content changed since the mark was shown.
  bool mark_shown_ = false;
  bool marking_ = false;
  Workspace* workspace_ = nullptr;  ///< Source of the visible points.
  QStackedLayout* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  std::vector<BackgroundWork*> watched_work_;
  std::vector<BackgroundWork*> awaited_work_;
  QTimer overlay_timer_;  ///< Delay before the overlay is shown.
  QLabel* overlay_label_ = nullptr;
  QString failure_;  ///< Error of the last update; empty: none.
};

/// Label of plain text in several lines.
[[nodiscard]] QLabel* wrapped_label(QWidget* parent);

inline QString zoom_key() {
  return QStringLiteral("zoom");
}
void register_zoom(Choices& choices, LegendPlot& plot);

struct PageKind {
  std::string_view id;  ///< Used by the command line, settings and icon names.
  Message (*title)();   ///< Text of the tab and the menu entry.
  Page* (*make)(Workspace& workspace, QWidget* parent);
};

/// Pages in tab order, one per line of the list.
[[nodiscard]] std::span<const PageKind> page_kinds();
[[nodiscard]] QIcon icon_of(const PageKind& kind);

}  // namespace attnscope::ui
