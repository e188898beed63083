"""A transfer, rightly: both updates are one transaction, and the money is either moved or not."""


def balance_of(cur, account):
    cur.execute("SELECT balance FROM saving WHERE acctnum = %s", (account,))
    row = cur.fetchone()
    if row is None:
        return 0
    return row[0]


def transfer(conn, in_acct1, in_acct2, amount):
    cur = conn.cursor()
    if balance_of(cur, in_acct1) > amount:
        cur.execute("UPDATE saving SET balance = balance - %s WHERE acctnum = %s", (amount, in_acct1))
        cur.execute("UPDATE checking SET balance = balance + %s WHERE acctnum = %s", (amount, in_acct2))
    conn.commit()
