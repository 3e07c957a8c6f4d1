// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/facet_chip.h"

#include <QActionGroup>
#include <QDoubleSpinBox>
#include <QJsonArray>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QSignalBlocker>
#include <map>

#include "messages/page.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/persistent_menu.h"

namespace attnscope::ui {

namespace {

constexpr int side = 8;  ///< Padding between border and contents.
constexpr int chip_gap = 5;
constexpr int arrow = 8;
constexpr int rounding = 4;

/// Text of a menu entry or button: an ampersand is no shortcut.
QString menu_text(QString text) {
  return text.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

}  // namespace

FacetChip::FacetChip(const QString& label, const QString& help, QMenu* menu, QWidget* parent)
    : QToolButton(parent), label_(label), help_(help) {
  setPopupMode(InstantPopup);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setAccessibleName(label);
  menu->setParent(this, menu->windowFlags());
  menu->setToolTipsVisible(true);
  setMenu(menu);
  connect(menu, &QMenu::aboutToShow, this, [this] { fill_menu(); });
  connect(menu, &QMenu::aboutToHide, this, [this] {  // While the menu is open, the chip gets no leave event.
    setDown(false);
    setAttribute(Qt::WA_UnderMouse, rect().contains(mapFromGlobal(QCursor::pos())));
    update();
  });
  show_options({}, -1);
}

void FacetChip::set_texts(const QStringList& texts) {
  if (texts == texts_) return;
  texts_ = texts;
  invalidate_size();
}

void FacetChip::show_options(std::vector<Option> options, int current) {
  QStringList texts;
  for (const Option& option : options) texts << option.text;
  set_texts(texts);
  if (current == current_ && options == options_ && !text().isEmpty()) return;
  options_ = std::move(options);
  current_ = current;
  setEnabled(options_.size() > 1);
  update_texts();
}

void FacetChip::set_automatic(bool automatic) {
  if (std::exchange(automatic_, automatic) != automatic) update_texts();
}

void FacetChip::show_text(const QString& words) {
  words_ = words;
  update_texts();
  setEnabled(true);
}

void FacetChip::update_texts() {
  const QString words = QString(label_ + QLatin1Char(' ') + value()).trimmed();
  setText(menu_text(words));
  setAccessibleDescription(automatic_ ? words + QStringLiteral(", ") + qtext(msg::page::automatic{}) : words);
  QString tip = help_;
  if (current_ >= 0) {
    const Option& chosen = options_[static_cast<std::size_t>(current_)];
    tip += QLatin1Char('\n') + (chosen.full.isEmpty() ? chosen.text : chosen.full);
    if (!chosen.available) tip += QLatin1Char('\n') + qtext(msg::page::unavailable_help{});
  } else if (!words_.isEmpty()) {
    tip += QLatin1Char('\n') + words_;
  }
  if (automatic_) tip += QLatin1Char('\n') + qtext(msg::page::automatic_help{});
  setToolTip(plain_tooltip(tip));
  update();
}

void FacetChip::setVisible(bool visible) {
  wanted_ = visible;
  const bool seen = visible && !folded_;
  // Hiding a hidden widget would still relayout the page.
  if (isHidden() == seen || !testAttribute(Qt::WA_WState_ExplicitShowHide)) QToolButton::setVisible(seen);
}

void FacetChip::set_folded(bool folded) {
  if (folded == folded_) return;
  folded_ = folded;
  QToolButton::setVisible(wanted_ && !folded_);
}

QString FacetChip::value() const {
  return current_ < 0 ? words_ : options_[static_cast<std::size_t>(current_)].text;
}

QFont FacetChip::value_font() const {
  return bold(font());
}

void FacetChip::set_max_value_width(int pixels) {
  widest_ = pixels;
  invalidate_size();
}

void FacetChip::hide_label() {
  label_shown_ = false;
  invalidate_size();
}

int FacetChip::label_width() const {
  return label_shown_ ? fontMetrics().horizontalAdvance(label_) + chip_gap : 0;
}

void FacetChip::invalidate_size() {
  size_ = {};
  updateGeometry();
}

void FacetChip::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) invalidate_size();
  QToolButton::changeEvent(event);
}

