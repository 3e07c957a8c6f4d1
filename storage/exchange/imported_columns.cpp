// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/imported_columns.h"

#include <utility>

#include "messages/import_preview.h"
#include "profiler/plan/text.h"

namespace attnscope {

analysis::Table imported_column_table(std::vector<ImportedColumn> columns) {
  analysis::TableOf<ImportedColumn> table(std::move(columns));
  const auto add = [&](const char* key, const Message& title, std::string ImportedColumn::*part) {
    table.add({.key = key, .title = text(title)}, [part](const ImportedColumn& each) { return printable(each.*part); });
  };
  add("column", say::import_preview::column{}, &ImportedColumn::name);
  add("unit", say::import_preview::unit{}, &ImportedColumn::unit);
  add("becomes", say::import_preview::becomes{}, &ImportedColumn::becomes);
  add("title", say::import_preview::title{}, &ImportedColumn::title);
  add("kept_in", say::import_preview::kept_in{}, &ImportedColumn::kept_in);
  table.add({.key = "left_out", .title = text(say::import_preview::left_out{}), .kind = analysis::ColumnKind::sentence},
            [](const ImportedColumn& each) { return each.left_out; });
  add("example", say::import_preview::example{}, &ImportedColumn::example);
  return std::move(table).take();
}

}  // namespace attnscope
