#!/bin/sh
# The first start of PostgreSQL creates the user and the database that the environment names. With a password, clients
# reach it over the network.
set -eu
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -n "${POSTGRES_PASSWORD:-}" ]; then
    printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
    initdb -U "$POSTGRES_USER" --auth-local=trust --auth-host=scram-sha-256 --pwfile=/tmp/password \
      --encoding=UTF8 --locale=C.UTF-8 > /dev/null
    rm /tmp/password
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  else
    initdb -U "$POSTGRES_USER" --auth="$POSTGRES_HOST_AUTH_METHOD" --encoding=UTF8 --locale=C.UTF-8 > /dev/null
  fi
  pg_ctl -s -w -o '-c listen_addresses=' start
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -s -w -m fast stop
fi
exec "$@"
