"""A small web shop: a wallet for each customer, a stock for each product.

    python app.py --database postgresql+psycopg://user@host/shop --port 8080

    GET  /products                                        what there is
    GET  /orders?customer=1                               what a customer has ordered
    POST /buy      {"customer": 1, "product": 2, "quantity": 3}
    POST /cancel   {"order": "4f…"}
    POST /restock  {"product": 2, "quantity": 50}
    POST /deposit  {"customer": 1, "amount": 5000}
    POST /give     {"from": 1, "to": 2, "amount": 700}

Every request is one transaction, at the level that PostgreSQL has by default. One of them loses updates: README.md says
which, and how txloom finds it.
"""

import argparse
import json
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import create_engine, text


class Refused(Exception):
    """What was asked for cannot be done; the transaction is rolled back."""


FIND_PRODUCT = text("SELECT name, price, stock FROM products WHERE id = :product")
SET_STOCK = text("UPDATE products SET stock = :stock WHERE id = :product")
ADD_STOCK = text("UPDATE products SET stock = stock + :quantity WHERE id = :product")
PAY = text("UPDATE customers SET wallet = wallet - :amount WHERE id = :customer AND wallet >= :amount")
ADD_MONEY = text("UPDATE customers SET wallet = wallet + :amount WHERE id = :customer")


class Shop:
    def __init__(self, engine):
        self.engine = engine

    def products(self):
        with self.engine.connect() as conn:
            rows = conn.execute(text("SELECT id, name, price, stock FROM products ORDER BY id"))
            return [dict(row._mapping) for row in rows]

    def orders(self, customer):
        with self.engine.connect() as conn:
            rows = conn.execute(
                text("SELECT id, product_id, quantity, total FROM orders WHERE customer_id = :customer ORDER BY id"),
                {"customer": customer},
            )
            return [dict(row._mapping) for row in rows]

    def buy(self, customer, product, quantity):
        with self.engine.begin() as conn:
            found = conn.execute(FIND_PRODUCT, {"product": product}).one_or_none()
            if found is None:
                raise Refused("no such product")
            if found.stock < quantity:
                raise Refused("not enough of it")
            total = found.price * quantity
            paid = conn.execute(PAY, {"amount": total, "customer": customer})
            if paid.rowcount == 0:
                raise Refused("not enough money")
            # What was read may be old by now.
            conn.execute(SET_STOCK, {"stock": found.stock - quantity, "product": product})
            order = uuid.uuid4().hex
            conn.execute(
                text(
                    "INSERT INTO orders (id, customer_id, product_id, quantity, total)"
                    " VALUES (:order, :customer, :product, :quantity, :total)"
                ),
                {"order": order, "customer": customer, "product": product, "quantity": quantity, "total": total},
            )
            return {"order": order, "total": total}

    def cancel(self, order):
        with self.engine.begin() as conn:
            row = conn.execute(
                text("SELECT customer_id, product_id, quantity, total FROM orders WHERE id = :order FOR UPDATE"),
                {"order": order},
            ).first()
            if row is None:
                raise Refused("no such order")
            conn.execute(text("DELETE FROM orders WHERE id = :order"), {"order": order})
            conn.execute(ADD_MONEY, {"amount": row.total, "customer": row.customer_id})
            conn.execute(ADD_STOCK, {"quantity": row.quantity, "product": row.product_id})
            return {"refund": row.total}

    def restock(self, product, quantity):
        with self.engine.begin() as conn:
            conn.execute(ADD_STOCK, {"quantity": quantity, "product": product})
            return {}

    def deposit(self, customer, amount):
        with self.engine.begin() as conn:
            conn.execute(ADD_MONEY, {"amount": amount, "customer": customer})
            return {}

    def give(self, giver, taker, amount):
        # Both rows are locked in one order, so that two who give to each other do not wait for each other.
        with self.engine.begin() as conn:
            locked = conn.execute(
                text("SELECT id, wallet FROM customers WHERE id IN (:giver, :taker) ORDER BY id FOR UPDATE"),
                {"giver": giver, "taker": taker},
            )
            wallets = {row.id: row.wallet for row in locked}
            if wallets.get(giver, 0) < amount or taker not in wallets:
                raise Refused("not enough money, or nobody to give it to")
            conn.execute(PAY, {"amount": amount, "customer": giver})
            conn.execute(ADD_MONEY, {"amount": amount, "customer": taker})
            return {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    shop = None

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/products":
            self.answer(lambda: self.shop.products())
        elif url.path == "/orders":
            customer = int(parse_qs(url.query)["customer"][0])
            self.answer(lambda: self.shop.orders(customer))
        else:
            self.reply(404, {"error": "no such page"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        actions = {
            "/buy": lambda: self.shop.buy(body["customer"], body["product"], body["quantity"]),
            "/cancel": lambda: self.shop.cancel(body["order"]),
            "/restock": lambda: self.shop.restock(body["product"], body["quantity"]),
            "/deposit": lambda: self.shop.deposit(body["customer"], body["amount"]),
            "/give": lambda: self.shop.give(body["from"], body["to"], body["amount"]),
        }
        if self.path in actions:
            self.answer(actions[self.path])
        else:
            self.reply(404, {"error": "no such page"})

    def answer(self, action):
        try:
            self.reply(200, action())
        except Refused as refused:
            self.reply(409, {"error": str(refused)})
        except Exception as failure:
            self.reply(500, {"error": str(failure)})

    def reply(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def main():
    parser = argparse.ArgumentParser(description="A small web shop.")
    parser.add_argument("--database", required=True, help="postgresql+psycopg://user@host/database")
    parser.add_argument("--port", type=int, default=8080, help="0 takes any that is free")
    arguments = parser.parse_args()
    Handler.shop = Shop(create_engine(arguments.database, pool_size=16, max_overflow=16))
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
