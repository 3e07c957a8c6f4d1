// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/values_dialog.h"

#include <QAbstractTableModel>
#include <QVBoxLayout>
#include <utility>

namespace attnscope::ui {
namespace {

class ValuesModel : public QAbstractTableModel {
 public:
  ValuesModel(ShownValues values, QObject* parent) : QAbstractTableModel(parent), values_(std::move(values)) {}
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override {
    return parent.isValid() ? 0 : static_cast<int>(values_.lines.size());
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override {
    return parent.isValid() ? 0 : static_cast<int>(values_.keys.size());
  }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
    if (role != Qt::DisplayRole) return {};
    return values_.lines[static_cast<std::size_t>(index.row())].value(index.column());
  }
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    return orientation == Qt::Horizontal && role == Qt::DisplayRole ? values_.keys.value(section) : QVariant();
  }

 private:
  ShownValues values_;
};

}  // namespace

ValuesDialog::ValuesDialog(const QString& title, ShownValues values, QWidget* parent) : QDialog(parent) {
  constexpr QSize usual{760, 480};
  setWindowTitle(title);
  resize(usual);
  auto* column = new QVBoxLayout(this);
  table_ = new PlainTable(new ValuesModel(std::move(values), this), title, this);
  table_->resizeColumnsToContents();
  if (table_->model()->rowCount() > 0) table_->select_only_row(0);
  column->addWidget(table_);
  table_->setFocus();
}

}  // namespace attnscope::ui
