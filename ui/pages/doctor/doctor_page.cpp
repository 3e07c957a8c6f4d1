// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/doctor/doctor_page.h"

#include <QClipboard>
#include <QFrame>
#include <QGridLayout>
#include <QGuiApplication>
#include <QJsonArray>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "messages/collect_panel.h"
#include "messages/doctor_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr qsizetype max_label_length = 4000;  ///< In characters. Laying out a longer label would block the window.

QString state_of(const CheckRow& check) {
  return check.ok ? QStringLiteral("✓ ") + qtext(msg::doctor_page::ok{})
                  : QStringLiteral("✕ ") + qtext(msg::doctor_page::problem{});
}

QString words_of(const CheckRow& check) {
  const bool named = check.detail.startsWith(check.name);  // "NVRTC 13.0 (...)"
  const QString words = named ? check.detail : check.name + QStringLiteral(": ") + check.detail;
  return check.fix.isEmpty() ? words
                             : words + QLatin1Char('\n') + qtext(msg::doctor_page::fix{.fix = check.fix.toStdString()});
}

QString program_missing_text() {
  return qtext(
      "Program “attnscope” not found in this program's folder or in PATH (install it, or set ATTNSCOPE_COLLECTOR, then "
      "press “{}”).",
      text(msg::doctor_page::check_again{}));
}

}  // namespace

DoctorPage::DoctorPage(Workspace& /*workspace*/, QWidget* parent) : Page(parent) {
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
  add_ceilings_controls(*column);
  connect(&program_, &JsonProgram::ended, this, &DoctorPage::read);
  connect(&devices_, &DeviceList::changed, this, &DoctorPage::show_devices);
  update_measure_buttons();
}

void DoctorPage::add_head(QLayout& column) {
  auto* row = new QWidget(this);
  auto* flow = new FlowLayout(row, 8);
  choice_ = new QComboBox(row);
  choice_->setAccessibleName(qtext(msg::doctor_page::device{}));
  choice_->hide();
  again_ = new QPushButton(qtext(msg::doctor_page::check_again{}), row);
  again_->setObjectName(QStringLiteral("look-again"));
  copy_all_ = new QPushButton(qtext(msg::doctor_page::copy_all{}), row);
  copy_all_->setObjectName(QStringLiteral("copy-all"));
  for (QWidget* widget : std::initializer_list<QWidget*>{choice_, again_, copy_all_}) flow->addWidget(widget);
  column.addWidget(row);
  summary_ = wrapped_label(this);
  column.addWidget(summary_);
  connect(choice_, &QComboBox::activated, this, &DoctorPage::run_checks);
  connect(again_, &QPushButton::clicked, this, [this] {
    devices_.probe();
    run_checks();
  });
  connect(copy_all_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(as_text()); });
}

void DoctorPage::add_ceilings_controls(QLayout& column) {
  auto* line = new QFrame(this);
  line->setFrameShape(QFrame::HLine);
  column.addWidget(line);
  auto* row = new QWidget(this);
  auto* fields = new QHBoxLayout(row);
  fields->setContentsMargins(0, 0, 0, 0);
  database_ = new DatabaseField(row);
  auto* label = new QLabel(qtext(msg::doctor_page::output_file{}), row);
  label->setBuddy(database_->path());
  database_->path()->setAccessibleName(label->text());  // Screen readers only use a label directly next to the field.
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
  ceilings_ = add(msg::doctor_page::ceilings{}, "measure-ceilings");
  stop_ = add(msg::doctor_page::stop{}, "stop-measuring");
  column.addWidget(buttons);
  progress_ = wrapped_label(this);
  column.addWidget(progress_);
  file_ = database_->path()->text();
  choices().add("file", file_);
  connect(database_->path(), &QLineEdit::textChanged, this, [this](const QString& path) {
    file_ = path;
    update_measure_buttons();
  });
  connect(ceilings_, &QPushButton::clicked, this, &DoctorPage::measure);
  connect(stop_, &QPushButton::clicked, this, &Page::stop_requested);
}

void DoctorPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (std::exchange(checks_requested_, true)) return;
  devices_.probe();
  run_checks();
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
  if (checks_requested_ && !chosen.isEmpty() && choice_->currentData().toString() != chosen) run_checks();
  update_measure_buttons();
}

