"""DB-API: rows by position and name, marks of all kinds, constants, helpers."""

FIND = "SELECT balance, owner FROM accounts" " WHERE id = %(account)s"


class Bank:
    ADD = """
        UPDATE accounts
        SET balance = balance + %s
        WHERE id = %s
    """

    def __init__(self, conn):
        self.conn = conn

    def deposit(self, account, amount):
        with self.conn.cursor() as cur:
            cur.execute(FIND, {"account": account})
            row = cur.fetchone()
            if row is None:
                raise ValueError("no account")
            cur.execute("UPDATE accounts SET balance = %s WHERE id = %s", (row[0] + amount, account))
            if cur.rowcount != 1:
                self.conn.rollback()
                return False
        self.conn.commit()
        return True

    def add(self, account, amount=10, *, note="-"):
        cur = self.conn.cursor()
        cur.execute(self.ADD, (amount, account))
        self._log(cur, account, note=note, amount=amount)
        self.conn.commit()

    def _log(self, cur, account, amount, note=None):
        cur.execute("INSERT INTO log (account, amount, note) VALUES (?, ?, ?)", [account, amount, note])


def total(cur):
    cur.execute("SELECT SUM(balance) FROM accounts")
    return cur.fetchone()[0]
