// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of all open files, with a check box each: checked runs are drawn.
#pragma once

#include <QAbstractListModel>

#include "ui/runs/workspace.h"

namespace attnscope::ui {

class RunsModel : public QAbstractListModel {
  Q_OBJECT
 public:
  /// origin_role: "simulated" or "imported"; empty for what a GPU here was measured at. file_role: its file
  /// and time in words.
  enum Role { title_role = Qt::UserRole + 1, detail_role, file_role, origin_role, state_role };

  explicit RunsModel(Workspace& workspace, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  void synchronize();

  Workspace& workspace_;
  /// What views have been told of: the workspace may be a step ahead.
  std::vector<RunPtr> shown_;
};

}  // namespace attnscope::ui
