def fine(conn, account):
    conn.execute("DELETE FROM accounts WHERE id = %s", (account,))
    conn.commit()


def broken(conn, account:
    conn.execute("DELETE FROM accounts WHERE"
    x = = 2


def also_fine(conn, account):
    conn.execute("DELETE FROM log WHERE account = %s", (account,))
    conn.commit()


def wrong_column(conn, account):
    conn.execute("UPDATE accounts SET nothing = 1 WHERE id = %s", (account,))
    conn.commit()
