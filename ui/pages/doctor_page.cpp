// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/doctor_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <QClipboard>
#include <QEvent>
#include <QFrame>
#include <QGridLayout>
#include <QGuiApplication>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <utility>

#include "kernels/model/device_limits.h"
#include "messages/collect_panel.h"
#include "messages/doctor_page.h"
#include "ui/process/remote_device_list.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr int patience_s = 10;  ///< for an answer, before it is said that there is none yet

/// A status by word and shape; whoever sees colours has them, too.
struct State {
  QString words;
  Disposition color = Disposition::infeasible;
};
State state_of(const QString& status) {
  if (status == QLatin1String("ok")) return {QStringLiteral("✓ ") + qtext(say::doctor_page::ok{}), Disposition::ok};
  if (status == QLatin1String("warning"))
    return {QStringLiteral("▲ ") + qtext(say::doctor_page::warning{}), Disposition::no_counters};
  if (status == QLatin1String("missing"))
    return {QStringLiteral("✕ ") + qtext(say::doctor_page::missing{}), Disposition::crashed};
  if (status == QLatin1String("skipped")) return {QStringLiteral("– ") + qtext(say::doctor_page::skipped{})};
  return {QStringLiteral("– ") + status};  // a newer program's
}

QString words_of(const Finding& finding) {
  QStringList lines{finding.title + QStringLiteral(": ") + finding.detail};
  const auto add = [&](const Message& line) { lines << qtext(line); };
  if (!finding.fix.isEmpty()) add(say::doctor_page::fix{.fix = finding.fix.toStdString()});
  if (!finding.command.isEmpty()) lines << QStringLiteral("$ ") + finding.command;
  if (!finding.still_works.isEmpty()) add(say::doctor_page::still_works{.what = finding.still_works.toStdString()});
  return lines.join(QLatin1Char('\n'));
}

void copy(const QString& text) {
  QGuiApplication::clipboard()->setText(text);
}

QLabel* wrapped_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  return label;
}

}  // namespace

DoctorPage::DoctorPage(Workspace& workspace, QWidget* parent) : Page(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  add_head(*column);
  area_ = new QScrollArea(this);
  area_->setFrameShape(QFrame::NoFrame);
  area_->setWidgetResizable(true);
  area_->setFocusPolicy(Qt::NoFocus);
  area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  column->addWidget(area_, 1);
  add_measuring(*column);
  connect(&check_, &DoctorCheck::found, this, [this](const std::vector<Finding>& findings) {
    end_wait();
    findings_ = findings;
    show_findings();
    offer();
    emit looked();
  });
  connect(&check_, &DoctorCheck::failed, this, [this](const QString& why) {
    end_wait();
    show_words(qtext(say::doctor_page::failed{.why = why.toStdString()}));
    emit looked();
  });
  late_.setObjectName(QStringLiteral("doctor-late"));
  late_.setInterval(patience_s * 1000);
  connect(&late_, &QTimer::timeout, this, &DoctorPage::say_late);
  connect(&devices_, &DeviceList::changed, this, &DoctorPage::show_devices);
  connect(&workspace_, &Workspace::points_changed, this, &DoctorPage::show_others);
  show_others();
  offer();
}

void DoctorPage::add_head(QLayout& column) {
  auto* row = new QWidget(this);
  auto* flow = new FlowLayout(row, 8);
  choice_ = new QComboBox(row);
  choice_->setAccessibleName(qtext(say::doctor_page::device{}));
  choice_->hide();
  again_ = new QPushButton(qtext(say::doctor_page::again{}), row);
  again_->setObjectName(QStringLiteral("look-again"));
  copy_all_ = new QPushButton(qtext(say::doctor_page::copy_all{}), row);
  copy_all_->setObjectName(QStringLiteral("copy-all"));
  stop_looking_ = new QPushButton(qtext(say::doctor_page::stop{}), row);
  stop_looking_->setObjectName(QStringLiteral("stop-looking"));
  stop_looking_->hide();
  for (QWidget* widget : std::initializer_list<QWidget*>{choice_, again_, stop_looking_, copy_all_}) {
    flow->addWidget(widget);
  }
  column.addWidget(row);
  summary_ = wrapped_label(this);
  column.addWidget(summary_);
  others_ = wrapped_label(this);
  column.addWidget(others_);
  connect(choice_, &QComboBox::activated, this, &DoctorPage::look);
  connect(again_, &QPushButton::clicked, this, [this] {
    devices_.probe();
    look();
  });
  connect(stop_looking_, &QPushButton::clicked, this, [this] {
    check_.stop();
    show_words(qtext(say::doctor_page::stopped{.seconds = waited_s_}));
    end_wait();
    offer();
    emit looked();
  });
  connect(copy_all_, &QPushButton::clicked, this, [this] { copy(as_text()); });
}

