import sqlite3

conn = sqlite3.connect("bank.db")
cur = conn.cursor()
for row in cur.execute("SELECT id FROM accounts WHERE balance < 0"):
    print(row[0])
cur.execute("UPDATE accounts SET balance = 0 WHERE balance < 0")
conn.commit()
