"""Prints what each column of a CSV file holds. Reads it once, in constant memory but for distinct values."""
import csv
import sys
from collections import Counter

MOST_DISTINCT = 10_000


def kind(value):
    for name, parse in (("integer", int), ("number", float)):
        try:
            parse(value)
            return name
        except ValueError:
            pass
    return "text"


def main(path):
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        sample = file.read(65536)
        file.seek(0)
        try:
            dialect = csv.Sniffer().sniff(sample, delimiters=",;\t|")
        except csv.Error:
            dialect = csv.excel
        rows = csv.reader(file, dialect)
        header = next(rows, None)
        if header is None:
            sys.exit("The file is empty.")
        columns = [{"missing": 0, "kinds": Counter(), "distinct": set(), "low": None, "high": None} for _ in header]
        count, ragged, seen, twice = 0, 0, set(), 0
        for row in rows:
            count += 1
            ragged += len(row) != len(header)
            mark = hash(tuple(row))
            twice += mark in seen
            seen.add(mark)
            for column, value in zip(columns, row):
                value = value.strip()
                if value == "":
                    column["missing"] += 1
                    continue
                column["kinds"][kind(value)] += 1
                if len(column["distinct"]) < MOST_DISTINCT:
                    column["distinct"].add(value)
                column["low"] = value if column["low"] is None else min(column["low"], value)
                column["high"] = value if column["high"] is None else max(column["high"], value)
    print(f"{count} rows, {len(header)} columns, {ragged} rows of another length, {twice} rows that occur twice")
    for name, column in zip(header, columns):
        distinct = len(column["distinct"])
        more = "+" if distinct == MOST_DISTINCT else ""
        print(f"- {name}: missing {column['missing']}, types {dict(column['kinds'])}, distinct {distinct}{more},", end=" ")
        print(f"from {column['low']!r} to {column['high']!r}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: profile.py <file.csv>")
    main(sys.argv[1])
