def choose(conn, account, amount):
    cur = conn.cursor()
    cur.execute("SELECT balance, owner FROM accounts WHERE id = %s", (account,))
    row = cur.fetchone()
    balance, owner = row if row else (0, None)
    limit = 100 if owner == "ada" else -10
    spent = amount or 1
    if 0 < balance <= 500 and not owner is None or amount in (1, 2):
        balance -= spent * 2
    elif balance // 2 > limit:
        balance = balance % 7
    else:
        balance = -balance
    cur.execute("UPDATE accounts SET balance = %s WHERE id = %s", (balance, account))
    conn.commit()


def from_request(conn, request):
    body = request.json
    with conn.cursor() as cur:
        cur.execute("DELETE FROM log WHERE account = %s AND amount = %s", (body["account"], body["amount"]))
    conn.commit()


def matched(conn, kind: str, account: int):
    match kind:
        case "open" | "new":
            sql = "INSERT INTO accounts (id, balance) VALUES (%s, 0)"
        case "close":
            sql = "DELETE FROM accounts WHERE id = %s"
        case _:
            raise ValueError("what?")
    conn.execute(sql, (account,))
    conn.commit()
