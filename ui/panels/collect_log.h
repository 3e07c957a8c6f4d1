// SPDX-License-Identifier: GPL-3.0-or-later
// What a collection has said so far, a line each, in the colour of how a point ended.
#pragma once

#include <QListWidget>
#include <optional>

#include "profiler/metrics/point.h"

namespace attnscope::ui {

class CollectLog : public QListWidget {
  Q_OBJECT
 public:
  explicit CollectLog(QWidget* parent = nullptr);

  /// In the colour of such an end; none: plain. Follows the end of the list unless the user has scrolled away.
  void add(const QString& text, std::optional<Disposition> kind, const QString& tip = {});

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void color(QListWidgetItem& item) const;
};

}  // namespace attnscope::ui
