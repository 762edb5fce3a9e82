"""The statements of the store: a wave of commits in one, and what reads."""

# A wave holds commits of which none reads or writes what another of them writes, so one snapshot serves all.
# `given` is an array: a join by the number was most of the time of a wave.
WAVE = """
WITH r AS MATERIALIZED (
  SELECT * FROM unnest(%(ids)b::bytea[]) WITH ORDINALITY AS r(id, n)
), c AS MATERIALIZED (
  SELECT * FROM unnest(%(check_keys)b::bytea[], %(check_versions)b::bigint[], %(check_of)b::bigint[])
  WITH ORDINALITY AS c(key, version, n, at)
), known AS MATERIALIZED (
  SELECT r.n, k.version FROM r JOIN orrery_commits k
  ON k.id = r.id AND k.committed_at BETWEEN %(now)b - %(remembered)b AND %(now)b + %(remembered)b
), failed AS MATERIALIZED (
  SELECT c.n, c.key, c.at FROM c LEFT JOIN orrery_entries e
  ON e.key = c.key AND (e.expires_at IS NULL OR e.expires_at > %(now)b)
  WHERE e.version IS DISTINCT FROM c.version AND c.n NOT IN (SELECT n FROM known)
), fresh AS MATERIALIZED (
  SELECT n, id, nextval('orrery_versions') AS version FROM (
    SELECT n, id FROM r WHERE n NOT IN (SELECT n FROM known) AND n NOT IN (SELECT n FROM failed) ORDER BY n
  ) AS held
), given AS MATERIALIZED (
  SELECT array_agg(coalesce(f.version, 0) ORDER BY r.n) AS v FROM r LEFT JOIN fresh f ON f.n = r.n
), noted AS (
  INSERT INTO orrery_commits SELECT id, version, %(now)b FROM fresh
  ON CONFLICT (id) DO UPDATE SET version = excluded.version, committed_at = excluded.committed_at
), put AS (
  INSERT INTO orrery_entries (key, value, version, expires_at)
  SELECT w.key, w.value, given.v[w.n], w.expires_at FROM given,
    unnest(%(put_keys)b::bytea[], %(put_values)b::bytea[], %(put_expiry)b::bigint[], %(put_of)b::bigint[])
    AS w(key, value, expires_at, n)
  WHERE given.v[w.n] > 0
  ON CONFLICT (key) DO UPDATE
  SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
), gone AS (
  DELETE FROM orrery_entries e USING given, unnest(%(delete_keys)b::bytea[], %(delete_of)b::bigint[]) AS d(key, n)
  WHERE given.v[d.n] > 0 AND e.key = d.key
)
SELECT n, version, NULL::bytea[] FROM known
UNION ALL SELECT n, version, NULL FROM fresh
UNION ALL SELECT n, NULL, array_agg(key ORDER BY at) FROM failed GROUP BY n
"""

# Divides by zero in a store that was restored or migrated meanwhile, so that nothing after it is carried out. The
# division is computed again when the row changed while its lock was waited for.
TURN = "SELECT 1 / (epoch = %b AND schema <= %b)::int FROM orrery_store FOR UPDATE"

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
