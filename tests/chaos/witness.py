"""A witness in the database itself: it writes down what a node delivers while another has the lease for that.

The tables of the store show who has a lease now, and not who had it when a row was written.
"""

from urllib.parse import quote

from tests.support.postgres import Server

_POST = """
ALTER TABLE orrery_entries ADD COLUMN node text;
CREATE TABLE chaos_beside (delivered text, by_node text, holder text);
CREATE FUNCTION chaos_attempts(value bytea) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT coalesce((convert_from(value, 'UTF8')::json->>'attempts')::int, 0) $$;
CREATE FUNCTION chaos_sign() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.node := current_setting('chaos.node', true);
  RETURN NEW;
END $$;
CREATE FUNCTION chaos_witness() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE holder text; BEGIN
  IF chaos_attempts(NEW.value) > chaos_attempts(OLD.value) THEN
    SELECT node INTO holder FROM orrery_entries WHERE key =
      convert_to('lease:deliver by ' || (convert_from(NEW.value, 'UTF8')::json->>'channel'), 'UTF8');
    IF holder IS DISTINCT FROM NEW.node THEN
      INSERT INTO chaos_beside VALUES (convert_from(NEW.key, 'UTF8'), NEW.node, holder);
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_sign BEFORE INSERT OR UPDATE ON orrery_entries
  FOR EACH ROW EXECUTE FUNCTION chaos_sign();
CREATE TRIGGER chaos_witness AFTER UPDATE ON orrery_entries
  FOR EACH ROW WHEN (substr(NEW.key, 1, 7) = 'outbox:'::bytea) EXECUTE FUNCTION chaos_witness();
"""
"""Each row is signed by the node that writes it. The attempts at a message grow by a delivery alone."""


def post(server: Server) -> None:
    """Have the witness look at a store from now on."""
    with server.connected() as connection:
        connection.execute(_POST.encode())


def named(node: str) -> str:
    """Return what the address of the store has for a node, so that its rows are signed."""
    return f"options={quote(f'-c chaos.node={node}')}"
