// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/remote_device_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include "messages/elsewhere.h"
#include "profiler/worker/ssh.h"
#include "ui/process/device_list.h"
#include "ui/process/remote_device_list.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
RemoteDeviceDialog::RemoteDeviceDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle(qtext(say::elsewhere::title{}));
  auto* column = new QVBoxLayout(this);
  auto* about = new QLabel(qtext(say::elsewhere::about{}), this);
  about->setWordWrap(true);
  about->setTextFormat(Qt::PlainText);
  column->addWidget(about);
  add_fields();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
  resize(520, sizeHint().height());

  connect(&probe_, &DeviceProbe::found, this, &RemoteDeviceDialog::show_found);
  connect(&probe_, &DeviceProbe::not_found, this, &RemoteDeviceDialog::show_not_found);
  connect(&RemoteDeviceList::instance(), &RemoteDeviceList::changed, this, &RemoteDeviceDialog::show_list);
  show_list();
  check();
}

void RemoteDeviceDialog::add_fields() {
  auto* form = new QFormLayout;
  host_ = new QLineEdit(this);
  host_->setObjectName(QStringLiteral("host"));
  host_->setPlaceholderText(qtext(say::elsewhere::host_example{}));
  device_ = new QLineEdit(this);
  device_->setObjectName(QStringLiteral("device-there"));
  device_->setPlaceholderText(qtext(say::elsewhere::device_example{}));
  form->addRow(qtext(say::elsewhere::host{}), host_);
  form->addRow(qtext(say::elsewhere::device{}), device_);
  connect_ = new QPushButton(qtext(say::elsewhere::connect{}), this);
  connect_->setObjectName(QStringLiteral("connect"));
  connect_->setDefault(true);
  auto* row = new QHBoxLayout;
  row->addWidget(connect_);
  row->addStretch(1);
  state_ = new QLabel(this);
  state_->setObjectName(QStringLiteral("state"));
  state_->setWordWrap(true);
  state_->setTextFormat(Qt::PlainText);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  state_->setMinimumHeight(4 * fontMetrics().lineSpacing());
  state_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  list_ = new QListWidget(this);
  list_->setObjectName(QStringLiteral("named"));
  list_->setAccessibleName(qtext(say::elsewhere::named{}));
  list_->setMaximumHeight(6 * fontMetrics().lineSpacing());
  remove_ = new QPushButton(qtext(say::elsewhere::remove{}), this);
  remove_->setObjectName(QStringLiteral("remove"));
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addLayout(form);
  column->addLayout(row);
  column->addWidget(state_);
  column->addWidget(new QLabel(qtext(say::elsewhere::named{}), this));
  column->addWidget(list_);
  column->addWidget(remove_, 0, Qt::AlignLeft);
  for (QLineEdit* field : {host_, device_}) connect(field, &QLineEdit::textChanged, this, &RemoteDeviceDialog::check);
  connect(connect_, &QPushButton::clicked, this, &RemoteDeviceDialog::try_it);
  connect(list_, &QListWidget::itemSelectionChanged, this,
          [this] { remove_->setEnabled(!list_->selectedItems().isEmpty()); });
  connect(remove_, &QPushButton::clicked, this, [this] {
    for (const QListWidgetItem* item : list_->selectedItems()) {
      RemoteDeviceList::instance().remove(item->text());
      return;  // the list is made anew
    }
  });
}

QString RemoteDeviceDialog::word() const {
  const worker::SshTarget target{.host = host_->text().trimmed().toStdString(),
                                 .device = device_->text().trimmed().toStdString()};
  return to_qstring(target.word());
}

void RemoteDeviceDialog::check() {
  const auto target = worker::parse_ssh_target(word().toStdString());
  const bool named = !host_->text().trimmed().isEmpty();
  connect_->setEnabled(target.ok() && !probe_.running());
  state_->setText(named && !target.ok() ? qtext(target.error()) : QString());
}

void RemoteDeviceDialog::try_it() {
  if (!probe_.ask_for(word())) {
    if (!probe_.running())
      state_->setText(QStringLiteral("The program “attnscope” was not found beside this one or in PATH."));
    return;
  }
  connect_->setEnabled(false);
  state_->setText(qtext(say::elsewhere::connecting{.host = host_->text().trimmed().toStdString()}));
}

void RemoteDeviceDialog::show_found(const PlanEvent& plan) {
  connect_->setEnabled(true);
  const auto device = listed_device(plan, probe_.argument());
  if (!device) return;
  QString words = qtext(say::elsewhere::found{.device = device->name.toStdString()});
  if (!device->note.isEmpty()) words += QLatin1Char('\n') + device->note;
  state_->setText(words);
  RemoteDeviceList::instance().add(probe_.argument());
}

void RemoteDeviceDialog::show_not_found(const QString& why) {
  connect_->setEnabled(true);
  state_->setText(why);
}

void RemoteDeviceDialog::show_list() {
  list_->clear();
  list_->addItems(RemoteDeviceList::instance().words());
  remove_->setEnabled(false);
}

}  // namespace attnscope::ui
