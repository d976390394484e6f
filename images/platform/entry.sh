#!/bin/sh
# The command of the platform's image. `exec` leaves one process, so that a stop signal from tini reaches it.
set -eu
root=/opt/roost
role=${1:-api}

# The flags are those of `roost up`: V8 otherwise lets garbage grow while memory is free.
run() {
  echo "$role" > /tmp/roost-role
  exec node --max-semi-space-size=8 --heap-growing-percent=20 "$root/$1"
}

case $role in
  api) run server/src/start/api.ts ;;
  scheduler)
    export ROOST_HEARTBEAT_FILE="${ROOST_HEARTBEAT_FILE:-/tmp/roost-heartbeat}"
    run server/src/start/scheduler.ts
    ;;
  mcp) run mcp/src/start.ts ;;
  migrate) run server/src/start/migrate.ts ;;
  engine-filter) run server/src/start/engine-filter.ts ;;
  health) exec node "$root/images/platform/health.ts" ;;
  # These are clients of a platform, or work on its data folder.
  up | upgrade | test | images | model)
    echo "roost: \`$role\` needs a checkout of the repository; it does not run in the image." >&2
    exit 64
    ;;
  *) exec node "$root/cli/src/main.ts" "$@" ;;
esac
