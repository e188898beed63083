import psycopg2
from psycopg2.extensions import ISOLATION_LEVEL_SERIALIZABLE


def each_for_itself(conn, account):
    conn.autocommit = True
    cur = conn.cursor()
    cur.execute("SELECT balance FROM accounts WHERE id = %s", (account,))
    balance = cur.fetchone()[0]
    cur.execute("UPDATE accounts SET balance = %s WHERE id = %s", (balance + 1, account))


def serializable(conn, account):
    conn.set_isolation_level(ISOLATION_LEVEL_SERIALIZABLE)
    cur = conn.cursor()
    cur.execute("UPDATE accounts SET balance = 0 WHERE id = %s", (account,))
    conn.commit()


def by_words(conn, account):
    cur = conn.cursor()
    cur.execute("BEGIN")
    cur.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    cur.execute("UPDATE accounts SET balance = 0 WHERE id = %s", (account,))
    cur.execute("COMMIT")


def main():
    conn = psycopg2.connect("")
    serializable(conn, 1)


if __name__ == "__main__":
    main()
