// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/import_dialog.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <memory>

#include "messages/import_dialog.h"
#include "profiler/files/output_file.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/points/table.h"
#include "storage/exchange/import.h"
#include "ui/models/result_model.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {
namespace {

constexpr QLatin1String axis_option("--axis");
constexpr QLatin1String map_option("--map");
constexpr QLatin1String ignore_option("--ignore");

/// Label of a metric or field in the window's language; the label that `attnscope import` wrote for other keys.
std::string label_of_key(const std::string& key, const std::string& written) {
  if (const Metric* metric = find_metric(key)) return text(metric->label());
  if (const Field* field = find_field(key)) return text(field->label());
  return written;
}

struct OptionField {
  QLatin1String name;  ///< option name of `attnscope import`
  MessageFunction label;
  MessageFunction example;
  bool ncu_only = true;
};
const OptionField option_fields[] = {
    {QLatin1String("--device-name"), message_of<msg::import_dialog::gpu>,
     message_of<msg::import_dialog::default_from_file>, false},
    {QLatin1String("--label"), message_of<msg::import_dialog::run_name>,
     message_of<msg::import_dialog::default_file_name>, false},
    {QLatin1String("--algorithm"), message_of<msg::import_dialog::algorithm>,
     message_of<msg::import_dialog::algorithm_example>, false},
    {axis_option, message_of<msg::import_dialog::problem>, message_of<msg::import_dialog::problem_example>, false},
    {map_option, message_of<msg::import_dialog::map_columns>, message_of<msg::import_dialog::map_example>, false},
    {ignore_option, message_of<msg::import_dialog::ignore_columns>, message_of<msg::import_dialog::ignore_example>,
     false},
    {QLatin1String("--kernel-name"), message_of<msg::import_dialog::kernel>,
     message_of<msg::import_dialog::all_launches>},
    {QLatin1String("--launches"), message_of<msg::import_dialog::launches>,
     message_of<msg::import_dialog::launches_example>},
    {QLatin1String("--repeats"), message_of<msg::import_dialog::repeats>,
     message_of<msg::import_dialog::repeats_example>},
};

QString name_of(const QString& format) {
  static const std::map<QString, MessageFunction> names{
      {QStringLiteral("csv"), message_of<msg::import_dialog::csv>},
      {QStringLiteral("json"), message_of<msg::import_dialog::json>},
      {QStringLiteral("kernel-tuner"), message_of<msg::import_dialog::kernel_tuner>},
      {QStringLiteral("markdown"), message_of<msg::import_dialog::markdown>},
      {QStringLiteral("ncu"), message_of<msg::import_dialog::ncu>},
      {QStringLiteral("nvbench"), message_of<msg::import_dialog::nvbench>}};
  const auto found = names.find(format);
  return found == names.end() ? format : qtext(found->second());
}

/// Replaces the options of `attnscope import` in a message by the labels of the dialog's fields.
QString with_field_labels(QString text) {
  static const QRegularExpression quoted(QStringLiteral("(--map|--ignore) '([^']*)'"));
  text.replace(quoted, QStringLiteral("\\1 \\2"));
  text.replace(QLatin1String("=VALUE -a "), QLatin1String("=VALUE "));
  text.replace(QLatin1String("-a "), axis_option + QLatin1Char(' '));
  for (const OptionField& option : option_fields) {
    const QRegularExpression name(option.name + QLatin1String("(?![-\\w])"));
    text.replace(name, QStringLiteral("“%1”").arg(qtext(option.label())));
  }
  return text;
}

}  // namespace

bool is_importable(const QString& file) {
  const QFileInfo info(file);
  if (!info.exists() || info.isDir() || info.suffix() == QLatin1String("attnscope")) return false;
  if (!info.isFile()) return true;  // reading a pipe would block
  QFile content(file);
  if (!content.open(QIODevice::ReadOnly)) return true;
  return !file_kind::measurements.is_one(content.read(4096).toStdString());
}

