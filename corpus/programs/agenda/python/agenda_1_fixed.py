"""A seat is booked, rightly: looking and booking are one transaction. At SERIALIZABLE that is enough."""


def choose_seat(conn, flight):
    cur = conn.cursor()
    cur.execute("SELECT avail FROM flights WHERE fltnum = %s", (flight,))
    row = cur.fetchone()
    avail = row[0] if row else 0
    if avail > 0:
        cur.execute("UPDATE flights SET avail = %s WHERE fltnum = %s", (avail - 1, flight))
    conn.commit()
