from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

engine = create_engine("postgresql://")
FIND = text("SELECT balance FROM accounts WHERE id = :id")


def two_transactions(account, amount):
    with engine.begin() as conn:
        balance = conn.execute(FIND, {"id": account}).scalar_one()
    with engine.begin() as conn:
        conn.execute(
            text("UPDATE accounts SET balance = :balance WHERE id = :id"), {"balance": balance + amount, "id": account}
        )


def as_you_go(account):
    with engine.connect() as conn:
        row = conn.execute(FIND.bindparams(id=account)).mappings().first()
        if not row:
            return None
        conn.execute(text("INSERT INTO log (account, amount) VALUES (:a, :b)"), dict(a=account, b=row["balance"]))
        conn.commit()
        return row["balance"]


def at_serializable(account):
    with engine.connect().execution_options(isolation_level="SERIALIZABLE") as conn:
        with conn.begin():
            conn.execute(text("DELETE FROM accounts WHERE id = :id"), {"id": account})


def by_session(account):
    with Session(engine) as session:
        owner = session.scalar(text("SELECT owner FROM accounts WHERE id = :id"), {"id": account})
        if owner is not None:
            session.execute(text("UPDATE accounts SET owner = NULL WHERE id = :id"), {"id": account})
        session.commit()


def report():
    with engine.connect() as conn:
        return {row.id: row.balance for row in conn.execute(text("SELECT id, balance FROM accounts"))}
