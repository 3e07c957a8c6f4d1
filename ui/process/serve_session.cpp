// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/serve_session.h"

#include "kernels/registry.h"
#include "profiler/worker/requests.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QStringList ServeTarget::arguments() const {
  QStringList words{QStringLiteral("collect"), QStringLiteral("--serve")};
  if (!device.isEmpty()) words << QStringLiteral("--device") << device;
  if (why) words << QStringLiteral("--utilization");
  words << QStringLiteral("-o") << database;
  return words;
}

ServeSession::ServeSession(QObject* parent) : QObject(parent) {
  const auto id_of = [](const auto& event) { return QString::fromStdString(event.id); };
  const auto is_open = [this, id_of](const auto& event) { return open_.contains(id_of(event).toULongLong()); };
  connect(&process_, &CollectorProcess::planned, this, &ServeSession::session_started);
  connect(&process_, &CollectorProcess::logged, this, &ServeSession::logged);
  connect(&process_, &CollectorProcess::request_queued, this, [this, id_of, is_open](const QueuedEvent& event) {
    if (is_open(event)) emit point_queued(id_of(event));
  });
  connect(&process_, &CollectorProcess::point_started, this, [this, id_of, is_open](const StartedEvent& event) {
    if (is_open(event)) emit point_started(id_of(event));
  });
  connect(&process_, &CollectorProcess::point_done, this, [this, id_of](const PointEvent& event) {
    if (close_request(id_of(event))) emit point_finished(id_of(event), event);
  });
  connect(&process_, &CollectorProcess::request_cancelled, this, [this, id_of](const CancelledEvent& event) {
    if (close_request(id_of(event))) emit point_cancelled(id_of(event));
  });
  connect(&process_, &CollectorProcess::request_refused, this, [this, id_of](const RefusedEvent& event) {
    // A refused cancel request does not answer the measure request.
    if (event.request != "measure") return;
    if (close_request(id_of(event))) emit point_refused(id_of(event), qtext(event.reason));
  });
  // Queued: start errors are emitted at once, before the caller of measure() has the id.
  connect(&process_, &CollectorProcess::finished, this, &ServeSession::on_end, Qt::QueuedConnection);
  connect(&process_, &CollectorProcess::cancelled, this, &ServeSession::on_end, Qt::QueuedConnection);
  connect(&process_, &CollectorProcess::failed, this, &ServeSession::on_failure, Qt::QueuedConnection);
  connect(&process_, &CollectorProcess::crashed, this, &ServeSession::on_failure, Qt::QueuedConnection);
}

void ServeSession::set_target(const ServeTarget& target) {
  if (target == target_) return;
  cancel_all();
  if (state_ == State::serving) {
    state_ = State::ending;
    process_.cancel();
  }
  target_ = target;
}

QString ServeSession::measure(const PointSpec& spec, std::int64_t priority) {
  open_[++asked_] = {.spec = spec, .priority = priority};
  const std::uint64_t id = asked_;
  if (state_ == State::idle) {
    start();
  } else if (state_ == State::serving) {
    send(id);
  }
  return QString::number(id);
}

void ServeSession::cancel(const QString& id) {
  const auto found = open_.find(id.toULongLong());
  if (found == open_.end() || found->second.cancelled) return;
  if (!found->second.sent) {
    open_.erase(found);
    emit point_cancelled(id);
    return;
  }
  found->second.cancelled = true;
  process_.write_request(cancel_line(id.toStdString()));
}

void ServeSession::cancel_all() {
  for (const QString& id : open_ids()) cancel(id);
}

void ServeSession::end() {
  if (state_ != State::serving) return;
  state_ = State::ending;
  process_.write_request(end_line());
}

void ServeSession::start() {
  state_ = State::serving;
  process_.start_collector(target_.arguments());
  for (const QString& id : open_ids()) send(id.toULongLong());
}

void ServeSession::send(std::uint64_t id) {
  Request& request = open_[id];
  const std::string line = measure_line(std::to_string(id), request.priority, request.spec, known_algorithms());
  if (line.size() > max_request_bytes) {
    // The collector could not report the id of such a request. Queued, because the caller does not have the id yet.
    const auto refuse = [this, id] {
      const QString name = QString::number(id);
      if (close_request(name)) emit point_refused(name, qtext("the request exceeds {} bytes", max_request_bytes));
    };
    QMetaObject::invokeMethod(this, refuse, Qt::QueuedConnection);
    return;
  }
  request.sent = true;
  process_.write_request(line);
}

bool ServeSession::close_request(const QString& id) {
  return open_.erase(id.toULongLong()) > 0;
}

std::vector<QString> ServeSession::open_ids() const {
  std::vector<QString> ids;
  for (const auto& [id, request] : open_) ids.push_back(QString::number(id));
  return ids;
}

void ServeSession::reject_all(const QString& reason) {
  for (const QString& id : open_ids()) {  // a receiver may make or cancel requests
    const auto request = open_.find(id.toULongLong());
    const bool cancelled = request != open_.end() && request->second.cancelled;
    if (!close_request(id)) continue;
    if (cancelled) {
      emit point_cancelled(id);
    } else {
      emit point_refused(id, reason);
    }
  }
}

void ServeSession::on_failure(const QString& reason) {
  state_ = State::idle;
  emit failed(reason);
  reject_all(reason);
  if (state_ == State::idle) emit ended();
}

// Restarts the collector for requests that are unanswered or arrived while the session ended.
void ServeSession::on_end() {
  state_ = State::idle;
  for (const QString& id : open_ids()) {
    const auto request = open_.find(id.toULongLong());
    if (request == open_.end()) continue;  // cancelled by a receiver of an earlier signal
    request->second.sent = false;
    if (request->second.cancelled && close_request(id)) emit point_cancelled(id);
  }
  if (open_.empty()) {
    emit ended();
  } else if (state_ == State::idle) {
    start();
  }
}

}  // namespace attnscope::ui
