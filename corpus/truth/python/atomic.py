import psycopg


def deposit(dsn, id: int, amount: int):
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE accounts SET balance = balance + %s WHERE id = %s", (amount, id))
