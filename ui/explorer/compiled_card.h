// SPDX-License-Identifier: GPL-3.0-or-later
// What the compiler says of a kernel of the user's own as it is explored: registers, spills and shared memory, or its
// messages. It is compiled aside whenever another configuration is explored and its source is saved.
#pragma once

#include <QLabel>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "ui/explorer/choices.h"
#include "ui/process/kernel_build.h"

namespace attnscope::ui {

class CompiledCard : public QWidget {
  Q_OBJECT
 public:
  explicit CompiledCard(QWidget* parent = nullptr);

  /// `runs`: theory says that it runs. Of what there is nothing to compile, the card that it stands on is hidden.
  void show_choices(const ExplorerChoices& choices, bool runs);
  /// Its sources are others.
  void compile_again();
  /// Waits for what is being compiled: for pictures.
  void finish();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void ask();
  void compile();
  void take(const std::vector<BuildReport>& kernels);
  void show_words(const QString& words, const std::vector<CompilerMessage>& messages = {});

  KernelBuild build_;
  QTimer settling_;
  ExplorerChoices choices_;
  bool compiles_ = false;                   ///< there is something to compile
  std::optional<ExplorerChoices> of_ = {};  ///< what was compiled last, or is being compiled
  QLabel* state_ = nullptr;
  QLabel* messages_ = nullptr;
};

}  // namespace attnscope::ui