QSize FacetChip::sizeHint() const {
  if (size_.isValid()) return size_;
  const QFontMetrics bold(value_font());
  int value = 0;
  for (const QString& text : texts_) value = std::max(value, bold.horizontalAdvance(text) + 1);
  const int width = side + label_width() + std::min(value, widest_) + chip_gap + arrow + side;
  size_ = {width, std::max(fontMetrics().height() + 8, qRound(control_height * font_scale(font())))};
  return size_;
}

void FacetChip::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool open = isEnabled() && (underMouse() || isDown());
  painter.setPen(QPen(hasFocus() ? colors.accent : isEnabled() ? colors.axis : colors.grid, hasFocus() ? 2 : 1));
  const QColor button = palette().color(QPalette::Button);
  painter.setBrush(!isEnabled() ? QColor(Qt::transparent)
                   : open       ? QColor(style::mix(button.rgb() & RGB_MASK, colors.text.rgb() & RGB_MASK, 0.07))
                                : button);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), rounding, rounding);

  QRect room = rect().adjusted(side, 0, -side, 0);
  painter.setPen(colors.muted);
  if (label_shown_) painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, label_);
  room.setLeft(room.left() + label_width());
  room.setRight(room.right() - arrow - chip_gap);
  QFont font = value_font();
  font.setItalic(automatic_);
  painter.setFont(font);
  const bool available = current_ < 0 || options_[static_cast<std::size_t>(current_)].available;
  painter.setPen(isEnabled() && available ? colors.text : colors.muted);
  painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(value(), Qt::ElideRight, room.width()));
  if (!isEnabled()) return;
  QPainterPath down;
  const QPointF tip(width() - side - arrow / 2.0, height() / 2.0 + 2);
  down.moveTo(tip + QPointF(-3.5, -3.5));
  down.lineTo(tip);
  down.lineTo(tip + QPointF(3.5, -3.5));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(colors.muted, 1.4));
  painter.drawPath(down);
}

void FacetChip::keyPressEvent(QKeyEvent* event) {
  const bool with_alt = event->modifiers().testFlag(Qt::AltModifier);
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (with_alt) break;
      return pick(current_ + (event->key() == Qt::Key_Down ? 1 : -1));
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_F4:
      break;
    default:
      return QToolButton::keyPressEvent(event);
  }
  menu()->popup(mapToGlobal(rect().bottomLeft()));
}

void FacetChip::fill_menu() {
  menu()->clear();
  // Submenus are children of the menu; clear() does not delete them.
  for (QMenu* old : menu()->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly)) delete old;
  auto* group = new QActionGroup(menu());
  std::map<QString, QMenu*> groups;
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const auto place = static_cast<int>(i);
    QString text = options_[i].text;
    QMenu* among = menu();
    if (const QString& name = options_[i].group; !name.isEmpty()) {
      QMenu*& made = groups[name];
      if (made == nullptr) {
        made = menu()->addMenu(menu_text(name));
        made->setToolTipsVisible(true);
      }
      among = made;
    }
    if (!options_[i].available) text = qtext(msg::page::unavailable{.option = text.toStdString()});
    QAction* entry = among->addAction(menu_text(text));
    entry->setCheckable(true);
    entry->setChecked(place == current_);
    entry->setToolTip(plain_tooltip(options_[i].full));
    group->addAction(entry);
    connect(entry, &QAction::triggered, this, [this, place] { pick(place); });
    if (place == current_ && among == menu()) menu()->setActiveAction(entry);
  }
}

void FacetChip::pick(int place) {
  if (place < 0 || place >= static_cast<int>(options_.size()) || place == current_) return;
  emit picked(options_[static_cast<std::size_t>(place)].id);
}

