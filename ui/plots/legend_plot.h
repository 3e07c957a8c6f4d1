// SPDX-License-Identifier: GPL-3.0-or-later
// A plot of points on one pair of axes, which can be zoomed, with a legend whose entries hide what they stand for.
#pragma once

#include <QJsonObject>
#include <set>

#include "ui/plots/marked_plot.h"
#include "ui/plots/plot_legend.h"

namespace attnscope::ui {

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
