#!/bin/sh
# The command of the service `backup`. It starts as root without capabilities other than those to change the user: so it
# reads the SSH key of the operator. It continues as the owner of the platform's data, in the group of the engine's socket.
set -eu
case ${1:-help} in
  run | list | verify) set -- backup "$@" ;;
  backup | restore | rollback | migrate | rotate-key | database | help) ;;
  *)
    echo "roost-backup: there is no command \`$1\`: run, list, verify, restore, backup, migrate, rollback, rotate-key, database." >&2
    exit 64
    ;;
esac
if [ -f /ssh/key ]; then
  ROOST_BACKUP_SSH_KEY=$(cat /ssh/key)
  ROOST_BACKUP_KNOWN_HOSTS=$(cat /ssh/known_hosts)
  export ROOST_BACKUP_SSH_KEY ROOST_BACKUP_KNOWN_HOSTS
fi
group=10001
if [ -S /var/run/docker.sock ]; then group=$(stat -c %g /var/run/docker.sock); fi
# tini starts as that user too: root without capabilities could not pass a stop signal to another user's process.
exec setpriv --reuid 10001 --regid 10001 --groups "$group" --inh-caps=-all tini -- roost "$@"
