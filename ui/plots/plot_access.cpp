// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_access.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QWidget>

namespace attnscope::ui {
namespace {

/// A plot as a chart. Its value is the read-out at the cursor, and its press action selects that mark.
class AccessiblePlot : public QAccessibleWidget {
 public:
  AccessiblePlot(QWidget* plot, PlotCursor& cursor) : QAccessibleWidget(plot, QAccessible::Chart), cursor_(cursor) {}

  [[nodiscard]] QString text(QAccessible::Text kind) const override {
    return kind == QAccessible::Value ? cursor_.cursor_text() : QAccessibleWidget::text(kind);
  }
  [[nodiscard]] QStringList actionNames() const override {
    return QStringList{pressAction()} + QAccessibleWidget::actionNames();
  }
  void doAction(const QString& action) override {
    action == pressAction() ? cursor_.select_cursor() : QAccessibleWidget::doAction(action);
  }

 private:
  PlotCursor& cursor_;
};

QAccessibleInterface* make_accessible_plot(const QString& /*type*/, QObject* object) {
  auto* plot = qobject_cast<QWidget*>(object);
  auto* cursor = dynamic_cast<PlotCursor*>(object);
  return plot == nullptr || cursor == nullptr ? nullptr : new AccessiblePlot(plot, *cursor);
}

}  // namespace

PlotCursor::PlotCursor() {
  static const bool installed = [] {
    QAccessible::installFactory(&make_accessible_plot);
    return true;
  }();
  (void)installed;
}

void announce_cursor(QWidget& plot, const PlotCursor& cursor) {
  plot.setAccessibleDescription(cursor.cursor_text());
  QAccessibleEvent changed(&plot, QAccessible::ValueChanged);
  QAccessible::updateAccessibility(&changed);
}

}  // namespace attnscope::ui
