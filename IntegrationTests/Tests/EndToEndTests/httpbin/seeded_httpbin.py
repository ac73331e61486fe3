"""httpbin with a random generator for each thread.

httpbin seeds one generator for the whole process, so requests at the same time would change each other's bytes.
"""
import random
import threading

from httpbin import app, core

__all__ = ["app"]


class ThreadRandom(threading.local):
    def __init__(self):
        self.generator = random.Random()

    def __getattr__(self, name):
        return getattr(self.generator, name)


core.random = ThreadRandom()