ImportDialog::ImportDialog(const QString& file, QWidget* parent)
    : QDialog(parent), file_(QFileInfo(file).absoluteFilePath()) {
  setWindowTitle(qtext(msg::import_dialog::title{}) + QStringLiteral(" – ") + one_line(QFileInfo(file).fileName()));
  auto* column = new QVBoxLayout(this);
  words_ = new QPlainTextEdit(this);
  words_->setObjectName(QStringLiteral("import-words"));
  words_->setReadOnly(true);
  words_->setAccessibleName(qtext(msg::import_dialog::file_contents{}));
  words_->setFrameShape(QFrame::NoFrame);
  words_->setTabChangesFocus(true);
  column->addWidget(words_);
  model_ = new ResultModel(this);
  auto* table = new PlainTable(model_, qtext(msg::import_dialog::columns{}), this);
  table->setObjectName(QStringLiteral("import-columns"));
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  column->addWidget(table, 1);
  add_option_fields();
  add_target();
  constexpr int typing_delay_ms = 250;
  debounce_timer_.setInterval(typing_delay_ms);
  debounce_timer_.setSingleShot(true);
  connect(&debounce_timer_, &QTimer::timeout, this, &ImportDialog::preview_file);
  connect(&preview_, &JsonProgram::ended, this, &ImportDialog::show_preview);
  connect(&import_, &JsonProgram::ended, this, [this](const QJsonObject& /*said*/, const QString& why) {
    if (!why.isEmpty()) return show_state(with_field_labels(why));
    emit imported(target());
    accept();
  });
  resize(860, 540);
  preview_file();
}

void ImportDialog::add_option_fields() {
  auto* grid = new QGridLayout;
  for (const OptionField& option : option_fields) {
    const int place = static_cast<int>(&option - option_fields);
    auto* label = new QLabel(qtext(option.label()), this);
    label->setObjectName(QLatin1String("label") + option.name);
    auto* field = new QLineEdit(this);
    field->setObjectName(QLatin1String("import") + option.name);
    field->setPlaceholderText(qtext(option.example()));
    label->setBuddy(field);
    grid->addWidget(label, place / 2, place % 2 * 2);
    grid->addWidget(field, place / 2, place % 2 * 2 + 1);
    connect(field, &QLineEdit::textChanged, this, [this] {
      preview_.stop();
      ready_ = false;
      debounce_timer_.start();
      show_state();
    });
  }
  static_cast<QVBoxLayout*>(layout())->addLayout(grid);
  show_option_fields(false);
}

void ImportDialog::show_option_fields(bool ncu_only) {
  for (const OptionField& option : option_fields) {
    for (const char* part : {"import", "label"}) {
      findChild<QWidget*>(QLatin1String(part) + option.name)->setVisible(ncu_only || !option.ncu_only);
    }
  }
}

QStringList ImportDialog::arguments() const {
  static const QRegularExpression blanks(QStringLiteral("\\s+"));
  QStringList all;
  for (const OptionField& option : option_fields) {
    const auto* field = findChild<QLineEdit*>(QLatin1String("import") + option.name);
    const QString text = field->text().trimmed();
    if (text.isEmpty() || !field->isVisibleTo(this)) continue;
    const bool columns = option.name == map_option || option.name == ignore_option;  // names may contain spaces
    QStringList values{text};
    if (option.name == axis_option) values = text.split(blanks);
    if (columns) values = text.split(QLatin1Char(';'), Qt::SkipEmptyParts);
    for (const QString& value : values) all << option.name + QLatin1Char('=') + value.trimmed();
  }
  return all << file_;
}

void ImportDialog::preview_file() {
  const QFileInfo info(file_);
  if (info.exists() && !info.isFile() && !info.isDir()) {
    return show_preview({}, qtext(msg::import_dialog::no_regular_file{.file = file_.toStdString()}));
  }
  show_text(qtext(msg::import_dialog::reading{}));
  preview_.start(QStringList{QStringLiteral("import"), QStringLiteral("--preview"), QStringLiteral("--json")} +
                 arguments());
  show_state();
}

void ImportDialog::show_preview(const QJsonObject& said, const QString& why) {
  const QString format = said[QLatin1String("detected_format")].toString();
  // Invalid options fail before the file is read.
  if (!format.isEmpty()) show_option_fields(format == QLatin1String("ncu"));
  show_columns(said[QLatin1String("rows")].toArray());
  ready_ = why.isEmpty() && !said[QLatin1String("needs_problem")].toBool();
  QStringList lines{name_of(format)};
  for (const auto& line : said[QLatin1String("lines")].toArray()) lines << line.toString();
  lines << why;
  lines.removeAll(QString());
  show_text(with_field_labels(lines.join(QLatin1Char('\n'))));
  const QString output = said[QLatin1String("default_output")].toString();
  if (default_target_.isEmpty() && !output.isEmpty()) {
    default_target_ = output;
    if (target_->text().isEmpty()) target_->setText(output);
  }
  show_state();
}

