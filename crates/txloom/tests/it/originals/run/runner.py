"""Runs Python originals: the same lines as Runner.java, with the path of a module for a program.

    program  corpus/programs/agenda/python/agenda_1.py
      ready
    call     choose_seat  3
      done
    end
      ready
"""

import importlib.util
import sys

import psycopg


def main(dsn):
    runner = Runner(dsn)
    for line in sys.stdin:
        print(runner.obey(line.rstrip("\n").split("\t")), flush=True)


class Runner:
    def __init__(self, dsn):
        self.dsn = dsn
        self.connection = None
        self.module = None

    def obey(self, words):
        if words[0] == "program":
            self.close()
            spec = importlib.util.spec_from_file_location("original", words[1])
            self.module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.module)
            self.connection = psycopg.connect(self.dsn)
            return "ready"
        elif words[0] == "call":
            return self.call(words[1], [read(word) for word in words[2:]])
        elif words[0] == "end":
            self.close()
            return "ready"
        else:
            raise ValueError(words)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def call(self, procedure, arguments):
        try:
            result = getattr(self.module, procedure)(self.connection, *arguments)
            self.connection.commit()
        except Exception as error:
            self.connection.rollback()
            return "failed\t" + show(str(error))
        if result is None:
            return "done"
        values = result if isinstance(result, tuple) else (result,)
        return "\t".join(["done"] + [show(value) for value in values])


ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))


def show(value):
    if value is None:
        return "null"
    if not isinstance(value, str):
        return str(value)
    for plain, escaped in ESCAPES:
        value = value.replace(plain, escaped)
    return "'" + value


def read(word):
    if word == "null":
        return None
    if not word.startswith("'"):
        return int(word)
    text, letters = "", iter(word[1:])
    for letter in letters:
        if letter == "\\":
            letter = next(letters)
            letter = {"t": "\t", "n": "\n", "r": "\r"}.get(letter, letter)
        text += letter
    return text


if __name__ == "__main__":
    main(sys.argv[1])
