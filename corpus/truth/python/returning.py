import psycopg


def invoice(dsn, id: int):
    with psycopg.connect(dsn) as conn, conn.cursor() as cur:
        cur.execute("UPDATE numbers SET last = last + 1 WHERE id = 1 RETURNING last")
        last = cur.fetchone()[0]
        cur.execute("INSERT INTO invoices (id, number) VALUES (%s, %s)", (id, last))
