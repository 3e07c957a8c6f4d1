// SPDX-License-Identifier: GPL-3.0-or-later
// A plot of points on one pair of axes, which can be zoomed, with a legend whose entries hide what they stand for.
#pragma once

#include <qcustomplot.h>
#include <QJsonObject>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ui/plots/marked_plot.h"
#include "ui/plots/plot_export.h"

namespace attnscope::ui {

// A legend below the axes, in columns: one a group of entries where the groups fit side by side, else as many as fit.
// Where it would leave the axes too little height it says each style once, in grey, and whose each colour is as far as
// nothing beside the plot does.

class PlotLegend {
 public:
  /// What an entry has in common with those of other colours.
  struct Style {
    QString text;
    QPen pen;  ///< its colour does not matter
    QCPScatterStyle scatter = {};
  };

  /// An entry as it stands in the plot.
  struct Shown {
    QString text;
    QStringList curves;  ///< that it stands for, by their labels: they are hidden and shown by it; none of words alone
  };

  explicit PlotLegend(QCustomPlot& plot) : plot_(plot) {}

  /// Entries appear in this order; those of one group stand together. The plottable stays the plot's. Without a style
  /// the short legend has the entry as it is. `curve`: the one that it stands for, by its label.
  void add(const QString& group, QCPAbstractPlottable* plottable, const std::optional<Style>& style = {},
           const QString& curve = {});
  /// Whose a colour is: the short legend has one entry for all curves of a colour. `known_on_screen`: controls above
  /// the plot say so too.
  void add_color(const QString& text, const QColor& color, bool known_on_screen, const QString& curve);
  /// Curves that are not drawn. An entry of which nothing is drawn is struck out, in the plot, and left out of a file;
  /// `words` then stand behind all others, and for all of them.
  void set_hidden(std::set<QString> curves, const QString& words);
  /// Null for what is no entry, or stands for no curve.
  [[nodiscard]] const Shown* shown(const QCPAbstractLegendItem* item) const;
  [[nodiscard]] std::vector<Shown> shown() const;
  /// Forgets the entries; what is laid out stays until the next lay_out() or remove().
  void clear() {
    entries_.clear();
    colors_.clear();
  }
  /// Makes the legend anew as the last row of the plot's layout, for a plot of that size.
  void lay_out(const QSize& size, PlotTarget target);
  /// Takes the legend off the plot's layout, which frees its row.
  void remove();
  /// Everything that the whole legend says, a line an entry.
  [[nodiscard]] QString words() const;
  /// Whether a position on the plot is on the legend.
  [[nodiscard]] bool contains(const QPoint& position) const;

 private:
  struct Entry {
    QString group;
    QCPAbstractPlottable* plottable = nullptr;  ///< null for what only the short legend has
    std::optional<Style> style = {};
    std::optional<QColor> color = {};  ///< of a style that stands for a colour
    QStringList curves = {};

    [[nodiscard]] bool drawn_as_style(bool short_form) const { return plottable == nullptr || (short_form && style); }
    [[nodiscard]] QString text(bool short_form) const {
      return drawn_as_style(short_form) ? style->text : plottable->name();
    }
  };
  struct Color {
    QString text;
    QColor color;
    bool known_on_screen;
    QStringList curves;
  };
  /// Where each entry stands.
  struct Grid {
    struct Cell {
      Entry entry;
      int row;
      int column;
    };
    std::vector<Cell> cells;
    std::vector<int> column_widths;  ///< as shares
    int height = 0;
  };
  [[nodiscard]] bool is_hidden(const Entry& entry) const;
  /// The entries of one form, with the words of what is hidden.
  [[nodiscard]] std::vector<Entry> entries(bool short_form, PlotTarget target) const;
  [[nodiscard]] std::vector<Entry> short_entries(PlotTarget target) const;
  [[nodiscard]] Grid arrange(const std::vector<Entry>& entries, int width, bool short_form) const;
  /// The widths of as many columns as fit side by side, filled row by row; one at least.
  [[nodiscard]] std::vector<int> most_columns(const std::vector<Entry>& entries, int available, bool short_form) const;
  /// Leaves the rows that fit into `room`, at least one; the last place says how many entries are left out.
  void shorten(Grid& grid, int room) const;
  [[nodiscard]] QSize size_of(const QString& text) const;
  QCPLegend* add_box();

  QCustomPlot& plot_;
  std::vector<Entry> entries_;
  std::vector<Color> colors_;
  QCPLegend* box_ = nullptr;
  std::map<const QCPAbstractLegendItem*, Shown> items_;  ///< of box_
  std::set<QString> hidden_;
  QString hidden_words_;
  bool short_ = false;
};

class LegendPlot : public MarkedPlot {
  Q_OBJECT
 public:
  /// What is hidden, by its name; the legend says how many.
  [[nodiscard]] const std::set<QString>& hidden() const { return hidden_; }
  /// Hides what an entry of the legend stands for, as a click on it does; shows it where all of that is hidden.
  void toggle(const QStringList& names);
  /// Hides all others, as Ctrl and a click do; shows all where they are hidden already.
  void isolate(const QStringList& names);
  [[nodiscard]] const PlotLegend& plot_legend() const { return legend_; }
  virtual void reset_view() = 0;
  /// True once the user has zoomed or dragged, until the view is reset.
  [[nodiscard]] bool user_view() const { return user_view_; }
  /// Where to: {"x": [low, high], "y": [low, high]}; empty where he has not.
  [[nodiscard]] QJsonObject zoom() const;
  /// Of what is drawn later; an empty one, or what is none, takes the zoom away.
  void restore_zoom(const QJsonObject& zoom);
  /// Goes where restore_zoom() said, now that there is something to see; `more` of it is to come.
  void take_zoom(bool more);

 protected:
  explicit LegendPlot(QWidget* parent);

  /// The names of all that can be hidden, whether it is or not.
  [[nodiscard]] virtual QStringList names() const = 0;
  /// Begins the legend; what went with other points is not hidden.
  void draw_contents() override;
  void lay_out(const QSize& size, PlotTarget target) override;
  [[nodiscard]] bool is_hidden(const QString& name) const { return hidden_.contains(name); }

  bool event(QEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

  PlotLegend legend_{*this};
  bool user_view_ = false;

 private:
  void zoomed_by_hand();
  void click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers);

  std::set<QString> hidden_;
  QJsonObject zoom_to_come_;
};

}  // namespace attnscope::ui
