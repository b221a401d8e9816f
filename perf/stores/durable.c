/// What it costs bare LMDB to write records: so many with each commit, on the disk or not.
#include "stores.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

static void check(int status, const char *what) {
  if (status != MDB_SUCCESS) store_fail(what, mdb_strerror(status));
}

static void write_group(MDB_env *environment, MDB_dbi records, uint64_t first, long count, MDB_val record) {
  MDB_txn *writer;
  check(mdb_txn_begin(environment, NULL, 0, &writer), "mdb_txn_begin");
  for (uint64_t number = first; number < first + (uint64_t)count; number++) {
    // Numbers rise, as those of requests do that are accepted; big-endian, so that their order is that of the bytes.
    uint64_t ordered = __builtin_bswap64(number);
    MDB_val key = {sizeof ordered, &ordered};
    check(mdb_put(writer, records, &key, &record, 0), "mdb_put");
  }
  check(mdb_txn_commit(writer), "mdb_txn_commit");
}

void store_write(const char *folder, long count, long per_commit, size_t bytes, bool sync) {
  MDB_env *environment;
  MDB_txn *writer;
  MDB_dbi records;
  void *record = calloc(1, bytes);
  if (!record) abort();
  check(mdb_env_create(&environment), "mdb_env_create");
  check(mdb_env_set_mapsize(environment, (size_t)count * (bytes + 4096) + (64 << 20)), "mdb_env_set_mapsize");
  check(mdb_env_open(environment, folder, MDB_NOTLS | (sync ? 0 : MDB_NOSYNC), 0600), "mdb_env_open");
  check(mdb_txn_begin(environment, NULL, 0, &writer), "mdb_txn_begin");
  check(mdb_dbi_open(writer, NULL, 0, &records), "mdb_dbi_open");
  check(mdb_txn_commit(writer), "mdb_txn_commit");
  for (long first = 0; first < count; first += per_commit)
    write_group(environment, records, (uint64_t)first, per_commit, (MDB_val){bytes, record});
  mdb_env_close(environment);
  free(record);
}
