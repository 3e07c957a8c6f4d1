// SPDX-License-Identifier: GPL-3.0-or-later
// Editors for all fields of a point and all knobs of its algorithm, generated from their tables, in two groups: problem
// and tile.
#pragma once

#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "profiler/plan/fields.h"
#include "ui/pages/explorer/choices.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/number_editor.h"

class QComboBox;

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
  /// Shows the editors that are used rarely.
  void set_more(bool problem, bool tile);
  [[nodiscard]] bool shows_more_of_problem() const { return boxes_[0].more->isChecked(); }
  [[nodiscard]] bool shows_more_of_tile() const { return boxes_[1].more->isChecked(); }

 signals:
  /// Arguments as for choose(). `gesture`: equal for all edits of one slider drag.
  void edited(const QString& name, const QString& text, int gesture);

 private:
  enum class Group { problem, tile };
  struct Row {
    QWidget* cell = nullptr;  ///< label, widgets and error
    QLabel* label = nullptr;
    std::vector<QWidget*> widgets;
    QLabel* error = nullptr;
    std::function<void(const ExplorerChoices&)> show;
    std::function<bool(const ExplorerChoices&)> is_changed = nullptr;  ///< from the default; null: never
    Group group = Group::problem;
    bool folded = false;     ///< Shown only with More.
    bool applicable = true;  ///< to the algorithm
  };
  /// Editors of a group in wrapped lines, those that are used rarely only with More.
  struct GroupBox {
    FlowLayout* flow = nullptr;
    QToolButton* more = nullptr;
  };

  void build_groups();
  /// Adds the button More to the group whose rows were added.
  void add_more(const QString& name, const QString& accessible_name);
  [[nodiscard]] GroupBox& box_of(Group group) { return boxes_[static_cast<std::size_t>(group)]; }
  /// Shows the editors that apply, and counts the folded ones that differ from their defaults.
  void show_rows(const ExplorerChoices* choices);
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
  std::array<GroupBox, 2> boxes_;
  Group group_ = Group::problem;  ///< Group of the rows that are being added.
  bool folded_ = false;           ///< Whether the rows that are being added are folded.
  std::map<QString, Row> rows_;
  QLabel* rule_label_ = nullptr;
  int gesture_ = 0;
};

}  // namespace attnscope::ui
