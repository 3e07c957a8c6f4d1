// SPDX-License-Identifier: GPL-3.0-or-later
// A zoomable plot with a legend whose entries show and hide curves.
#pragma once

#include <qcustomplot.h>
#include <QJsonObject>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ui/plots/plot_export.h"
#include "ui/plots/point_plot.h"

namespace attnscope::ui {

// Legend below the axes, in columns: one per group if all groups fit, else as many as fit. If it leaves too little
// height for the axes, a short form is used: one gray entry per style, plus one entry per color that no control above
// the plot shows.

class PlotLegend {
 public:
  /// Line and marker shared by entries of different colors.
  struct Style {
    QString text;
    QPen pen;  ///< Only its style is used, not its color.
    QCPScatterStyle scatter = {};
  };

  struct ShownEntry {
    QString text;
    QStringList curves;  ///< Labels of the curves that the entry shows and hides; empty for pure text.
  };

  explicit PlotLegend(QCustomPlot& plot) : plot_(plot) {}

  /// Adds an entry; entries keep their order, and those of a group are adjacent. The plot keeps ownership of
  /// `plottable`. Without `style`, the short form shows the entry unchanged. `curve`: label of its curve.
  void add(const QString& group, QCPAbstractPlottable* plottable, const std::optional<Style>& style = {},
           const QString& curve = {});
  /// Adds a color for the short form: one entry for all curves of that color. `shown_in_controls`: controls above the
  /// plot show the color, too.
  void add_color(const QString& text, const QColor& color, bool shown_in_controls, const QString& curve);
  /// Sets the curves that are hidden. An entry without visible curves is struck out on screen and skipped in files;
  /// `words` then becomes the last entry, which applies to all of them.
  void set_hidden(std::set<QString> curves, const QString& words);
  /// Null if `item` is no entry or has no curves.
  [[nodiscard]] const ShownEntry* shown(const QCPAbstractLegendItem* item) const;
  [[nodiscard]] std::vector<ShownEntry> shown() const;
  /// Removes the entries; the layout stays until the next lay_out() or remove().
  void clear() {
    entries_.clear();
    colors_.clear();
  }
  /// Rebuilds the legend as the last row of the plot's layout, for a plot of that size.
  void lay_out(const QSize& size, PlotTarget target);
  void remove();
  /// Returns all entries of the long form, one per line.
  [[nodiscard]] QString entry_texts() const;
  [[nodiscard]] bool contains(const QPoint& position) const;

 private:
  struct Entry {
    QString group;
    QCPAbstractPlottable* plottable = nullptr;  ///< Null for entries of the short form.
    std::optional<Style> style = {};
    std::optional<QColor> color = {};  ///< Color of a color entry.
    QStringList curves = {};

    [[nodiscard]] bool uses_style(bool short_form) const { return plottable == nullptr || (short_form && style); }
    [[nodiscard]] QString text(bool short_form) const {
      return uses_style(short_form) ? style->text : plottable->name();
    }
  };
  struct Color {
    QString text;
    QColor color;
    bool shown_in_controls;
    QStringList curves;
  };
  struct Grid {
    struct Cell {
      Entry entry;
      int row;
      int column;
    };
    std::vector<Cell> cells;
    std::vector<int> column_widths;
    int height = 0;
  };
  [[nodiscard]] bool is_hidden(const Entry& entry) const;
  /// Returns the entries of one form, including the entry for hidden curves.
  [[nodiscard]] std::vector<Entry> entries(bool short_form, PlotTarget target) const;
  [[nodiscard]] std::vector<Entry> short_entries(PlotTarget target) const;
  [[nodiscard]] Grid arrange(const std::vector<Entry>& entries, int width, bool short_form) const;
  /// Returns the widths of as many columns as fit, filled row by row; at least one.
  [[nodiscard]] std::vector<int> max_columns(const std::vector<Entry>& entries, int available, bool short_form) const;
  /// Keeps the rows that fit into `room`, at least one; the last cell shows how many entries were dropped.
  void shorten(Grid& grid, int room) const;
  [[nodiscard]] QSize size_of(const QString& text) const;
  QCPLegend* add_box();

  QCustomPlot& plot_;
  std::vector<Entry> entries_;
  std::vector<Color> colors_;
  QCPLegend* box_ = nullptr;
  std::map<const QCPAbstractLegendItem*, ShownEntry> items_;
  std::set<QString> hidden_;
  QString hidden_text_;
  bool short_ = false;
};

class LegendPlot : public PointPlot {
  Q_OBJECT
 public:
  /// Names of the hidden curves; the legend shows their number.
  [[nodiscard]] const std::set<QString>& hidden() const { return hidden_; }
  /// Hides the curves of a legend entry, as a click does; shows them if all are hidden.
  void toggle(const QStringList& names);
  /// Hides all other curves, as Ctrl+click does; shows all if the others are already hidden.
  void isolate(const QStringList& names);
  [[nodiscard]] const PlotLegend& plot_legend() const { return legend_; }
  virtual void reset_view() = 0;
  /// Returns whether the user has zoomed or dragged since the last reset.
  [[nodiscard]] bool is_user_zoomed() const { return is_user_zoomed_; }
  /// Zoom as {"x": [low, high], "y": [low, high]}; empty if the user has not zoomed.
  [[nodiscard]] QJsonObject zoom() const;
  /// Zoom to use once the plot is drawn; an empty or invalid one removes the zoom.
  void restore_zoom(const QJsonObject& zoom);
  /// Applies the zoom of restore_zoom(). `more`: data is still loading, so the zoom is kept for later.
  void apply_zoom(bool more);

 protected:
  explicit LegendPlot(QWidget* parent);

  /// Names of all curves that can be hidden, hidden ones included.
  [[nodiscard]] virtual QStringList names() const = 0;
  /// Clears the legend, and un-hides names that no longer exist.
  void draw_contents() override;
  void lay_out(const QSize& size, PlotTarget target) override;
  [[nodiscard]] bool is_hidden(const QString& name) const { return hidden_.contains(name); }

  bool event(QEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

  PlotLegend legend_{*this};
  bool is_user_zoomed_ = false;

 private:
  void handle_user_zoom();
  void click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers);

  std::set<QString> hidden_;
  QJsonObject pending_zoom_;
};

}  // namespace attnscope::ui
