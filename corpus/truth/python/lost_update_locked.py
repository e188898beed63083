import psycopg


def deposit(dsn, id: int, amount: int):
    conn = psycopg.connect(dsn)
    cur = conn.cursor()
    cur.execute("SELECT balance FROM accounts WHERE id = %s FOR UPDATE", (id,))
    balance = cur.fetchone()[0]
    cur.execute("UPDATE accounts SET balance = %s WHERE id = %s", (balance + amount, id))
    conn.commit()
    conn.close()
