"""The statements of the store: a wave of commits in one, and what reads."""

# A wave holds commits of which none reads or writes what another of them writes, so one snapshot serves all.
# Keys are looked up in subqueries: where a join is planned while a table is small, each wave reads all of it.
# `given` is an array, NULL for a commit that was refused: a join by the number was most of the time of a wave.
WAVE = """
WITH r AS MATERIALIZED (
  SELECT r.n, r.id, (
    SELECT k.version FROM orrery_commits k WHERE k.id = r.id AND abs(k.committed_at - %(now)b) <= %(remembered)b
  ) AS known FROM unnest(%(ids)b::bytea[]) WITH ORDINALITY AS r(id, n)
), failed AS MATERIALIZED (
  SELECT c.n, c.key, c.at
  FROM unnest(%(check_keys)b::bytea[], %(check_versions)b::bigint[], %(check_of)b::bigint[])
    WITH ORDINALITY AS c(key, version, n, at)
  WHERE c.version IS DISTINCT FROM (
    SELECT e.version FROM orrery_entries e
    WHERE e.key = c.key AND (e.expires_at IS NULL OR e.expires_at > %(now)b)
  )
), answer AS MATERIALIZED (
  SELECT n, id, known,
    CASE WHEN known IS NULL AND n NOT IN (SELECT n FROM failed) THEN nextval('orrery_versions') END AS fresh
  FROM r
), given AS MATERIALIZED (
  SELECT array_agg(fresh ORDER BY n) AS v FROM answer
), noted AS (
  INSERT INTO orrery_commits SELECT id, fresh, %(now)b FROM answer WHERE fresh IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET version = excluded.version, committed_at = excluded.committed_at
), put AS (
  INSERT INTO orrery_entries (key, value, version, expires_at)
  SELECT w.key, w.value, given.v[w.n], w.expires_at FROM given,
    unnest(%(put_keys)b::bytea[], %(put_values)b::bytea[], %(put_expiry)b::bigint[], %(put_of)b::bigint[])
    AS w(key, value, expires_at, n)
  WHERE given.v[w.n] IS NOT NULL
  ON CONFLICT (key) DO UPDATE
  SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
), gone AS (
  DELETE FROM orrery_entries WHERE key = ANY (ARRAY(
    SELECT d.key FROM given, unnest(%(delete_keys)b::bytea[], %(delete_of)b::bigint[]) AS d(key, n)
    WHERE given.v[d.n] IS NOT NULL
  ))
)
SELECT n, coalesce(known, fresh), (SELECT array_agg(key ORDER BY at) FROM failed WHERE failed.n = answer.n)
FROM answer
"""

TURN = "SELECT schema, epoch FROM orrery_store FOR UPDATE"

SWEEP_ENTRIES = """
DELETE FROM orrery_entries WHERE key IN (SELECT key FROM orrery_entries WHERE expires_at <= %b LIMIT %b)
"""
SWEEP_COMMITS = """
DELETE FROM orrery_commits WHERE id IN (
  SELECT id FROM orrery_commits WHERE committed_at < %b OR committed_at > %b LIMIT %b
)
"""

_COLUMNS = "SELECT key, value, version, expires_at FROM orrery_entries"
_ALIVE = "(expires_at IS NULL OR expires_at > %b)"
GET = f"{_COLUMNS} WHERE key = ANY (%b::bytea[]) AND {_ALIVE}"
SCAN = f"{_COLUMNS} WHERE key >= %b AND key < %b AND {_ALIVE} ORDER BY key LIMIT %b"
SCAN_REVERSE = f"{_COLUMNS} WHERE key >= %b AND key < %b AND {_ALIVE} ORDER BY key DESC LIMIT %b"
INSPECT = """
SELECT CASE WHEN is_called THEN last_value ELSE 0 END, current_setting('synchronous_standby_names') <> '',
  (SELECT count(*) FROM pg_stat_replication), current_setting('fsync')::boolean,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM orrery_versions
"""
