"""Functions that others call in ways that nobody can follow."""

from contextlib import contextmanager


@contextmanager
def transaction(pool):
    conn = pool.getconn()
    try:
        yield conn
        conn.commit()
    finally:
        pool.putconn(conn)


class Service:
    def __init__(self, pool):
        self.pool = pool
        self.actions = {"close": lambda account: self.close(account)}

    def close(self, account):
        with transaction(self.pool) as conn:
            conn.execute("DELETE FROM accounts WHERE id = %s", (account,))

    def handle(self, name, account):
        self.actions[name](account)


async def remove(pool, account):
    async with pool.connection() as conn:
        async with conn.cursor() as cur:
            await cur.execute("DELETE FROM log WHERE account = %s", (account,))


def run(pool, work):
    with pool.connection() as conn:
        work(conn)


def start(pool, account):
    def clean(conn):
        conn.execute("DELETE FROM log WHERE id = %s", (account,))

    run(pool, clean)
