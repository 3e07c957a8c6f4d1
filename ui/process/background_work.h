// SPDX-License-Identifier: GPL-3.0-or-later
// What takes longer than a frame is worked out in a thread of its own. Of several requests the latest one wins; what
// was asked before it is broken off and never heard of.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace attnscope::ui {

/// So many points are looked through within a frame; of more it is done aside.
inline constexpr std::size_t most_points_at_once = 10'000;

class BackgroundWork : public QObject {
  Q_OBJECT
 public:
  explicit BackgroundWork(QObject* parent = nullptr);
  /// Waits for what is under way, which has nobody to tell by then.
  ~BackgroundWork() override;

  /// Whether nobody waits for it any more: work may end then, with whatever it has.
  using Outdated = std::function<bool()>;

  /// Calls `work(outdated)` aside, then `then()` with its result in this thread. What it throws goes to `failed()`, and
  /// is thrown in this thread where there is none. Nothing is called once another request was made, or drop() called.
  /// What `work` looks at must not change meanwhile.
  template <class Work, class Then>
  void ask(Work work, Then then, std::function<void(const QString&)> failed = {}) {
    start([work = std::move(work), then = std::move(then),
           failed = std::move(failed)](const Outdated& outdated) -> std::function<void()> {
      try {
        using Result = decltype(work(outdated));
        auto result = std::make_shared<Result>(work(outdated));
        return [then, result] { then(std::move(*result)); };
      } catch (const std::exception& failure) {
        if (failed) return [failed, reason = QString::fromUtf8(failure.what())] { failed(reason); };
        return [thrown = std::current_exception()] { std::rethrow_exception(thrown); };
      }
    });
  }
  /// Nothing is wanted any more.
  void drop();
  /// The same, and from now on nothing of it looks at anything.
  void stop();
  [[nodiscard]] bool busy() const { return busy_; }
  /// Until what was asked last has been told: for pictures, and whoever cannot go on without.
  void wait();

 signals:
  /// Nothing is under way any more.
  void settled();

 private:
  /// `job` ends with what is to be called in this thread.
  void start(std::function<std::function<void()>(const Outdated&)> job);

  std::atomic<std::uint64_t> generation_{0};
  bool busy_ = false;
  QThreadPool pool_;
};

/// What holds 100,000 things of its own takes longer than a frame to take apart: done in a thread of its own, whoever
/// lets go of it last. For what has no other thread's business, as plain data has none.
void delete_in_background(std::function<void()> deletes);
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_shared_of_many(Arguments&&... arguments) {
  return {new T(std::forward<Arguments>(arguments)...), [](T* made) { delete_in_background([made] { delete made; }); }};
}

}  // namespace attnscope::ui
