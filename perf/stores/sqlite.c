#include "stores.h"

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *database;
static sqlite3_stmt *insert, *select_one;

static void check(int status, const char *what) {
  if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) store_fail(what, sqlite3_errmsg(database));
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), sql); }

static void open_database(const char *folder, size_t bytes) {
  (void)bytes;
  char path[4096];
  snprintf(path, sizeof path, "%s/bodies.sqlite", folder);
  check(sqlite3_open(path, &database), "sqlite3_open");
  run("pragma journal_mode = wal");
  run("pragma synchronous = off");
  run("pragma mmap_size = 17179869184");
  run("create table if not exists bodies (key blob primary key, body blob)");
  check(sqlite3_prepare_v2(database, "insert or replace into bodies values (?, ?)", -1, &insert, NULL), "insert");
  check(sqlite3_prepare_v2(database, "select body from bodies where key = ?", -1, &select_one, NULL), "select");
}

static void begin(void) { run("begin"); }

static void put(store_key key, const uint8_t *body, size_t length) {
  sqlite3_bind_blob(insert, 1, &key, sizeof key, SQLITE_STATIC);
  sqlite3_bind_blob(insert, 2, body, (int)length, SQLITE_STATIC);
  check(sqlite3_step(insert), "insert");
  sqlite3_reset(insert);
}

static void commit(void) { run("commit"); }

static uint64_t get(store_key key) {
  sqlite3_bind_blob(select_one, 1, &key, sizeof key, SQLITE_STATIC);
  int status = sqlite3_step(select_one);
  check(status, "select");
  uint64_t sum = 0;
  if (status == SQLITE_ROW)
    sum = store_touch(sqlite3_column_blob(select_one, 0), (size_t)sqlite3_column_bytes(select_one, 0));
  sqlite3_reset(select_one);
  return sum;
}
#else
static void open_database(const char *folder, size_t bytes) {
  (void)folder, (void)bytes;
  store_fail("skipped", "sqlite3.h was not installed when this was built");
}
static void begin(void) {}
static void put(store_key key, const uint8_t *body, size_t length) { (void)key, (void)body, (void)length; }
static void commit(void) {}
static uint64_t get(store_key key) { return key.halves[0]; }
#endif

const store store_sqlite = {"sqlite", open_database, begin, put, commit, get};
