"""Many customers at once, and afterwards a look at the books.

    python load.py http://127.0.0.1:8080 --clients 8 --requests 50 --seed 1

Counts what was sold, given back and restocked, and compares that with what the shop says is in stock. Prints one line
of JSON, with the pieces that are too many (or too few) by product; none, if the shop were right.
"""

import argparse
import http.client
import json
import random
import threading
from collections import Counter
from urllib.parse import urlsplit


class Client(threading.Thread):
    """A customer with a connection, and with luck of her own."""

    def __init__(self, address, requests, seed):
        super().__init__()
        self.address = address
        self.requests = requests
        self.random = random.Random(seed)
        self.answers = Counter()
        self.left = Counter()
        self.orders = []

    def run(self):
        self.connection = http.client.HTTPConnection(self.address)
        for _ in range(self.requests):
            action = self.random.choices(
                [self.buy, self.cancel, self.restock, self.deposit, self.give, self.look], weights=[12, 2, 2, 2, 2, 2]
            )[0]
            action()
        self.connection.close()

    def buy(self):
        product, quantity = self.product(), self.random.randint(1, 3)
        answer = self.post("/buy", {"customer": self.customer(), "product": product, "quantity": quantity})
        if answer is not None:
            self.left[product] -= quantity
            self.orders.append((answer["order"], product, quantity))

    def cancel(self):
        if self.orders:
            order, product, quantity = self.orders.pop()
            if self.post("/cancel", {"order": order}) is not None:
                self.left[product] += quantity

    def restock(self):
        product = self.product()
        if self.post("/restock", {"product": product, "quantity": 5}) is not None:
            self.left[product] += 5

    def deposit(self):
        self.post("/deposit", {"customer": self.customer(), "amount": self.random.randint(1, 5000)})

    def give(self):
        giver = self.customer()
        taker = giver % 4 + 1
        self.post("/give", {"from": giver, "to": taker, "amount": self.random.randint(1, 500)})

    def look(self):
        self.ask("GET", self.random.choice(["/products", f"/orders?customer={self.customer()}"]))

    def customer(self):
        return self.random.randint(1, 4)

    def product(self):
        """Most want the teapot."""
        return self.random.choice([1, 1, 1, 2, 3])

    def post(self, path, content):
        return self.ask("POST", path, json.dumps(content))

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body, {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        self.answers[response.status] += 1
        return answer if response.status == 200 else None


def stocks(address):
    connection = http.client.HTTPConnection(address)
    connection.request("GET", "/products")
    products = json.loads(connection.getresponse().read())
    connection.close()
    return {product["id"]: product["stock"] for product in products}


def main():
    parser = argparse.ArgumentParser(description="Many customers at once.")
    parser.add_argument("url")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=50, help="of each client")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    address = urlsplit(arguments.url).netloc
    before = stocks(address)
    clients = [Client(address, arguments.requests, arguments.seed * 1000 + n) for n in range(arguments.clients)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    answers, wrong = Counter(), {}
    for client in clients:
        answers.update(client.answers)
    for product, stock in stocks(address).items():
        expected = before[product] + sum(client.left[product] for client in clients)
        if stock != expected:
            wrong[product] = stock - expected
    print(json.dumps({"answers": dict(sorted(answers.items())), "wrong": wrong}))


if __name__ == "__main__":
    main()