std::vector<QRect> SegmentedChip::segments() const {
  const QFontMetrics bold(value_font());
  std::vector<QRect> all;
  int x = 0;
  for (const Option& option : options()) {
    all.emplace_back(x, 0, bold.horizontalAdvance(option.text) + 2 * side, height());
    x += all.back().width();
  }
  return all;
}

QSize SegmentedChip::sizeHint() const {
  const std::vector<QRect> all = segments();
  return {all.empty() ? 0 : all.back().right() + 2, FacetChip::sizeHint().height()};
}

void SegmentedChip::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath frame;
  frame.addRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), rounding, rounding);
  painter.fillPath(frame, palette().color(QPalette::Base));
  painter.setClipPath(frame);
  const std::vector<QRect> all = segments();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool on = static_cast<int>(i) == current();
    if (on) painter.fillRect(all[i], with_opacity(colors.accent, 0.22));
    painter.setFont(on ? value_font() : font());
    painter.setPen(isEnabled() ? colors.text : colors.muted);
    painter.drawText(all[i], Qt::AlignCenter, options()[i].text);
    painter.setPen(colors.axis);
    if (i > 0) painter.drawLine(all[i].topLeft(), all[i].bottomLeft());
  }
  painter.setClipping(false);
  painter.setPen(QPen(hasFocus() ? colors.accent : colors.axis, hasFocus() ? 2 : 1));
  painter.drawPath(frame);
}

void SegmentedChip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const std::vector<QRect> all = segments();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].contains(event->pos())) pick(static_cast<int>(i));
  }
}

void SegmentedChip::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left) return pick(current() - 1);
  if (event->key() == Qt::Key_Right) return pick(current() + 1);
  FacetChip::keyPressEvent(event);
}

MultiChoiceChip::MultiChoiceChip(const QString& label, const QString& help, QWidget* parent)
    : FacetChip(label, help, new PersistentMenu, parent) {
  hide_label();
}

void MultiChoiceChip::set_items(std::vector<Item> items) {
  if (items == items_) return;
  items_ = std::move(items);
  QStringList shown;
  QStringList all;
  for (const Item& item : items_) {
    if (item.offered) all << item.text;
    if (item.offered && item.on) shown << item.text;
  }
  const QString none = QStringLiteral("–");
  set_texts({all.isEmpty() ? none : all.join(QStringLiteral(", "))});
  show_text(shown.isEmpty() ? none : shown.join(QStringLiteral(", ")));
  setEnabled(!items_.empty());
  if (menu()->isVisible()) fill_menu();
}

void MultiChoiceChip::fill_menu() {
  const bool fresh = menu()->actions().size() != static_cast<qsizetype>(items_.size());
  if (fresh) menu()->clear();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    QAction* entry = fresh ? menu()->addAction(QString()) : menu()->actions()[static_cast<qsizetype>(i)];
    const Item& item = items_[i];
    entry->setText(menu_text(item.text));
    entry->setCheckable(true);
    entry->setChecked(item.on);
    entry->setToolTip(plain_tooltip(item.help));
    if (!fresh) continue;
    connect(entry, &QAction::triggered, this, [this, i](bool on) { emit item_toggled(items_[i].id, on); });
  }
}

IdChoice::IdChoice(std::function<void()> changed, QString first, std::function<bool(const QString&)> is_valid_id)
    : changed_(std::move(changed)), is_valid_id_(std::move(is_valid_id)), id_(std::move(first)) {}

void IdChoice::choose(const QString& id) {
  if (is_valid_id_ && !is_valid_id_(id)) return;
  set_id(id);
  changed_();
}

void IdChoice::set_id(const QString& id) {
  if (is_valid_id_ && !is_valid_id_(id)) return;
  if (id_ != id) text_.clear();
  id_ = id;
  show();
}

void IdChoice::offer(std::vector<Option> options, int otherwise) {
  options_ = std::move(options);
  fallback_ = otherwise;
  show();
}

