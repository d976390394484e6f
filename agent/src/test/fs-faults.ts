import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const changing = [
  'open',
  'mkdir',
  'rename',
  'unlink',
  'rmdir',
  'symlink',
  'chmod',
  'chown',
  'lchown',
] as const
const changingFiles = ['write', 'writeFile', 'truncate', 'sync', 'chmod', 'chown'] as const
const changingNow = ['write', ...['ftruncate', ...changing].map((name) => `${name}Sync`)]

type Changing = Record<string, (...args: unknown[]) => unknown>

/** Calls `before` ahead of every call of this process that may change a file. */
export async function watchChanges(before: (name: string) => void): Promise<void> {
  const file = await promises.open('/dev/null')
  watch(Object.getPrototypeOf(file) as Changing, changingFiles, before)
  await file.close()
  watch(promises as unknown as Changing, changing, before)
  watch(fs as unknown as Changing, changingNow, before)
  syncBuiltinESMExports()
}

function watch(target: Changing, names: readonly string[], before: (name: string) => void): void {
  for (const name of names) {
    const original = target[name]
    if (!original) continue
    const watched = function (this: unknown, ...args: unknown[]) {
      before(name)
      return original.apply(this, args)
    }
    // Functions with callbacks and synchronous ones throw at once; those of promises reject.
    const throwsAtOnce = target === (fs as unknown as Changing)
    target[name] = throwsAtOnce
      ? watched
      : async function (this: unknown, ...args: unknown[]) {
          return watched.apply(this, args)
        }
  }
}
