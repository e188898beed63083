"""Texts that are put together."""

TABLE = "accounts"


def by_constant(conn, account):
    cur = conn.cursor()
    cur.execute(f"SELECT balance FROM {TABLE} WHERE id = %s", (account,))
    return cur.fetchone()[0]


def by_value(conn, account):
    cur = conn.cursor()
    cur.execute(f"SELECT balance FROM accounts WHERE id = {account}")
    return cur.fetchone()[0]


def by_sign(conn, account, owner):
    cur = conn.cursor()
    cur.execute("UPDATE accounts SET owner = '%s' WHERE id = %d" % (owner, account))
    cur.execute("DELETE FROM log WHERE account = {}".format(account))
    conn.commit()


def by_branch(conn, account, only_rich):
    sql = "SELECT COUNT(*) FROM accounts WHERE id = %s"
    if only_rich:
        sql += " AND balance > 1000"
    cur = conn.cursor()
    cur.execute(sql, (account,))
    (count,) = cur.fetchone()
    return count


def unknown(conn, sql):
    cur = conn.cursor()
    cur.execute(sql)
    conn.commit()