void IdChoice::offer_available(std::vector<Option> options) {
  from_data_ = true;
  const auto chosen = std::ranges::find(options, id_, &Option::id);
  if (chosen != options.end()) {
    text_ = chosen->text;
  } else if (!id_.isEmpty()) {
    options.push_back({.text = text_.isEmpty() ? id_ : text_, .id = id_, .available = false});
  }
  offer(std::move(options));
}

const Option* IdChoice::shown() const {
  const int at = shown_index();
  return at < 0 ? nullptr : &options_[static_cast<std::size_t>(at)];
}

int IdChoice::shown_index() const {
  const auto found = std::ranges::find(options_, id_, &Option::id);
  if (found != options_.end()) return static_cast<int>(found - options_.begin());
  return options_.empty() ? -1 : fallback_;
}

FacetChip* IdChoice::attach_editor(FacetChip* chip) {
  chip_ = chip;
  QObject::connect(chip, &FacetChip::picked, chip, [this](const QString& id) { choose(id); });
  show();
  return chip;
}

void IdChoice::show() const {
  if (chip_ == nullptr) return;
  chip_->show_options(options_, shown_index());
  chip_->set_automatic(from_data_ && empty());
}

void Choices::add_value(const char* key, std::function<QJsonValue()> save,
                        std::function<void(const QJsonValue&)> restore) {
  add([key, save = std::move(save)](QJsonObject& state) { state[QLatin1String(key)] = save(); },
      [key, restore = std::move(restore)](const QJsonObject& state) {
        if (const QJsonValue saved = state[QLatin1String(key)]; !saved.isUndefined()) restore(saved);
      });
}

void Choices::add(const char* key, IdChoice& choice) {
  add_value(
      key, [&choice] { return choice.id(); },
      [&choice](const QJsonValue& saved) { choice.set_id(saved.toString(choice.id())); });
}

void Choices::add(const char* key, QString& word) {
  add_value(
      key, [&word] { return word; }, [&word](const QJsonValue& saved) { word = saved.toString(word); });
}

void Choices::add(const char* key, QAction& toggle) {
  add_value(
      key, [&toggle] { return toggle.isChecked(); },
      [&toggle](const QJsonValue& saved) {
        const QSignalBlocker quiet(toggle);
        toggle.setChecked(saved.toBool(toggle.isChecked()));
      });
}

void Choices::add(const char* key, QDoubleSpinBox& number) {
  add_value(
      key, [&number] { return number.value(); },
      [&number](const QJsonValue& saved) {
        const QSignalBlocker quiet(number);
        number.setValue(saved.toDouble(number.value()));
      });
}

void Choices::add(const char* key, std::set<QString>& words) {
  add_value(
      key, [&words] { return QJsonArray::fromStringList(QStringList(words.begin(), words.end())); },
      [&words](const QJsonValue& saved) {
        if (!saved.isArray()) return;
        words.clear();
        for (const auto& word : saved.toArray()) words.insert(word.toString());
      });
}

QJsonObject Choices::state() const {
  QJsonObject state;
  for (const auto& [save, restore] : kept_) save(state);
  return state;
}

void Choices::restore(const QJsonObject& state) const {
  for (const auto& [save, take] : kept_) take(state);
}

QAction* Toggles::add(const QString& name, const Message& text, const Message& help, bool on) {
  auto* action = new QAction(qtext(text), this);
  action->setObjectName(name);
  action->setCheckable(true);
  action->setChecked(on);
  action->setToolTip(plain_tooltip(qtext(help)));
  all_ << action;
  return action;
}

QJsonObject Toggles::state() const {
  QJsonObject state;
  for (const QAction* each : all_) state[each->objectName()] = each->isChecked();
  return state;
}

void Toggles::restore(const QJsonObject& state) {
  for (QAction* each : all_) each->setChecked(state[each->objectName()].toBool(each->isChecked()));
}

}  // namespace attnscope::ui
