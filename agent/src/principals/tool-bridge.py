"""Connects its input and output to a Unix socket: tool-bridge.py SOCKET

A CLI starts it in place of a tool server that another user runs. Ends when the other side closes the connection.
Each direction holds at most one chunk. Uses only built-in modules, because the image lacks parts of the standard library.
"""
import os
import select
import socket
import sys

CHUNK = 65536


def write(target, data):
    try:
        return data[os.write(target, data):]
    except BlockingIOError:
        return data


def copy(connection):
    far = connection.fileno()
    targets = {0: far, far: 1}
    waiting = {0: b"", far: b""}
    for target in targets.values():
        os.set_blocking(target, False)
    while far in waiting:
        idle = [source for source, data in waiting.items() if not data]
        full = [targets[source] for source, data in waiting.items() if data]
        readable, writable, _ = select.select(idle, full, [])
        for source in [each for each in waiting if targets[each] in writable]:
            waiting[source] = write(targets[source], waiting[source])
        for source in readable:
            data = os.read(source, CHUNK)
            if data:
                waiting[source] = data
                continue
            del waiting[source]
            if source == 0:
                connection.shutdown(socket.SHUT_WR)


def main():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(sys.argv[1])
        copy(connection)
    except OSError as error:
        sys.exit("The tool server cannot be reached: %s" % error)


main()
