def pay_all(conn, bonus):
    cur = conn.cursor()
    paid = 0
    cur.execute("SELECT id, balance FROM accounts")
    for account, balance in cur.fetchall():
        if balance < 0:
            continue
        if balance > 1000000:
            break
        cur.execute("UPDATE accounts SET balance = %s WHERE id = %s", (balance + bonus, account))
        paid += 1
    conn.commit()
    return paid


def note_all(conn, rows):
    with conn:
        cur = conn.cursor()
        cur.executemany("INSERT INTO log (id, account, amount) VALUES (%s, %s, %s)", rows)


def owners(conn):
    cur = conn.cursor()
    cur.execute("SELECT owner FROM accounts WHERE balance > 0")
    return [row[0] for row in cur if row[0]]


def drain(conn):
    cur = conn.cursor()
    cur.execute("SELECT id FROM accounts")
    while (row := cur.fetchone()) is not None:
        cur.execute("UPDATE accounts SET balance = 0 WHERE id = %s", (row[0],))
    conn.commit()
