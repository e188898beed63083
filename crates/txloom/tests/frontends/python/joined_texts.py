"""Texts that are put together for the database to keep."""


def book(conn, number, account, owner):
    note = f"for {owner}, no. {number}"
    conn.execute("INSERT INTO log VALUES (%s, %s, 0, %s)", (number, account, note + "!"))
    conn.commit()
