"""A seat is booked, wrongly: the commit after the query ends the transaction too early."""


def choose_seat(conn, flight):
    cur = conn.cursor()
    cur.execute("SELECT avail FROM flights WHERE fltnum = %s", (flight,))
    row = cur.fetchone()
    avail = row[0] if row else 0
    conn.commit()
    if avail > 0:
        cur.execute("UPDATE flights SET avail = %s WHERE fltnum = %s", (avail - 1, flight))
        conn.commit()
