import psycopg


class Stale(Exception):
    pass


def deposit(dsn, id: int, amount: int):
    with psycopg.connect(dsn) as conn, conn.cursor() as cur:
        cur.execute("SELECT balance, version FROM accounts WHERE id = %s", (id,))
        balance, version = cur.fetchone()
        cur.execute(
            "UPDATE accounts SET balance = %s, version = version + 1 WHERE id = %s AND version = %s",
            (balance + amount, id, version),
        )
        if cur.rowcount == 0:
            raise Stale()
