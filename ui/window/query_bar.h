// SPDX-License-Identifier: GPL-3.0-or-later
// The filter of the whole window: a line of words (profiler/points/point_query.h) that says which points every page
// and export shows, with what a word can become while it is written, and how many points are left.
#pragma once

#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QStringListModel>
#include <QTimer>
#include <QWidget>

#include "ui/runs/workspace.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class QueryBar : public QWidget {
  Q_OBJECT
 public:
  explicit QueryBar(Workspace& workspace, QWidget* parent = nullptr);

  /// Gives the line the focus, its text selected.
  void begin();
  /// Asks for this at once.
  void set_text(const QString& text);
  [[nodiscard]] QLineEdit* field() const { return field_; }
  [[nodiscard]] QCompleter* completer() const { return completer_; }
  /// "6 of 30 points"
  [[nodiscard]] QString count() const { return count_->text(); }
  /// What is wrong with the line; empty where it holds.
  [[nodiscard]] QString error() const { return note_->text(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void add_completer();
  /// Takes what stands there; an error is said, and what held before holds on.
  void apply();
  /// The same while somebody types: half a word that leaves nothing, or says nothing, waits for its other half.
  void apply_typed();
  /// How the word at the cursor may go on; empty where it is whole.
  [[nodiscard]] QString half_written() const;
  /// In red, where it stands.
  void mark(Workspace::Word wrong);
  /// Whether what stands there is not what holds.
  [[nodiscard]] bool holds_another() const;
  void tell(const QString& words);
  /// Why nothing fits, once the points that fit are known.
  void explain();
  /// What the workspace shows now.
  void show_state();
  /// How many of all ticked points are shown, or listed.
  [[nodiscard]] QString count_words(std::size_t all) const;
  void show_candidates(bool asked_for);
  void take(const QString& candidate);
  void mute();

  Workspace& workspace_;
  QLineEdit* field_ = nullptr;
  ElidedLabel* note_ = nullptr;
  QLabel* count_ = nullptr;
  QCompleter* completer_ = nullptr;
  QStringListModel* candidates_ = nullptr;
  QTimer typing_;
  bool half_ = false;     ///< what stands there waits for its other half
  bool explain_ = false;  ///< the query is taken, and nobody has looked yet whether anything fits
};

}  // namespace attnscope::ui
