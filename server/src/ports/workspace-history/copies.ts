import { spawn } from 'node:child_process'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { HistoryCopies } from './port.ts'

/**
 * A record that is made meanwhile is in the copy completely or not at all: contents are stored before references, and
 * references are copied first. The lock keeps contents from being removed. Packs never change, so links are enough.
 */
const script = `cd "$1" && mkdir -p "$2/objects" && cp -R HEAD config refs "$2/" || exit
[ ! -e packed-refs ] || cp packed-refs "$2/" || exit
cd objects && for folder in *; do
  mkdir -p "$2/objects/$folder" || exit
  for file in "$folder"/*; do
    case $file in */tmp_* | *'/*') continue ;; esac
    ln "$file" "$2/objects/$file" 2>/dev/null || cp -R "$file" "$2/objects/$folder/" || exit
  done
done`

/** Copies of the store of an installation that may be running. */
export function openHistoryCopies({ folder, path }: { folder: string; path: string }): HistoryCopies {
  return {
    async copyTo(target) {
      const repository = join(folder, 'objects.git')
      if (!(await stat(repository).catch(() => null))) return false
      const copy = join(target, 'objects.git')
      await mkdir(copy, { recursive: true, mode: 0o700 })
      await run(['--shared', join(folder, 'lock'), '/bin/sh', '-c', script, 'sh', repository, copy], path)
      return true
    },
  }
}

function run(args: string[], path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', args, { cwd: '/', env: { PATH: path }, stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-1000)
    })
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`The workspace history could not be copied: ${errors.trim()}`)),
    )
  })
}
