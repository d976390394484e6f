#!/bin/sh
# The first start of PostgreSQL creates the user and the database that the environment names.
set -eu
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U "$POSTGRES_USER" --auth="$POSTGRES_HOST_AUTH_METHOD" --encoding=UTF8 --locale=C.UTF-8 > /dev/null
  pg_ctl -s -w -o '-c listen_addresses=' start
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -s -w -m fast stop
fi
exec "$@"
