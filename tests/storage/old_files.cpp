// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/old_files.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "storage/exchange/export.h"
#include "storage/migrations.h"
#include "storage/run_store.h"

namespace attnscope::testing {

void write_version_1(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("PRAGMA foreign_keys = ON");
  migrate(database, migrations().first(1));
  database.exec(R"sql(
INSERT INTO devices VALUES (1, 'SIM-h200', 1, 0, 'NVIDIA H200', 9, 0, 132, 1024, 2048, 32, 65536, 232448, 233472, 1024,
                            62914560, 150754820096, 4.8e12, 7.5e12, 989.5e12);
INSERT INTO environments VALUES (1, '0.1.0', '', '', '', '', '', 'Linux');
INSERT INTO runs VALUES (3, 1, 1, 'quick', '["attnscope"]', 'ab', 2, '{}', 'complete', '2026-01-01T00:00:00Z',
                         '2026-01-01T00:00:01Z');
INSERT INTO points VALUES (4, 3, 0, 'fa1', 'fwd', 'bf16', 'causal', 2, 16, 4, 1023, 1024, 128, 48, 176,
                           'heads_fastest', 'warm', 'ok', '', 'simulated', 0.25, 0.5, 0.125, 1.5, '2026-01-01T00:00:00Z');
INSERT INTO points VALUES (7, 3, 1, 'fa2', 'fwd', 'fp16', 'none', 1, 1, 1, 64, 64, 64, 64, 64, 'q_fastest', 'cold',
                           'infeasible', 'too large', 'simulated', NULL, NULL, NULL, 0, '2026-01-01T00:00:00Z');
UPDATE sqlite_sequence SET seq = 9 WHERE name = 'points';
INSERT INTO kernels VALUES (2, 4, 'all', 'threads');
INSERT INTO metrics VALUES (1, 'l2_to_sm_bytes', 'byte');
INSERT INTO metric_values VALUES (2, 1, 12345.5, 'simulated');
INSERT INTO timing_samples VALUES (2, '[3.5,1.25]');
INSERT INTO clocks VALUES (4, 1e9, 2e9, 40, 300, 4, 1);
)sql");
}

std::string exported(const std::filesystem::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  std::ostringstream text;
  export_csv(store, {}, text);
  export_long_csv(store, {}, text);
  std::ostringstream document;
  export_json(store, {}, document);
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(document.str());
  json.erase("created_at");
  return text.str() + json.dump(1);
}

}  // namespace attnscope::testing
