from sqlalchemy import Integer
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    balance: Mapped[int]


def deposit(session: Session, id: int, amount: int):
    account = session.get(Account, id)
    account.balance = account.balance + amount
    session.commit()