void DoctorPage::add_measuring(QLayout& column) {
  auto* line = new QFrame(this);
  line->setFrameShape(QFrame::HLine);
  column.addWidget(line);
  auto* row = new QWidget(this);
  auto* fields = new QHBoxLayout(row);
  fields->setContentsMargins(0, 0, 0, 0);
  database_ = new DatabaseField(row);
  auto* label = new QLabel(qtext(say::doctor_page::into{}), row);
  label->setBuddy(database_->path());
  database_->path()->setAccessibleName(label->text());  // readers look for a label beside the field alone
  fields->addWidget(label);
  fields->addWidget(database_, 1);
  column.addWidget(row);
  auto* buttons = new QWidget(this);
  auto* flow = new FlowLayout(buttons, 8);
  const auto add = [&](const Message& words, const char* name) {
    auto* button = new QPushButton(qtext(words), buttons);
    button->setObjectName(QLatin1String(name));
    flow->addWidget(button);
    return button;
  };
  ceilings_ = add(say::doctor_page::ceilings{}, "measure-ceilings");
  noise_ = add(say::doctor_page::noise{}, "measure-noise");
  stop_ = add(say::doctor_page::stop{}, "stop-measuring");
  column.addWidget(buttons);
  progress_ = wrapped_label(this);
  column.addWidget(progress_);
  file_ = database_->path()->text();
  choices().keep("file", file_);
  connect(database_->path(), &QLineEdit::textChanged, this, [this](const QString& path) {
    file_ = path;
    offer();
  });
  connect(ceilings_, &QPushButton::clicked, this, [this] { measure(DeviceWork::Kind::ceilings); });
  connect(noise_, &QPushButton::clicked, this, [this] { measure(DeviceWork::Kind::noise); });
  connect(stop_, &QPushButton::clicked, this, &Page::stop_wanted);
}

void DoctorPage::show_choices() {
  database_->path()->setText(file_);
}

void DoctorPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (std::exchange(looked_, true)) return;
  devices_.probe();
  look();
}

void DoctorPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  // Labels do not go while Qt hands the palette round to them.
  if (event->type() == QEvent::PaletteChange && !findings_.empty()) {
    QMetaObject::invokeMethod(this, &DoctorPage::show_findings, Qt::QueuedConnection);
  }
}

void DoctorPage::pose() {
  check_.finish();
}

const ListedDevice* DoctorPage::device() const {
  const ListedDevice* listed = devices_.find(choice_->currentData().toString());
  return listed == nullptr || listed->gpu.isEmpty() ? nullptr : listed;
}

void DoctorPage::show_devices() {
  const QString chosen = choice_->currentData().toString();
  {
    const QSignalBlocker quiet(choice_);
    choice_->clear();
    for (const ListedDevice& listed : devices_.devices()) {
      if (!listed.simulated) choice_->addItem(listed.name, listed.argument);
    }
    choice_->setCurrentIndex(std::max(choice_->findData(chosen), choice_->count() > 0 ? 0 : -1));
  }
  choice_->setVisible(choice_->count() > 1);
  show_others();
  if (looked_ && !chosen.isEmpty() && choice_->currentData().toString() != chosen) look();
  offer();
}

void DoctorPage::say_late() {
  waited_s_ += patience_s;
  summary_->setText(qtext(say::doctor_page::late{.seconds = waited_s_}));
  stop_looking_->show();
}

void DoctorPage::end_wait() {
  late_.stop();
  waited_s_ = 0;
  stop_looking_->hide();
}

void DoctorPage::show_others() {
  std::set<std::string> others;
  for (const LoadedRun& run : workspace_.runs()) {
    if (run.visible && !run.info->summary.simulated) others.insert(run.info->summary.device_name);
  }
  for (const ListedDevice& listed : devices_.devices()) {
    if (listed.simulated || is_remote_device(listed.argument)) continue;
    std::erase_if(others, [&](const std::string& name) { return same_gpu(name, listed.gpu.toStdString()); });
  }
  others_->setText(
      others.empty() ? QString() : qtext(say::doctor_page::others{.gpus = fmt::format("{}", fmt::join(others, ", "))}));
  others_->setVisible(!others.empty());
}

void DoctorPage::look() {
  end_wait();
  if (!busy_) told_.clear();
  if (find_collector().isEmpty()) {
    show_words(qtext(say::doctor_page::no_program{}));
    offer();
    emit looked();
    return;
  }
  const QString argument = choice_->currentData().toString();
  if (is_remote_device(argument)) {
    check_.stop();
    const ListedDevice* listed = devices_.find(argument);
    show_words(qtext(say::doctor_page::elsewhere{.device = choice_->currentText().toStdString(),
                                                 .note = listed == nullptr ? "" : listed->note.toStdString()}));
    offer();
    emit looked();
    return;
  }
  check_.look(argument.isEmpty() ? QStringLiteral("0") : argument);
  late_.start();
  offer();
  if (findings_.empty()) show_words(qtext(say::doctor_page::looking{}));
}

