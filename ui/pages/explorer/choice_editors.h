// SPDX-License-Identifier: GPL-3.0-or-later
// An editor for each field of a point and each knob of its algorithm, made from their tables: one that is added there
// appears here.
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
  /// The table of fields has to outlive them.
  explicit ChoiceEditors(QWidget* parent = nullptr, std::span<const Field> fields = point_fields());

  /// Shows these choices; knobs that the algorithm does not state are hidden.
  void show_choices(const ExplorerChoices& choices);
  /// What M's rule has to say, below its editor; empty: nothing.
  void show_rule_words(const QString& words);
  /// Why what an editor calls for cannot be; empty: it can.
  void show_error(const QString& name, const QString& why);
  [[nodiscard]] QString rule_words() const;
  /// The line of an editor's error as it is shown; empty: there is none.
  [[nodiscard]] QString error(const QString& name) const;

 signals:
  /// As choose() takes them. `gesture`: equal for all that one drag of a slider brings.
  void edited(const QString& name, const QString& text, int gesture);

 private:
  struct Row {
    QLabel* label = nullptr;
    std::vector<QWidget*> widgets;  ///< beside the label
    QLabel* error = nullptr;
    std::function<void(const ExplorerChoices&)> show;
  };

  void add_field(const Field& field);
  void add_whole_number(const Field& field);
  void add_real_number(const Field& field);
  void add_m();
  void add_padding();
  void add_what_if();
  Row& add_row(const QString& name, const QString& label, const QString& help, std::vector<QWidget*> widgets);
  NumberEditor* add_number(const QString& name, const QString& label, const QString& help, int least, int most,
                           int step, std::vector<int> stops, int factor = 1);
  /// A combo box; `free`: other words may be written into it.
  QComboBox* add_words(const QString& name, const QString& label, const QString& help, const QStringList& words,
                       bool free);
  void tell(const QString& name, const QString& text, bool sliding);

  std::span<const Field> fields_;
  QGridLayout* grid_ = nullptr;
  std::map<QString, Row> rows_;
  QLabel* rule_words_ = nullptr;
  int gesture_ = 0;
};

}  // namespace attnscope::ui
