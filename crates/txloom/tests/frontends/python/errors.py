class Refused(Exception):
    pass


def withdraw(conn, account, amount):
    try:
        with conn.transaction():
            cur = conn.execute("SELECT balance FROM accounts WHERE id = %s", (account,))
            balance = cur.fetchone()[0]
            if balance < amount:
                raise Refused(f"only {balance} left")
            conn.execute("UPDATE accounts SET balance = balance - %s WHERE id = %s", (amount, account))
    except Refused:
        return 0
    return amount


def guarded(conn, account):
    cur = conn.cursor()
    try:
        cur.execute("DELETE FROM accounts WHERE id = %s", (account,))
        conn.commit()
    except Exception:
        conn.rollback()
        raise
    finally:
        cur.close()


def asserted(conn, account):
    assert account > 0, "no such account"
    with conn.transaction():
        with conn.transaction():
            conn.execute("DELETE FROM log WHERE account = %s", (account,))
