// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_record_reader.h"

#include <chrono>
#include <exception>
#include <utility>

#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Time for which a file stays open, because opening validates it. Short, because a collector must wait for readers
/// when it finishes.
constexpr std::chrono::seconds file_idle_timeout{3};

}  // namespace

PointRecordReader::PointRecordReader() {
  idle_.setSingleShot(true);
  idle_.setInterval(file_idle_timeout);
  QObject::connect(&idle_, &QTimer::timeout, &idle_, [this] { store_.reset(); });
}

PointRecordReader::ReadResult PointRecordReader::read(const ShownPoint& point) {
  ReadResult read;
  try {
    read = read_file(point);
  } catch (const std::exception& error) {
    read = {.error = QString::fromUtf8(error.what())};
  }
  if (read.record == nullptr) store_.reset();
  return read;
}

PointRecordReader::ReadResult PointRecordReader::read_file(const ShownPoint& point) {
  const std::string file = point.run->file.toStdString();
  if (!store_ || file_ != point.run->file) {
    store_.reset();
    store_ = RunStore::open(file, RunStore::Mode::read_only);
    file_ = point.run->file;
  }
  idle_.start();
  const RunSummary& drawn = point.run->summary;
  const bool same_run = store_->run_uid(drawn.id) == drawn.uid;
  std::optional<StoredPoint> found = store_->point(point.id);
  if (!same_run || !file_stamp(file).same_file(point.run->stamp)) {
    return {.error = qtext("{} was replaced by another file and is reread.", file)};
  }
  if (!found || found->run_id != drawn.id || found->record.spec != point.spec) {
    return {.error = qtext("{} has changed since this point was read (close and reopen the file)", file)};
  }
  return {.record = std::make_shared<const PointRecord>(std::move(found->record))};
}

}  // namespace attnscope::ui
