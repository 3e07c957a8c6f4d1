// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/compiled_card.h"

#include <QFileInfo>
#include <QVBoxLayout>
#include <algorithm>
#include <chrono>

#include "kernels/model/occupancy.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "messages/explorer_page.h"
#include "ui/explorer/card_words.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// An editor may save in steps, and a slider is moved on.
constexpr std::chrono::milliseconds settles{400};

const user::KernelFiles* files_of(const std::string& kernel) {
  const auto& known = user::known_kernel_files();
  const auto found = std::ranges::find(known, kernel, &user::KernelFiles::name);
  return found == known.end() ? nullptr : &*found;
}

QString arch_of(const DeviceLimits& limits) {
  return QStringLiteral("sm_%1%2%3")
      .arg(limits.compute_major)
      .arg(limits.compute_minor)
      .arg(limits.compute_major >= 9 ? QStringLiteral("a") : QString());
}

/// How many blocks an SM holds, now that the registers are known.
std::string held(const BuildReport& report, const KernelModel* kernel, const DeviceLimits& limits) {
  if (kernel == nullptr) return {};
  LaunchFootprint footprint = kernel->footprint();
  footprint.registers_per_thread = report.registers;
  footprint.shared_bytes += report.static_shared_bytes;
  const int blocks = theoretical_occupancy(limits, footprint).blocks_per_sm;
  return blocks > 0 ? text(say::explorer_page::blocks_held{.blocks = blocks, .threads = footprint.threads_per_block})
                    : text(say::explorer_page::no_block_held{.threads = footprint.threads_per_block});
}

QString words_of(const BuildReport& report, const QString& arch, const KernelModel* model, const DeviceLimits& limits) {
  const std::string kernel = report.kernel;
  if (!report.error.empty()) {
    return report.compiled ? qtext(say::explorer_page::does_not_fit{.kernel = kernel})
                           : qtext(say::explorer_page::does_not_compile{.kernel = kernel});
  }
  if (!report.compiled) return qtext(say::explorer_page::came_compiled{.kernel = kernel});
  const std::int64_t spilled = report.spill_store_bytes + report.spill_load_bytes;
  return qtext(say::explorer_page::compiled_kernel{
      .kernel = kernel,
      .arch = arch.toStdString(),
      .registers = report.registers,
      .spills = spilled == 0 ? text(say::explorer_page::no_spills{})
                             : text(say::explorer_page::spills{.stored = text(Capacity(report.spill_store_bytes)),
                                                               .loaded = text(Capacity(report.spill_load_bytes))}),
      .fixed = text(Capacity(report.static_shared_bytes)),
      .dynamic = text(Capacity(report.dynamic_shared_bytes)),
      .held = held(report, model, limits)});
}

}  // namespace

CompiledCard::CompiledCard(QWidget* parent) : QWidget(parent), choices_(default_choices()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  state_ = card_words(this, QStringLiteral("compiled"));
  messages_ = card_words(this, QStringLiteral("compiler-messages"));
  messages_->setTextFormat(Qt::RichText);
  messages_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  messages_->hide();
  column->addWidget(state_);
  column->addWidget(messages_);
  settling_.setSingleShot(true);
  settling_.setInterval(settles);
  connect(&settling_, &QTimer::timeout, this, &CompiledCard::compile);
  connect(&build_, &KernelBuild::built, this, &CompiledCard::take);
  connect(&build_, &KernelBuild::failed, this, [this](const QString& why) {
    show_words(why.isEmpty() ? qtext(say::explorer_page::compiler_ended{}) : why);
  });
}

void CompiledCard::show_choices(const ExplorerChoices& choices, bool runs) {
  choices_ = choices;
  const Facts& facts = known_algorithms().find(choices.point.spec.algorithm)->facts();
  compiles_ = runs && facts.foreign && !facts.host_code && files_of(facts.name) != nullptr;
  parentWidget()->setVisible(compiles_);
  ask();
}

void CompiledCard::compile_again() {
  of_.reset();
  ask();
}

void CompiledCard::finish() {
  if (settling_.isActive()) {
    settling_.stop();
    compile();
  }
  build_.finish();
}

void CompiledCard::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  ask();
}

void CompiledCard::ask() {
  if (!compiles_) {
    settling_.stop();
    return;
  }
  if (of_ == choices_ || !isVisible()) return;
  build_.stop();
  of_.reset();
  set_words(state_, qtext(say::explorer_page::compiling{}));
  settling_.start();
}

void CompiledCard::compile() {
  of_ = choices_;
  const bool listed = choices_.own == nullptr;
  build_.start(choices_.point.spec, arch_of(limits_of(choices_)),
               listed ? QString::fromStdString(choices_.device) : QString());
}

void CompiledCard::take(const std::vector<BuildReport>& kernels) {
  QStringList words;
  std::vector<CompilerMessage> messages;
  const user::KernelFiles* files = files_of(of_->point.spec.algorithm);
  const QDir folder =
      files == nullptr ? QDir() : QFileInfo(QString::fromStdString(files->statement.string())).absoluteDir();
  const PointSpec& spec = of_->point.spec;
  const DeviceLimits limits = limits_of(*of_);
  const auto stated = known_algorithms().find(spec.algorithm)->model(spec.problem, spec.config(), limits).kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const BuildReport& kernel = kernels[i];
    // Launches of one source are compiled once, and then nobody knows whose these are.
    words << words_of(kernel, arch_of(limits), stated.size() == kernels.size() ? &stated[i] : nullptr, limits);
    std::ranges::move(compiler_messages(qtext(kernel.error), folder), std::back_inserter(messages));
  }
  show_words(words.join(QLatin1Char('\n')), messages);
}

void CompiledCard::show_words(const QString& words, const std::vector<CompilerMessage>& messages) {
  set_words(state_, words);
  QString rows;
  for (const CompilerMessage& each : messages) {
    rows += QStringLiteral("<tr><td style='padding-right:8px; white-space:nowrap'>%1</td><td>%2</td></tr>")
                .arg(each.place.toHtmlEscaped(), each.text.toHtmlEscaped());
  }
  set_words(messages_, rows.isEmpty() ? QString()
                                      : QStringLiteral("<table cellspacing='0' cellpadding='1'>") + rows +
                                            QStringLiteral("</table>"));
  messages_->setVisible(!rows.isEmpty());
}

}  // namespace attnscope::ui
