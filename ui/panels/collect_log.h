// SPDX-License-Identifier: GPL-3.0-or-later
// Log of a collection, one line per event, colored by disposition.
#pragma once

#include <QListWidget>
#include <optional>

#include "profiler/metrics/point.h"

namespace attnscope::ui {

class CollectLog : public QListWidget {
  Q_OBJECT
 public:
  explicit CollectLog(QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {256, 96}; }

  /// `kind` sets the color. Scrolls to the end unless the user has scrolled away.
  void add(const QString& text, std::optional<Disposition> kind, const QString& tip = {});

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void color(QListWidgetItem& item) const;
};

}  // namespace attnscope::ui