void ImportDialog::show_text(const QString& words) {
  words_->setPlainText(words);
  // Limits the height, so that the table below stays visible.
  constexpr double most_lines = 5;
  const double lines = std::clamp(words_->document()->size().height(), 1.0, most_lines);
  const double margins = 2 * (words_->document()->documentMargin() + words_->frameWidth());
  constexpr double other_scripts = 0.5;  // margin for scripts that are taller than the font's line spacing
  words_->setFixedHeight(static_cast<int>((lines + other_scripts) * words_->fontMetrics().lineSpacing() + margins));
}

void ImportDialog::show_columns(const QJsonArray& rows) {
  std::vector<QJsonObject> lines;
  for (const auto& row : rows) lines.push_back(row.toObject());
  analysis::TableBuilder<QJsonObject> table(std::move(lines));
  for (analysis::Column& column : imported_column_table({}).columns) {
    const auto cell = [key = QString::fromStdString(column.key)](const QJsonObject& row) {
      const std::string value = row[key].toString().toStdString();
      return key == QLatin1String("title") ? label_of_key(row[QLatin1String("field")].toString().toStdString(), value)
                                           : value;
    };
    table.add(std::move(column), cell);
  }
  const auto is_left_out = [](const QJsonObject& row) {
    return row[QLatin1String("skip_reason")].toString().isEmpty() ? analysis::Tone::plain : analysis::Tone::muted;
  };
  table.table().tone = table.of(is_left_out);
  model_->set_table(std::make_shared<const analysis::Table>(std::move(table).take()));
}

void ImportDialog::add_target() {
  target_ = new QLineEdit(this);
  target_->setObjectName(QStringLiteral("import-into"));
  connect(target_, &QLineEdit::textChanged, this, [this] { show_state(); });
  auto* choose = new QPushButton(qtext(msg::import_dialog::browse{}), this);
  choose->setAutoDefault(false);
  connect(choose, &QPushButton::clicked, this, &ImportDialog::choose_target);
  auto* place = new QHBoxLayout;
  place->addWidget(target_, 1);
  place->addWidget(choose);
  auto* form = new QFormLayout;
  form->addRow(qtext(msg::import_dialog::output_file{}), place);
  static_cast<QLabel*>(form->labelForField(place))->setBuddy(target_);
  static_cast<QVBoxLayout*>(layout())->addLayout(form);
  state_ = new QLabel(this);
  state_->setWordWrap(true);
  state_->setTextFormat(Qt::PlainText);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  state_->setObjectName(QStringLiteral("import-state"));
  layout()->addWidget(state_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  import_button_ = buttons->addButton(qtext(msg::import_dialog::do_import{}), QDialogButtonBox::ActionRole);
  import_button_->setObjectName(QStringLiteral("import-do"));
  import_button_->setDefault(true);
  connect(import_button_, &QPushButton::clicked, this, &ImportDialog::import);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  layout()->addWidget(buttons);
}

void ImportDialog::choose_target() {
  const QString path = QFileDialog::getSaveFileName(this, qtext(msg::import_dialog::output_file_title{}),
                                                    target_->text(), qtext(msg::import_dialog::output_file_filter{}),
                                                    nullptr, QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) target_->setText(path);
}

QString ImportDialog::target() const {
  const QString path = target_->text().trimmed();
  return path.isEmpty() || !QFileInfo(path).suffix().isEmpty() ? path : path + QStringLiteral(".attnscope");
}

void ImportDialog::import() {
  const QString into = target();
  if (into.isEmpty()) return show_state(qtext(msg::import_dialog::no_file{}));
  if (is_recorded_sample(into))
    return show_state(qtext("{} is a recorded sample and read-only (edit a copy)", into.toStdString()));
  if (into == default_target_) QDir().mkpath(QFileInfo(into).path());
  import_.start(QStringList{QStringLiteral("import"), QStringLiteral("-o"), into} + arguments());
  show_state(qtext(msg::import_dialog::importing{.file = file_.toStdString()}));
}

void ImportDialog::show_state(const QString& words) {
  target_->setEnabled(!import_.is_running());
  import_button_->setEnabled(ready_ && !is_busy());
  if (!words.isEmpty()) return state_->setText(words);
  if (target().isEmpty()) return state_->clear();
  state_->setText(QFileInfo(target()).size() > 0 ? qtext(msg::import_dialog::appends{})
                                                 : qtext(msg::import_dialog::creates{}));
}

void ImportDialog::reject() {
  if (!import_.is_running()) return QDialog::reject();
  import_.request_end();
}

}  // namespace attnscope::ui
