// SPDX-License-Identifier: GPL-3.0-or-later
// What holds 100,000 things of its own takes longer than a frame to take apart: done in a thread of its own, whoever
// lets go of it last. For what has no other thread's business, as plain data has none.
#pragma once

#include <QThreadPool>
#include <functional>
#include <memory>
#include <utility>

namespace attnscope::ui {

inline void delete_in_background(std::function<void()> deletes) {
  QThreadPool::globalInstance()->start(std::move(deletes));
}

template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_shared_of_many(Arguments&&... arguments) {
  return {new T(std::forward<Arguments>(arguments)...), [](T* made) { delete_in_background([made] { delete made; }); }};
}

}  // namespace attnscope::ui