void DoctorPage::run_checks() {
  if (!busy_) progress_text_.clear();
  const QString argument = choice_->currentData().toString();
  if (find_collector().isEmpty() || is_remote_device(argument)) {
    program_.stop();
    const ListedDevice* listed = devices_.find(argument);
    show_checks({}, listed == nullptr || find_collector().isEmpty()
                        ? program_missing_text()
                        : qtext(msg::doctor_page::remote_device{.device = choice_->currentText().toStdString(),
                                                                .note = listed->note.toStdString()}));
    return;
  }
  program_.start({QStringLiteral("doctor"), QStringLiteral("--json"), QStringLiteral("--device"),
                  argument.isEmpty() ? QStringLiteral("0") : argument});
  update_measure_buttons();
  if (checks_.empty()) summary_->setText(qtext(msg::doctor_page::checking{}));
}

void DoctorPage::read(const QJsonObject& answer, const QString& why) {
  const QJsonArray rows = answer[QLatin1String("rows")].toArray();
  if (!why.isEmpty() || rows.isEmpty()) {
    show_checks({}, qtext("`attnscope doctor` did not answer: {}", why.left(max_label_length).toStdString()));
    return;
  }
  std::vector<CheckRow> checks;
  for (const auto& row : rows) {
    const auto word = [&](const char* key) { return row[QLatin1String(key)].toString().left(max_label_length); };
    checks.push_back({word("check"), word("status") == QLatin1String("ok"), word("detail"), word("fix")});
  }
  const auto problems = std::ranges::count(checks, false, &CheckRow::ok);
  show_checks(std::move(checks), problems == 0 ? qtext(msg::doctor_page::no_problems{})
                                               : qtext(msg::doctor_page::problems{.problems = problems}));
}

void DoctorPage::show_checks(std::vector<CheckRow> checks, const QString& summary) {
  checks_ = std::move(checks);
  auto* content = new QWidget;
  auto* grid = new QGridLayout(content);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(10);
  grid->setColumnStretch(1, 1);
  int line = 0;
  for (const CheckRow& check : checks_) {
    grid->addWidget(new QLabel(state_of(check), content), line, 0, Qt::AlignTop);
    auto* text = wrapped_label(content);
    text->setText(words_of(check));
    text->setAccessibleName(state_of(check) + QStringLiteral(", ") + text->text());
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    text->setMinimumWidth(1);  // Long paths are cut and do not widen the window.
    grid->addWidget(text, line++, 1);
  }
  grid->setRowStretch(line, 1);
  area_->setWidget(content);
  copy_all_->setEnabled(!checks_.empty());
  summary_->setText(summary);
  update_measure_buttons();
  emit checks_finished();
}

QString DoctorPage::as_text() const {
  QStringList blocks;
  for (const CheckRow& check : checks_) blocks << state_of(check) + QStringLiteral("  ") + words_of(check);
  return blocks.join(QLatin1Char('\n'));
}

void DoctorPage::update_measure_buttons() {
  const ListedDevice* gpu = device();
  QString why;
  if (find_collector().isEmpty()) {
    why = program_missing_text();
  } else if (gpu == nullptr) {
    why = qtext(msg::doctor_page::no_gpu{});
  } else if (busy_) {
    why = qtext(msg::collect_panel::running{});
  } else {
    why = database_->problem();
  }
  ceilings_->setEnabled(why.isEmpty());
  ceilings_->setToolTip(plain_tooltip(why.isEmpty() ? qtext(msg::doctor_page::ceilings_help{}) : why));
  stop_->setEnabled(busy_);
  // Before doctor has finished, the reason is unknown.
  progress_->setText(progress_text_.isEmpty() && !program_.is_running() ? why : progress_text_);
  progress_->setVisible(!progress_->text().isEmpty());
}

void DoctorPage::measure() {
  const ListedDevice* gpu = device();
  if (gpu == nullptr) return;
  emit device_work_requested(
      {.device = gpu->argument, .name = gpu->name, .database = database_->path()->text().trimmed()});
}

void DoctorPage::show_progress(const QString& words, bool busy) {
  busy_ = busy;
  progress_text_ = words;
  update_measure_buttons();
}

}  // namespace attnscope::ui
