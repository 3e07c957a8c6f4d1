// SPDX-License-Identifier: GPL-3.0-or-later
// One configuration, turned knob by knob: what theory says of it follows at every movement. Another one can be pinned:
// differences to it are shown.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QUndoStack>
#include <memory>
#include <vector>

#include "ui/pages/explorer/choices.h"
#include "ui/pages/explorer/recorded_points.h"
#include "ui/pages/explorer/unit_bars.h"
#include "ui/pages/page.h"

namespace attnscope::ui {

class ChoiceEditors;
class FittedTable;
class ResultModel;
class MeasuringCard;
class OnChipMap;

class ExplorerPage : public Page {
  Q_OBJECT
 public:
  explicit ExplorerPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override;
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;
  /// What no kernel of ours knows is left.
  /// Takes over that point, on a GPU by its name. False where the GPU is none that the page knows: another one stays.
  bool explore(const PointSpec& spec, const QString& gpu);
  /// Pins that point in place of the one that was. False: as explore().
  bool pin_point(const PointSpec& spec, const QString& gpu);
  /// Turns to that algorithm, with all else that is shown as far as the algorithm takes it.
  void explore_algorithm(const std::string& name);
  /// Sources of a user-defined kernel were changed, and its statement was not.
  void sources_saved();
  /// What is being measured, which closing the window would end: "3 to measure, into FILE"; empty without any.
  [[nodiscard]] QString under_way() const;
  void end_work();

  /// All that undo takes back.
  struct State {
    ExplorerChoices choices;
    std::optional<ExplorerChoices> pin;
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] const State& chosen() const { return chosen_; }
  /// Null until the first of a block mask is worked out.
  [[nodiscard]] const Explored* shown() const { return shown_.get(); }
  /// Whether what is shown is behind what is chosen: the rest is being worked out.
  [[nodiscard]] bool behind() const { return behind_ || explored_.busy(); }
  /// Whether the configuration runs, or why it does not.
  [[nodiscard]] QString verdict() const { return verdict_->text(); }
  [[nodiscard]] QString error_words() const { return errors_->text(); }

  [[nodiscard]] ChoiceEditors* editors() const { return editors_; }
  [[nodiscard]] OnChipMap* on_chip() const { return on_chip_; }
  [[nodiscard]] UnitBars* unit_bars() const { return unit_bars_; }
  [[nodiscard]] FittedTable* figures() const { return figures_view_; }
  [[nodiscard]] FittedTable* operands() const { return operands_view_; }
  [[nodiscard]] MeasuringCard& measuring() const { return *measuring_; }
  [[nodiscard]] QUndoStack& undo_stack() { return undo_; }

  /// Chooses the GPU of that file (profiler/files/gpu_file.h). The error is one line.
  [[nodiscard]] QString open_gpu(const QString& file);

  // To be connected to.
  void edit(const QString& name, const QString& text, int gesture);
  void pin();
  void unpin();
  /// The tile of the table of tiles, else of the algorithm's own rule.
  void take_default_tile();
  /// The nearest tile that runs, where what is chosen does not.
  void take_nearest();
  /// Exactly what is shown, on the device chosen for that.
  void measure();
  void sweep_around();

 protected:
  void show_choices() override;
  void show_anew() override { show_recorded(); }
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void keep_choices();
  void build_bar();
  void list_devices();
  /// Also those that an open file made known.
  void list_algorithms();
  void build_editors();
  /// Those that files made known since, with their knobs.
  void take_new_kernels();
  void choose_gpu_file();
  /// Takes the GPU of an opened file, of the table, or of a recorded run. False if there is none of that name.
  bool take_gpu(ExplorerChoices& choices, const QString& name) const;
  /// Takes the point as far as a known kernel supports it. Returns false for an unknown GPU, and keeps the chosen one.
  bool take_point(ExplorerChoices& choices, const PointSpec& spec, const QString& gpu) const;
  void follow_measuring();
  void fit_editors();
  void build_cards();
  /// Pushes the change on the stack of undo. `gesture` below 0: a change of its own.
  void change(State next, const QString& words, const QString& what = {}, int gesture = -1);
  void apply(const State& state);
  void work_out_chosen();
  void take_new_rates();
  void take(std::shared_ptr<const Explored> explored);
  void show_explored();
  void show_kernel();
  /// What changes with what was measured.
  void show_recorded();
  /// What this session measured of exactly what is shown, else what an open file has of it; null: nothing. Until it is
  /// asked again.
  [[nodiscard]] const PointRecord* measured_record();
  void show_figures();
  void show_verdict();
  void show_pin();
  void show_measured();
  /// Works out what is pinned, unless it is known.
  void know_pin();

  static constexpr int card_width = 400;
  static constexpr int most_columns = 3;
  class Change;
  Workspace& workspace_;
  std::vector<std::shared_ptr<const DeviceLimits>> opened_gpus_;
  State chosen_;
  std::shared_ptr<const Explored> shown_;
  bool behind_ = false;
  bool keeps_result_seen_ = false;  ///< until somebody scrolls or chooses
  bool queued_ = false;
  std::shared_ptr<const Explored> known_pin_;  ///< null: nothing is pinned, or it is being worked out
  QUndoStack undo_;

  QComboBox* algorithm_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* kernel_ = nullptr;
  QPushButton* pin_button_ = nullptr;
  QPushButton* unpin_button_ = nullptr;
  QPushButton* nearest_button_ = nullptr;
  MeasuringCard* measuring_ = nullptr;
  QLabel* verdict_ = nullptr;
  QLabel* occupancy_ = nullptr;
  QLabel* errors_ = nullptr;
  QLabel* of_kernel_ = nullptr;
  QLabel* terms_note_ = nullptr;
  ChoiceEditors* editors_ = nullptr;
  std::size_t knobs_there_ = 0;  ///< that they are for
  QScrollArea* editor_area_ = nullptr;
  QScrollArea* card_area_ = nullptr;
  OnChipMap* on_chip_ = nullptr;
  UnitBars* unit_bars_ = nullptr;
  PointRecords records_;
  std::shared_ptr<const PointRecord> of_file_;
  ResultModel* figures_ = nullptr;
  ResultModel* operands_ = nullptr;
  FittedTable* figures_view_ = nullptr;
  FittedTable* operands_view_ = nullptr;
  QLabel* no_operands_ = nullptr;
  // Models that take longer than a frame: block masks.
  Live<ExplorerChoices, std::shared_ptr<const Explored>> explored_;
  Live<ExplorerChoices, std::shared_ptr<const Explored>> explored_pin_;
};

}  // namespace attnscope::ui
