"""A delivery, wrongly: an order line that comes in after the first commit is not in the sum."""

SUM = "SELECT SUM(ol_amount) FROM order_line WHERE c_id = %(c_id)s"
PAY = "UPDATE customer SET c_balance = c_balance + %(total)s WHERE c_id = %(c_id)s"


def delivery(conn, c_id):
    with conn.cursor() as cur:
        cur.execute(SUM, {"c_id": c_id})
        (total,) = cur.fetchone()
        conn.commit()
        cur.execute(PAY, {"total": total, "c_id": c_id})
        conn.commit()


def new_order(conn, o_id, c_id, amount):
    with conn.cursor() as cur:
        cur.execute("SELECT c_balance FROM customer WHERE c_id = %s", (c_id,))
        owed = cur.fetchone()[0]
        if owed == 0:
            cur.execute(
                "INSERT INTO order_line (o_id, c_id, ol_amount) VALUES (%s, %s, %s)",
                (o_id, c_id, amount),
            )
    conn.commit()
