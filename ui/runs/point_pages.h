// SPDX-License-Identifier: GPL-3.0-or-later
// Values of points that are not in memory, read some rows at a time when they are looked at, in a thread of its own;
// those that were read last are kept.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <QTimer>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/run_store.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

class PointPages : public QObject {
  Q_OBJECT
 public:
  explicit PointPages(QObject* parent = nullptr);
  ~PointPages() override;

  /// Points by place: in `rows` of `points`. What is kept of others is forgotten.
  void show(std::shared_ptr<const PointSet> points, std::shared_ptr<const std::vector<Row>> rows);

  struct Value {
    const PointSet* points = nullptr;  ///< null while it is not there
    Row row = 0;                       ///< of these
    QString error = {};                ///< why it is not going to be there
  };
  /// Of a place; asks for it where it is not there. Valid until the event loop goes on.
  [[nodiscard]] Value at(std::size_t place);
  /// Until all that was asked for is there: for pictures and tests.
  void wait();
  /// Forgets that pages could not be read.
  void try_again();

  static constexpr std::size_t page_rows = 64;

 signals:
  /// The values of these places are there, or nobody knows when.
  void arrived(std::size_t first, std::size_t last);
  /// A file could not be read, and why: one sentence. `replaced`: another one has come in the place of the one that
  /// this run is of. Where it is not so, what is looked at is asked for again after a while.
  void failed(const attnscope::ui::RunPtr& run, const QString& why, bool replaced);

 private:
  struct Page {
    std::shared_ptr<const PointSet> points;
    std::vector<std::optional<Row>> row_of;  ///< by place in the page; none: its row was left out
    QString error;
    RunPtr failed;  ///< of what could not be read
    bool replaced = false;
  };
  /// Of the reader's thread alone.
  struct Files {
    QString file;
    std::optional<RunStore> store;
  };
  void ask_next();
  void take(std::uint64_t of, std::size_t number, std::shared_ptr<const Page> page);
  static Page read(Files& files, const PointSet& points, std::span<const Row> rows);
  /// A page that says why.
  static Page page_of(Files& files, const PointSet& points, std::span<const Row> rows);

  std::shared_ptr<const PointSet> points_;
  std::shared_ptr<const std::vector<Row>> rows_;
  std::uint64_t generation_ = 0;
  std::map<std::size_t, std::shared_ptr<const Page>> pages_;
  std::deque<std::size_t> recent_;  ///< pages that are there, the one looked at last first
  std::deque<std::size_t> wanted_;  ///< pages that are not there, the one looked at last first
  std::optional<std::size_t> asked_;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
  QTimer idle_;
  QThreadPool reader_;
};

}  // namespace attnscope::ui
