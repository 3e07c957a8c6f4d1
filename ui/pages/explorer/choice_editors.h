// SPDX-License-Identifier: GPL-3.0-or-later
// Editors for all fields of a point and all knobs of its algorithm, generated from their tables.
#pragma once

#include <QLabel>
#include <QWidget>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "profiler/plan/fields.h"
#include "ui/pages/explorer/choices.h"
#include "ui/widgets/number_editor.h"

class QComboBox;
class QGridLayout;

namespace attnscope::ui {

class ChoiceEditors : public QWidget {
  Q_OBJECT
 public:
  /// `fields` has to outlive the editors.
  explicit ChoiceEditors(QWidget* parent = nullptr, std::span<const Field> fields = point_fields());

  /// Shows these choices; hides knobs that the algorithm does not declare.
  void show_choices(const ExplorerChoices& choices);
  /// Note of the tile rule below the editor of M; empty: none.
  void show_rule_text(const QString& words);
  /// Error of an editor's value; empty: none.
  void show_error(const QString& name, const QString& why);
  [[nodiscard]] QString rule_text() const;
  /// Error shown below an editor; empty: none.
  [[nodiscard]] QString error(const QString& name) const;

 signals:
  /// Arguments as for choose(). `gesture`: equal for all edits of one slider drag.
  void edited(const QString& name, const QString& text, int gesture);

 private:
  struct Row {
    QLabel* label = nullptr;
    std::vector<QWidget*> widgets;
    QLabel* error = nullptr;
    std::function<void(const ExplorerChoices&)> show;
  };

  void add_field(const Field& field);
  void add_integer_editor(const Field& field);
  void add_double_editor(const Field& field);
  void add_m();
  void add_padding();
  void add_what_if();
  Row& add_row(const QString& name, const QString& label, const QString& help, std::vector<QWidget*> widgets);
  NumberEditor* add_number(const QString& name, const QString& label, const QString& help, int least, int most,
                           int step, std::vector<int> stops, int factor = 1);
  /// Adds a combo box; `free`: other values may be typed.
  QComboBox* add_combo_box(const QString& name, const QString& label, const QString& help, const QStringList& words,
                           bool free);
  void emit_edited(const QString& name, const QString& text, bool sliding);

  std::span<const Field> fields_;
  QGridLayout* grid_ = nullptr;
  std::map<QString, Row> rows_;
  QLabel* rule_label_ = nullptr;
  int gesture_ = 0;
};

}  // namespace attnscope::ui
