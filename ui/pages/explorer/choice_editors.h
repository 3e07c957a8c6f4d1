// SPDX-License-Identifier: GPL-3.0-or-later
// Editors for all fields of a point and all knobs of its algorithm, generated from their tables, in two groups: problem
// and tile.
#pragma once

#include <QJsonObject>
#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <array>
#include <functional>
#include <map>
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
  explicit ChoiceEditors(QWidget* parent = nullptr);

  /// Shows these choices; hides knobs that the algorithm does not declare.
  void show_choices(const ExplorerChoices& choices);
  /// Note of the tile rule below the editor of M; empty: none.
  void show_rule_text(const QString& words);
  /// Error of an editor's value; empty: none.
  void show_error(const QString& name, const QString& why);
  /// Groups whose rarely used editors are shown: {"problem": true, "tile": false}.
  [[nodiscard]] QJsonObject shown_groups() const;
  void show_groups(const QJsonObject& shown);

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
  /// Adds the fields that `wanted` selects.
  template <class Wanted>
  void add_fields(const Wanted& wanted);
  /// Adds the button More to the group whose rows were added.
  void add_more(const QString& name, const Message& accessible_name);
  [[nodiscard]] GroupBox& box_of(Group group) { return boxes_[static_cast<std::size_t>(group)]; }
  /// Shows the editors that apply, and counts the folded ones that differ from their defaults.
  void show_rows(const ExplorerChoices* choices);
  void add_field(const Field& field);
  void add_integer_editor(const Field& field);
  void add_double_editor(const Field& field);
  /// Adds an editor of an amount of shared memory in KiB.
  NumberEditor* add_capacity(const QString& name, const Message& label, const Message& help);
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

  std::array<GroupBox, 2> boxes_;
  Group group_ = Group::problem;  ///< Group of the rows that are being added.
  bool folded_ = false;           ///< Whether the rows that are being added are folded.
  std::map<QString, Row> rows_;
  QLabel* rule_label_ = nullptr;
  int gesture_ = 0;
};

}  // namespace attnscope::ui
