import psycopg


def register(dsn, id: int, name: int):
    with psycopg.connect(dsn) as conn, conn.cursor() as cur:
        cur.execute("SELECT COUNT(*) FROM users WHERE name = %s", (name,))
        if cur.fetchone()[0] == 0:
            cur.execute("INSERT INTO users (id, name) VALUES (%s, %s)", (id, name))
