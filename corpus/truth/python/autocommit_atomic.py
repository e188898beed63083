import psycopg


def deposit(dsn, id: int, amount: int):
    conn = psycopg.connect(dsn)
    conn.autocommit = True
    conn.execute("UPDATE accounts SET balance = balance + %s WHERE id = %s", (amount, id))
    conn.close()
