// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <utility>

#include "kernels/messages/message.h"

namespace attnscope {

/// File error; message() is one sentence with the path. The file was not modified.
class FileError : public std::runtime_error {
 public:
  enum class Kind { not_found, not_a_database, foreign, other_schema, damaged, locked, not_writable, disk_full, other };
  FileError(Kind kind, Message message)
      : std::runtime_error(text(message)), kind_(kind), message_(std::move(message)) {}
  template <class First, class... Rest>
  FileError(Kind kind, fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : FileError(kind, make_message<First, Rest...>(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {
  }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Kind kind_;
  Message message_;
};

}  // namespace attnscope
