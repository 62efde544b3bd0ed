"""Submits and asks for jobs of HyperQueue by the API of its wheel. Run by hone: python -c SOURCE submit|alive SERVER.

submit reads a JSON list of jobs on the third argument, each {"tasks": [{"name", "words", "log"}]} and beginning after
the job before it, and prints the id of the one HyperQueue job that holds all of them. alive prints whether the job of
the third argument goes on. SERVER is a server directory; "" means the default one.
"""

import json
import sys

from hyperqueue import Client, Job


class Seen(Exception):
    """Ends a wait once the job's state is known: the API has no other question for it."""


def submit(client, jobs):
    job, before = Job(), []
    for request in jobs:
        before = [
            # A failed task would abort those that depend on it; how it ended is in the fleet folder.
            job.program(
                ["/bin/sh", "-c", '"$@" || true', "sh", *task["words"]],
                name=task["name"],
                cwd=task["folder"],
                stdout=task["log"],
                stderr=task["log"],
                deps=before,
            )
            for task in request["tasks"]
        ]
    print(client.submit(job).id)


def alive(client, job):
    def tell(states):
        raise Seen(json.dumps(not states[job]["completed"]))

    try:
        client.connection.wait_for_jobs([job], tell)
        print("false")
    except Seen as seen:
        print(seen)


def main():
    action, server, argument = sys.argv[1:4]
    client = Client(server or None)
    if action == "submit":
        submit(client, json.loads(argument))
    else:
        alive(client, int(argument))


main()
