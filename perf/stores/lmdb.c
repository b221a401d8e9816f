#include "stores.h"

#include <lmdb.h>
#include <string.h>

static MDB_env *environment;
static MDB_dbi bodies;
static MDB_txn *writer;
static _Thread_local MDB_txn *reader; // a slot in the table of readers for each thread

static void check(int status, const char *what) {
  if (status != MDB_SUCCESS) store_fail(what, mdb_strerror(status));
}

static void open_environment(const char *folder, size_t bytes) {
  check(mdb_env_create(&environment), "mdb_env_create");
  check(mdb_env_set_mapsize(environment, bytes * 2 + (64 << 20)), "mdb_env_set_mapsize");
  check(mdb_env_open(environment, folder, MDB_NOTLS | MDB_NORDAHEAD | MDB_NOSYNC, 0600), "mdb_env_open");
  check(mdb_txn_begin(environment, NULL, 0, &writer), "mdb_txn_begin");
  check(mdb_dbi_open(writer, NULL, 0, &bodies), "mdb_dbi_open");
  check(mdb_txn_commit(writer), "mdb_txn_commit");
}

static void begin(void) { check(mdb_txn_begin(environment, NULL, 0, &writer), "mdb_txn_begin"); }

static void put(store_key key, const uint8_t *body, size_t length) {
  MDB_val k = {sizeof key, &key}, v = {length, (void *)body};
  check(mdb_put(writer, bodies, &k, &v, 0), "mdb_put");
}

static void commit(void) { check(mdb_txn_commit(writer), "mdb_txn_commit"); }

/// One read transaction, renewed for each lookup, as lmdb.h advises.
static bool find(store_key key, MDB_val *found) {
  if (reader) check(mdb_txn_renew(reader), "mdb_txn_renew");
  else check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &reader), "mdb_txn_begin");
  MDB_val k = {sizeof key, &key};
  int status = mdb_get(reader, bodies, &k, found);
  if (status != MDB_NOTFOUND) check(status, "mdb_get");
  return status == MDB_SUCCESS;
}

static uint64_t get(store_key key) {
  MDB_val found;
  uint64_t sum = find(key, &found) ? store_touch(found.mv_data, found.mv_size) : 0;
  mdb_txn_reset(reader);
  return sum;
}

static uint64_t get_copy(store_key key) {
  MDB_val found;
  bool is_there = find(key, &found);
  size_t length = is_there ? found.mv_size : 0;
  if (is_there) memcpy(store_buffer, found.mv_data, length);
  mdb_txn_reset(reader);
  return is_there ? store_touch(store_buffer, length) : 0;
}

const store store_lmdb = {"lmdb", open_environment, begin, put, commit, get};
const store store_lmdb_copy = {"lmdb-copy", open_environment, begin, put, commit, get_copy};
