// SPDX-License-Identifier: GPL-3.0-or-later
// List model of the runs of all open files, with check boxes that show or hide them.
#pragma once

#include <QAbstractListModel>

#include "ui/runs/workspace.h"

namespace attnscope::ui {

class RunsModel : public QAbstractListModel {
  Q_OBJECT
 public:
  /// origin_role: "simulated" or "imported", empty for measured runs. file_role: file name and start time.
  enum Role { title_role = Qt::UserRole + 1, detail_role, file_role, origin_role, state_role };

  explicit RunsModel(Workspace& workspace, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  void synchronize();

  Workspace& workspace_;
  /// Rows that views know; the workspace may already have changed.
  std::vector<RunPtr> shown_;
};

}  // namespace attnscope::ui