void DoctorPage::show_words(const QString& words) {
  findings_.clear();
  show_findings();
  summary_->setText(words);
}

void DoctorPage::show_findings() {
  auto* content = new QWidget;
  auto* grid = new QGridLayout(content);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(10);
  grid->setColumnStretch(1, 1);
  const bool dark = plot_colors(palette()).dark;
  int line = 0;
  for (const Finding& finding : findings_) {
    const State state = state_of(finding.status);
    auto* word = new QLabel(state.words, content);
    QPalette ink = word->palette();
    ink.setColor(QPalette::WindowText, disposition_color(state.color, dark));
    word->setPalette(ink);
    grid->addWidget(word, line, 0, Qt::AlignTop);
    auto* text = wrapped_label(content);
    text->setText(words_of(finding));
    text->setAccessibleName(state.words + QStringLiteral(", ") + text->text());
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    text->setMinimumWidth(1);  // a path that is a long word is cut, and widens no window
    grid->addWidget(text, line, 1);
    if (!finding.fix.isEmpty()) {
      auto* button = new QPushButton(qtext(say::doctor_page::copy{}), content);
      button->setObjectName(QStringLiteral("copy-") + finding.item);
      button->setAccessibleName(qtext(say::doctor_page::copy_of{.item = finding.title.toStdString()}));
      // What else the fix asks for stands above the command, as a shell leaves it out.
      const QString fix = finding.command.isEmpty()
                              ? finding.fix
                              : QStringLiteral("# %1\n%2").arg(one_line(finding.fix), finding.command);
      button->setToolTip(plain_tip(fix));
      connect(button, &QPushButton::clicked, this, [fix] { copy(fix); });
      grid->addWidget(button, line, 2, Qt::AlignTop);
    }
    ++line;
  }
  grid->setRowStretch(line, 1);
  area_->setWidget(content);
  copy_all_->setEnabled(!findings_.empty());
  const auto count = [&](const char* status) {
    return std::ranges::count(findings_, QLatin1String(status), &Finding::status);
  };
  const auto warnings = count("warning");
  const auto skipped = count("skipped");
  // A status that is not known is no good news.
  const auto problems = static_cast<std::ptrdiff_t>(findings_.size()) - count("ok") - warnings - skipped;
  if (problems + warnings == 0 && skipped > 0) {
    summary_->setText(qtext(say::doctor_page::not_all_looked_at{.skipped = skipped}));
  } else if (problems + warnings == 0) {
    summary_->setText(qtext(say::doctor_page::all_well{}));
  } else {
    summary_->setText(qtext(say::doctor_page::not_well{.problems = problems, .warnings = warnings}));
  }
}

QString DoctorPage::as_text() const {
  QStringList blocks;
  for (const Finding& finding : findings_)
    blocks << state_of(finding.status).words + QStringLiteral("  ") + words_of(finding);
  return blocks.join(QLatin1Char('\n'));
}

void DoctorPage::offer() {
  const ListedDevice* gpu = device();
  QString why;
  if (find_collector().isEmpty()) {
    why = qtext(say::doctor_page::no_program{});
  } else if (gpu == nullptr) {
    why = qtext(say::doctor_page::no_gpu{});
  } else if (busy_) {
    why = qtext(say::collect_panel::running{});
  } else {
    why = database_->problem();
  }
  ceilings_->setEnabled(why.isEmpty());
  ceilings_->setToolTip(plain_tip(why.isEmpty() ? qtext(say::doctor_page::ceilings_help{}) : why));
  if (why.isEmpty() && is_remote_device(gpu->argument)) why = qtext(say::doctor_page::noise_elsewhere{});
  noise_->setEnabled(why.isEmpty());
  noise_->setToolTip(plain_tip(why.isEmpty() ? qtext(say::doctor_page::noise_help{}) : why));
  stop_->setEnabled(busy_);
  // What stands in the way is known once doctor has answered.
  progress_->setText(told_.isEmpty() && !check_.running() ? why : told_);
  progress_->setVisible(!progress_->text().isEmpty());
}

void DoctorPage::measure(DeviceWork::Kind kind) {
  const ListedDevice* gpu = device();
  if (gpu == nullptr) return;
  emit device_work_wanted(
      {.kind = kind, .device = gpu->argument, .name = gpu->name, .database = database_->path()->text().trimmed()});
}

void DoctorPage::show_progress(const QString& words, bool busy) {
  busy_ = busy;
  told_ = words;
  offer();
}

}  // namespace attnscope::ui
