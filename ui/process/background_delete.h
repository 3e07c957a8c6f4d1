// SPDX-License-Identifier: GPL-3.0-or-later
// Shared pointers whose objects are deleted in a background thread, because destroying 100,000 parts takes longer than
// a frame. Use for plain data only.
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
[[nodiscard]] std::shared_ptr<T> make_background_deleted(Arguments&&... arguments) {
  return {new T(std::forward<Arguments>(arguments)...), [](T* made) { delete_in_background([made] { delete made; }); }};
}

}  // namespace attnscope::ui
