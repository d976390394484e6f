#!/bin/sh
# Commits and changed files of the last days (default 7) in the workspace's repository.
days="${1:-7}"
case "$days" in ''|*[!0-9]*) echo "usage: gather.sh [days]" >&2; exit 2 ;; esac
cd "${HOME:?}" || exit 1
if ! git rev-parse --git-dir >/dev/null 2>&1; then
  echo "The workspace is no git repository; files changed in the last $days days:"
  find . -path ./.roost -prune -o -path ./.git -prune -o -type f -mtime "-$days" -print | head -200
  exit 0
fi
echo "## Commits"
git log --since="$days days ago" --pretty='- %ad %s (%an)' --date=short | head -200
echo "## Files"
git log --since="$days days ago" --name-only --pretty= | sort | uniq -c | sort -rn | head -50
